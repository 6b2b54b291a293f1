"""The effective plan of a campaign: what the matrix and the command line asked for together, on which copies.

Its digest is in the name of the campaign's folder, so that two campaigns of different plans never look like one.
"""

from __future__ import annotations

from pydantic import Field

from weighbridge.matrix.loads import Load
from weighbridge.record.base import Count, Document, MethodVersion
from weighbridge.record.host import ToolFacts


class AcceptRules(Document):
    """Rules of acceptance; null where one is off."""

    load_limit_per_cpu: float | None = Field(description="Limit on the one-minute load as a share of the CPUs.")
    gate_wait_s: float | None = Field(description="Longest wait for an idle machine.")
    attempts_per_run: Count = Field(description="Attempts for each wanted run.")


class PlannedGateway(Document):
    """A gateway of the plan: its recipe, its copy, and the settings that it is run with."""

    id: str = Field(description="Recipe id.")
    recipe_sha256: str = Field(description="Digest of the recipe folder.")
    tool_sha256: str | None = Field(description="Digest of the installed copy; null when it could not be had.")
    settings: tuple[dict[str, str], ...] = Field(description="Settings of each of its lanes that the matrix varies.")


class EffectivePlan(Document):
    """All that decides what a campaign measures and what counts of it."""

    method_version: MethodVersion = Field(description="Version of the method.")
    quick: bool = Field(description="Whether the quick section of the matrix was asked for.")
    only: tuple[str, ...] = Field(description="Patterns of --only; empty: every cell.")
    runs: Count = Field(description="Accepted runs wanted of each cell.")
    seed: int = Field(description="Seed of prompts and order.")
    grade: str = Field(description="What may be said of the figures.")
    driver: str = Field(description="Driver of the loads that it can drive.")
    companion: str | float | None = Field(
        description="Part of a rate that was asked for the probe beside the driver: auto, off, or requests/s."
    )
    loads: tuple[Load, ...] = Field(description="Loads of the selected cells.")
    cells: dict[str, str] = Field(description="SHA-256 of the identity of each selected cell, by id.")
    calibration_sha256: str | None = Field(description="Digest of what a calibration was asked for; null without.")
    accept: AcceptRules = Field(description="Rules of acceptance.")
    idle_look_s: float = Field(description="Time that idle use is looked at before and after a gateway's windows.")
    warmup_count: Count = Field(description="Requests of the first round of a lane's warm-up.")
    warmup_within_s: float = Field(description="Longest time of a lane's warm-up in a mode.")
    gateways: tuple[PlannedGateway, ...] = Field(description="Gateways of the selected cells.")
    tools: tuple[ToolFacts, ...] = Field(description="Programs that take part.")
