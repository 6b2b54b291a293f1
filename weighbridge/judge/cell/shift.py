"""The shift: a percentile at the client through the gateway minus the same percentile direct.

A pair is a run with the direct run of its block that lies nearest in time; how near is a figure of the cell. The
shift is biased as a percentile of overhead, can be negative and can fall with the percentile: pages say so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from weighbridge.judge.cell.baseline_pairs import NO_BASELINE, baseline_distance, nearest
from weighbridge.judge.cell.enough_runs import too_few
from weighbridge.judge.cell.merging import missing
from weighbridge.judge.cell.verdict import CellAttempts, CellVerdict
from weighbridge.judge.run import checks
from weighbridge.judge.stats.bounds import bounded, difference_bounds
from weighbridge.judge.stats.intervals import interval_of_difference
from weighbridge.judge.stats.timing import SHARES, intervals_of, merge_runs
from weighbridge.matrix.cells import BASELINE
from weighbridge.record.cell import PlannedCell
from weighbridge.record.figures import Absent, FigureOrAbsent, Interval, Percentile, Timing, TimingOrAbsent, absent_by
from weighbridge.record.measured import FigureValue, Values
from weighbridge.record.metrics import METRICS, Metric, MetricKey, TimeKey, metrics_of
from weighbridge.record.run import RunRecord

# METHOD 1: a baseline p99 above this share of a figure's p50 limits the figure.
BASELINE_SHARE = 0.20
IS_BASELINE = Absent(absent="baseline")
# The others are the same move by another yardstick: a flag of theirs would say nothing new.
_FLAGGED: tuple[MetricKey, ...] = ("shift_ms", "ttfb_shift_ms")

Pair = tuple[Timing, Timing]


@dataclass(frozen=True)
class Shifts:
    """The shifts of a cell and the flags that they raise."""

    figures: Values
    flags: tuple[str, ...] = ()


def shifts(attempts: CellAttempts, baselines: Sequence[RunRecord], found: CellVerdict) -> Shifts:
    """Return every shift of the catalogue: of accepted runs, or of all attempts, against the direct lane."""
    figures: dict[MetricKey, FigureValue] = {}
    flags: list[str] = []
    for metric in metrics_of("cell"):
        if metric.shift_of is None:
            continue
        absent = _no_shift(metric, attempts.plan, found)
        if absent is not None:
            figures[metric.key] = absent
            continue
        runs, direct = (
            (attempts.runs, baselines) if metric.with_rejected else (attempts.accepted, _accepted(baselines))
        )
        pairs = pairs_of(runs, direct, metric.shift_of)
        moved = shift(pairs, 0 if metric.with_rejected else len(runs) - len(pairs))
        figures[metric.key] = moved
        if metric.key in _FLAGGED:
            flags += _flags(metric, moved, pairs, _planned_ms(metric.shift_of, attempts.plan))
    figures["baseline_distance_s"] = _distance(attempts, baselines, found)
    return Shifts(figures, tuple(flags))


def _distance(attempts: CellAttempts, baselines: Sequence[RunRecord], found: CellVerdict) -> FigureOrAbsent:
    absent = missing(METRICS["baseline_distance_s"], attempts.plan, found)
    if absent is not None or attempts.plan.gateway == BASELINE:
        return absent or IS_BASELINE
    return baseline_distance(attempts.accepted, _accepted(baselines))


def _no_shift(metric: Metric, plan: PlannedCell, found: CellVerdict) -> Absent | None:
    absent = missing(metric, plan, found)
    if absent is not None and absent.absent != "saturated":
        return absent
    if plan.gateway == BASELINE:
        return IS_BASELINE
    return absent or (None if found.verdict == "valid" else absent_by(found.verdict))


def _accepted(runs: Sequence[RunRecord]) -> tuple[RunRecord, ...]:
    return tuple(run for run in runs if run.accepted)


def _planned_ms(key: TimeKey, plan: PlannedCell) -> float:
    """Return the provider's planned time in a figure: to its end, or to its first byte."""
    return (plan.answer.delay_s if key == "ttfb_ms" else plan.provider_time_s) * 1000


