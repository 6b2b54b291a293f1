"""The probe alone, right after a closed loop whose driver reads no stamps: what that driver cannot tell, told.

Nothing beside the driver may take a part of a closed loop, for that would be another load. So the same lane and the
same clients follow once more by the probe: with one client it gives the added time and all that goes with it, with
more it judges contents and errors alone (METHOD section 2).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weighbridge.campaign.window.clients import ClientPlan, Driven, drive
from weighbridge.campaign.window.pages import csv_of_pages
from weighbridge.errors import InputError, LaneFailed, ToolMissing
from weighbridge.matrix.cells import Cell
from weighbridge.record.provider_rows import ProviderRows, read_provider_rows
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.rig import Rig

# The provider's own record of the requests of a pass, as it is kept.
ROWS_FILE = "provider-pass.csv"


@dataclass(frozen=True)
class Passed:
    """A pass that was made: its client, the provider's rows of it, and what is kept."""

    driven: Driven
    rows: ProviderRows
    files: dict[str, bytes] = field(default_factory=dict)


def make_pass(
    rig: Rig, lanes: Sequence[Lane], cell: Cell, client: ClientPlan, manner: Mapping[str, Any]
) -> Passed | None:
    """Drive a planned pass through the first lane; None where the probe could not begin: the window does without."""
    rig.mocks.reset(cell.answer, manner)
    try:
        (driven,) = drive(rig, lanes[:1], replace(cell, load=client.spec.load), [client]).clients
    except (LaneFailed, InputError, ToolMissing):
        return None
    lanes[0].drain()
    records = csv_of_pages(lambda page: rig.mocks.provider.ask("GET", f"/records?{page}"))
    rows = read_provider_rows(records, origin=ROWS_FILE)
    return Passed(driven, rows, {**driven.kept(), ROWS_FILE: records})
