"""Added time as a line: what one more KiB of prompt or one more chunk of response adds.

One least-squares line for each block, through the cells' median added times of that block; the slope is the median
over the blocks with the interval of this median. Blocks are the unit, as for every interval here: requests of one run
share its luck.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from weighbridge.judge.stats.intervals import interval
from weighbridge.judge.stats.straight_line import straight_line
from weighbridge.matrix.axes import families, varied
from weighbridge.matrix.cells import BASELINE
from weighbridge.record.campaign import CampaignRecord
from weighbridge.record.cell import PlannedCell
from weighbridge.record.figures import Timing
from weighbridge.record.metrics import TimeKey
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import Slope

SlopeAxis = Literal["payload_kib", "answer_chunks"]
KIB = 1024.0


@dataclass(frozen=True)
class SlopePoint:
    """One run of one cell: where on the axis, in which block, the median added time in ms."""

    block: int
    at: float
    value_ms: float


@dataclass(frozen=True)
class BlockLines:
    """The lines of all blocks."""

    slopes_ms: tuple[float, ...]
    intercepts_ms: tuple[float, ...]
    residual_ms: float


def fit(points: Sequence[SlopePoint]) -> BlockLines | None:
    """Fit a least-squares line for each block with two places on the axis; None when no block has them."""
    slopes, intercepts, residual = [], [], 0.0
    for block in sorted({point.block for point in points}):
        mine = [point for point in points if point.block == block]
        line = straight_line([point.at for point in mine], [point.value_ms for point in mine])
        if line is None:
            continue
        slopes.append(line.slope)
        intercepts.append(line.intercept)
        residual = max(residual, line.residual)
    return BlockLines(tuple(slopes), tuple(intercepts), residual) if slopes else None


def slopes(campaign: CampaignRecord, runs: Mapping[str, Sequence[RunRecord]]) -> tuple[Slope, ...]:
    """Fit every line of the campaign; `runs` are each cell's attempts. Saturated and rejected runs are no points."""
    return tuple(
        made
        for axis in ("payload_kib", "answer_chunks")
        for plans in _families(campaign.cells, axis)
        for made in _slope(runs, plans, axis)
    )


def _families(plans: Sequence[PlannedCell], axis: SlopeAxis) -> Iterator[tuple[PlannedCell, ...]]:
    """Yield cells that are alike but for the axis, in the order of the plan."""
    varies = "payload" if axis == "payload_kib" else "answer"
    known = [plan for plan in plans if axis != "answer_chunks" or plan.mode != "plain"]
    yield from (family for family in families(known, varies) if varies in varied(family))


def _slope(
    runs: Mapping[str, Sequence[RunRecord]], plans: Sequence[PlannedCell], axis: SlopeAxis
) -> Iterator[Slope]:  # fmt: skip
    figure = _figure(plans[0], axis)
    places = {plan.cell: _place(plan, axis) for plan in plans}
    points = _points(runs, places, figure)
    line = fit(points)
    if line is None:
        return
    is_baseline = plans[0].gateway == BASELINE
    baselines = {plan.baseline: places[plan.cell] for plan in plans}
    baseline = None if is_baseline else fit(_points(runs, baselines, figure))
    yield Slope(
        cells=tuple(plan.cell for plan in plans),
        gateway=plans[0].gateway,
        axis=axis,
        figure=figure,
        slope_ms=statistics.median(line.slopes_ms),
        interval_ms=interval(line.slopes_ms),
        intercept_ms=statistics.median(line.intercepts_ms),
        residual_ms=line.residual_ms,
        baseline_slope_ms=None if baseline is None else statistics.median(baseline.slopes_ms),
        block_count=len(line.slopes_ms),
        point_count=len(points),
    )


def _figure(plan: PlannedCell, axis: SlopeAxis) -> TimeKey:
    if axis == "answer_chunks":
        return "added_total_ms"
    return "added_ms" if plan.mode == "plain" else "added_first_ms"


def _place(plan: PlannedCell, axis: SlopeAxis) -> float:
    if axis == "answer_chunks":
        return float(plan.answer.chunk_count)
    return (plan.payload.system_bytes + plan.payload.user_bytes) / KIB


def _points(
    runs: Mapping[str, Sequence[RunRecord]], places: Mapping[str, float], figure: TimeKey
) -> tuple[SlopePoint, ...]:  # fmt: skip
    return tuple(
        SlopePoint(run.block, at, timing.p50)
        for cell, at in places.items()
        for run in runs.get(cell, ())
        if run.accepted and run.verdict == "valid" and run.figures is not None
        for timing in (run.figures.timing(figure),)
        if isinstance(timing, Timing) and timing.p50 is not None and "p50" not in timing.between
    )
