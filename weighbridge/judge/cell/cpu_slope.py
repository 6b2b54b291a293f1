"""CPU of one more request as a slope: a line through the CPU of windows that are alike but for their rate.

What a tree uses idle is the line's height at no request, so no look at it is needed. Cores sleep less at a higher
rate, so the slope lies below the CPU per request of the lower one: it is shown beside, never in its place.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from weighbridge.judge.cell.cpu_cost import request_count
from weighbridge.judge.stats.intervals import interval
from weighbridge.judge.stats.straight_line import straight_line
from weighbridge.matrix.axes import families
from weighbridge.record.cell import PlannedCell
from weighbridge.record.figures import Figure
from weighbridge.record.run import RunRecord
from weighbridge.units import MS_PER_S


def cpu_slopes(plans: Sequence[PlannedCell], runs: Mapping[str, Sequence[RunRecord]]) -> dict[str, Figure]:
    """Return the slope in ms per request of every cell with a rate that was measured at two rates or more.

    One least-squares line a block through CPU seconds a second over requests a second; median over the blocks.
    """
    found: dict[str, Figure] = {}
    rates = [plan for plan in plans if plan.load.has_schedule and plan.load.measures_times]
    for family in families(rates, "load"):
        by_block: dict[int, list[tuple[float, float]]] = {}
        for block, point in _points([run for plan in family for run in runs.get(plan.cell, ())]):
            by_block.setdefault(block, []).append(point)
        lines = [straight_line(*zip(*points, strict=True)) for points in by_block.values()]
        slopes = [line.slope * MS_PER_S for line in lines if line is not None]
        if slopes:
            found |= dict.fromkeys((plan.cell for plan in family), _over_blocks(slopes))
    return found


def _over_blocks(slopes: Sequence[float]) -> Figure:
    return Figure(
        value=statistics.median(slopes),
        low=min(slopes),
        high=max(slopes),
        interval=interval(slopes),
        run_count=len(slopes),
    )


def _points(runs: Sequence[RunRecord]) -> Iterator[tuple[int, tuple[float, float]]]:
    """Yield block, requests a second and CPU seconds a second of the runs that kept their rate."""
    for run in runs:
        used, count = run.resources, request_count(run)
        if run.accepted and run.verdict == "valid" and used.cpu_s is not None and used.cpu_span_s and count:
            yield run.block, (count / used.cpu_span_s, used.cpu_s / used.cpu_span_s)