def _flags(metric: Metric, moved: TimingOrAbsent, pairs: Sequence[Pair], planned_ms: float) -> Iterator[str]:
    if baseline_limited(moved, pairs, planned_ms):
        yield "ttfb_baseline_limited" if metric.shift_of == "ttfb_ms" else "baseline_limited"
    if not checks.monotone(moved, full_only=True):
        yield "shift_not_monotone"


def shift(pairs: Sequence[Pair], missing_count: int = 0) -> TimingOrAbsent:
    """Return the median over the pairs (gateway, direct) of percentile minus percentile, with the interval over them.

    `missing_count` accepted runs have no pair; with more than a third of all there is no shift.
    `n` is the smallest sample size of any run of either lane. It has no mean. A percentile that is null or has
    few samples on one side is so in the shift.
    """
    if not pairs:
        return NO_BASELINE
    absent = too_few(len(pairs), [NO_BASELINE] * missing_count)
    return absent or merge_runs([difference(through, direct) for through, direct in pairs], missing_count)


def difference(through: Timing, direct: Timing) -> Timing:
    """Return percentile minus percentile of two runs of one block."""
    smaller, larger = sorted((through, direct), key=lambda one: one.n)
    values = {name: _minus(through.percentile(name), direct.percentile(name)) for name in SHARES}
    few = {**larger.few_samples, **smaller.few_samples}
    firm = [name for name in SHARES if name not in few]
    made = Timing(
        p50=values["p50"],
        p95=values["p95"],
        p99=values["p99"],
        mean=None,
        n=smaller.n,
        interval=intervals_of({name: _interval_of(name, through, direct) for name in firm}),
        few_samples={name: text for name, text in few.items() if values[name] is not None},
    )
    return bounded(made, difference_bounds(through, direct))


def _interval_of(name: Percentile, through: Timing, direct: Timing) -> Interval | None:
    """Return the interval of a single pair's difference, by those of its two runs."""
    first, second = through.percentile(name), direct.percentile(name)
    if first is None or second is None or through.interval is None or direct.interval is None:
        return None
    return interval_of_difference((first, through.interval.of(name)), (second, direct.interval.of(name)))


def pairs_of(runs: Sequence[RunRecord], baselines: Sequence[RunRecord], key: TimeKey) -> tuple[Pair, ...]:
    """Pair each run that has this figure with the nearest direct run of its block that has it, accepted if one is."""
    with_figure = [baseline for baseline in baselines if next(_timing(baseline, key), None) is not None]
    return tuple(
        (through, direct)
        for run in runs
        for through in _timing(run, key)
        for other in (nearest(run, with_figure),)
        if other is not None
        for direct in _timing(other, key)
    )


def baseline_limited(moved: TimingOrAbsent, pairs: Sequence[Pair], provider_ms: float) -> bool:
    """Tell whether the direct lane's own p99 above the provider's planned time is more than 20 % of the shift's p50.

    The provider's time is no part of a baseline: what the direct lane takes beyond it is what the rig adds.
    """
    if not isinstance(moved, Timing) or moved.p50 is None:
        return False
    baseline = merge_runs([direct for _, direct in pairs])
    if not isinstance(baseline, Timing) or baseline.p99 is None:
        return False
    return baseline.p99 - provider_ms > BASELINE_SHARE * max(moved.p50, 0.0)


def _minus(through: float | None, direct: float | None) -> float | None:
    return None if through is None or direct is None else through - direct


def _timing(run: RunRecord, key: TimeKey) -> Iterator[Timing]:
    value = None if run.figures is None else run.figures.timing(key)
    if isinstance(value, Timing):
        yield value


def by_cell(runs: Sequence[RunRecord]) -> Mapping[str, tuple[RunRecord, ...]]:
    """Return the runs of each cell in the order of block and attempt."""
    found: dict[str, list[RunRecord]] = {}
    for run in sorted(runs, key=lambda one: (one.block, one.attempt)):
        found.setdefault(run.cell, []).append(run)
    return {cell: tuple(mine) for cell, mine in found.items()}
