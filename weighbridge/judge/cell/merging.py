"""The figures of a cell out of those of its runs, each by the rule that its entry in the catalogue names."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Mapping, Sequence

from weighbridge.judge.cell.enough_runs import too_few
from weighbridge.judge.cell.rates_and_costs import of_record
from weighbridge.judge.cell.verdict import CellAttempts, CellVerdict
from weighbridge.judge.figures import buffering, fidelity, stamps, usage
from weighbridge.judge.stats.intervals import interval
from weighbridge.judge.stats.timing import merge_runs
from weighbridge.record.cell import PlannedCell
from weighbridge.record.figures import NOT_MEASURED, Absent, Figure, Timing, TimingOrAbsent, absent_by
from weighbridge.record.measured import FigureValue, Values
from weighbridge.record.metrics import METRICS, Merge, Metric, MetricKey, TimeKey, metrics_of
from weighbridge.record.probe_counts import Bunching, Fidelity, StampCounts, UsageCounts
from weighbridge.record.run import RunRecord

RunValues = Sequence[FigureValue]


def merge(attempts: CellAttempts, found: CellVerdict) -> dict[MetricKey, FigureValue]:
    """Return every figure of a cell that follows from its runs by a general rule."""
    accepted, every = [values_of(run) for run in attempts.accepted], [values_of(run) for run in attempts.runs]
    made: dict[MetricKey, FigureValue] = {}
    for metric in metrics_of("cell"):
        rule = _timing if (metric.kind, metric.merge) == ("time", "median") else _MERGERS.get(metric.merge)
        if rule is None:
            continue
        absent = missing(metric, attempts.plan, found)
        runs = every if metric.with_rejected else accepted
        made[metric.key] = absent or rule(_given(metric.key, runs), found)
    return made


def merged(runs: Sequence[RunRecord], key: TimeKey, attempts: CellAttempts, found: CellVerdict) -> TimingOrAbsent:
    """Return a time of these accepted runs, or why there is none."""
    absent = missing(METRICS[key], attempts.plan, found)
    return absent or _timing(_given(key, [values_of(run) for run in runs]), found)


def merged_with_rejected(key: TimeKey, attempts: CellAttempts, found: CellVerdict) -> TimingOrAbsent:
    """Return a time of all attempts that have it, however few, or why there is none."""
    absent = missing(METRICS[key], attempts.plan, found)
    if absent is not None:
        return absent
    given = _given(key, [values_of(run) for run in attempts.runs])
    known = [one for one in given if isinstance(one, Timing)]
    if not known:
        return _timing(given, found)
    return merge_runs(known, missing_count=len(given) - len(known))


def missing(metric: Metric, plan: PlannedCell, found: CellVerdict) -> Absent | None:
    """Return why a cell cannot have a figure, whatever its runs show; None where it can."""
    if metric.kind not in ("time", "value"):
        return None
    if metric.loads == "timed" and not plan.load.measures_times:
        return Absent(absent="open_streams")
    if metric.loads == "open_streams" and plan.load.measures_times:
        return Absent(absent="no_open_streams")
    if found.served is not None and not metric.of_saturated:
        return absent_by("saturated", found.served)
    # An errored cell may have accepted runs: they are its lucky ones.
    return absent_by(found.verdict) if found.reason is not None and not metric.with_rejected else None


def values_of(run: RunRecord) -> Values:
    """Return all figures of one run: those of its window, and those that follow from its record."""
    return {**(run.figures.figures if run.figures is not None else {}), **of_record(run)}


def _given(key: MetricKey, runs: Sequence[Values]) -> list[FigureValue]:
    """Return what each run has of a figure; one whose window left no figures did not measure it."""
    kind = METRICS[key].kind
    nothing = NOT_MEASURED if kind in ("time", "value") else None
    return [one.get(key, nothing) for one in runs if key in one or nothing is not None]


def _timing(given: RunValues, found: CellVerdict) -> TimingOrAbsent:
    """Return the median over the runs; a saturated cell has only what all its runs have."""
    known = [one for one in given if isinstance(one, Timing)]
    absent = _absent(given)
    if not known and not absent:
        return absent_by(found.verdict)
    if absent and found.verdict == "saturated":
        return absent[0]
    return too_few(len(known), absent) or merge_runs(known, missing_count=len(absent))


def _median(given: RunValues, found: CellVerdict) -> FigureValue:
    values = [one.value for one in given if isinstance(one, Figure)]
    absent = _absent(given)
    if not values:
        return _first_absent(given, found)
    return too_few(len(values), absent) or Figure(
        value=statistics.median(values),
        low=min(values),
        high=max(values),
        interval=interval(values),
        run_count=len(values),
        missing_run_count=len(absent),
    )


def _first_absent(given: RunValues, found: CellVerdict) -> Absent:
    absent = _absent(given)
    return next((one for one in absent if one != NOT_MEASURED), absent[0] if absent else absent_by(found.verdict))


def _absent(given: RunValues) -> list[Absent]:
    return [one for one in given if isinstance(one, Absent)]


def _counts(given: RunValues) -> list[int]:
    return [one for one in given if isinstance(one, int)]


def _largest(given: RunValues, _found: CellVerdict) -> FigureValue:
    return max(_counts(given), default=None)


def _worst(given: RunValues, _found: CellVerdict) -> FigureValue:
    return max((one for one in given if isinstance(one, float)), key=abs, default=None)


def _union(given: RunValues, _found: CellVerdict) -> FigureValue:
    return tuple(sorted({word for one in given if isinstance(one, tuple) for word in one}))


def _added(given: RunValues, found: CellVerdict) -> FigureValue:
    """Return counts of several runs added, whichever counts they are."""
    bunched = [one for one in given if isinstance(one, Bunching)]
    answers = [one for one in given if isinstance(one, Fidelity)]
    stamped = [one for one in given if isinstance(one, StampCounts)]
    used = [one for one in given if isinstance(one, UsageCounts)]
    if bunched:
        return too_few(len(bunched), _absent(given)) or buffering.added(bunched)
    if answers:
        return too_few(len(answers), _absent(given)) or fidelity.added(answers)
    if used:
        return too_few(len(used), _absent(given)) or usage.added(used)
    return stamps.added(stamped) if stamped else _first_absent(given, found)


_MERGERS: Mapping[Merge, Callable[[RunValues, CellVerdict], FigureValue]] = {
    "median": _median,
    "sum": lambda given, _found: sum(_counts(given)),
    "max": _largest,
    "worst": _worst,
    "union": _union,
    "added": _added,
}
