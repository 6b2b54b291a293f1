"""`visits/<start>.json`: what was seen of a lane once the windows of a visit were over and their runs committed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from weighbridge.record.base import Count, Versioned
from weighbridge.record.run import IdleLook, RunRecord


class VisitRecord(Versioned):
    """The end of a visit: one start of a lane, on which some windows were measured one after the other."""

    schema_: Literal["weighbridge.visit/1"] = Field(
        default="weighbridge.visit/1", alias="schema", description="Kind and version of this document."
    )
    visit: str = Field(description="When the lane was started, UTC; runs of the visit carry it.")
    lane: str = Field(description="Name of the lane.")
    block: Count = Field(description="Number of the block, from 1.")
    idle_after: IdleLook | None = Field(
        default=None, description="The tree without a request after the last window; null where it was not looked at."
    )


def with_visit(run: RunRecord, visits: Mapping[str, VisitRecord]) -> RunRecord:
    """Return a run with what its visit showed after it; as it is where the visit left no document."""
    visit = None if run.visit is None else visits.get(run.visit)
    if visit is None or visit.idle_after is None:
        return run
    return run.changed(resources=run.resources.changed(idle_after=visit.idle_after))
