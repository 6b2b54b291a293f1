"""Figures of a cell with rules of their own: with rejected runs, against the self-reported overhead, buffering.

Buffering is judged against the direct lane of the same blocks; an added time of a lane that did
not keep its rate is no figure of its gateway.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weighbridge.judge.cell.enough_runs import too_few
from weighbridge.judge.cell.merging import merged, merged_with_rejected, missing
from weighbridge.judge.cell.shift import BASELINE_SHARE, pairs_of
from weighbridge.judge.cell.verdict import CellAttempts, CellVerdict
from weighbridge.judge.figures import buffering
from weighbridge.judge.stats.bounds import bounded, difference_bounds
from weighbridge.judge.stats.timing import SHARES, merge_runs
from weighbridge.matrix.cells import BASELINE
from weighbridge.matrix.requests import Mode
from weighbridge.record.figures import NOT_MEASURED, Timing, TimingOrAbsent, absent_by
from weighbridge.record.measured import Values
from weighbridge.record.metrics import METRICS, TimeKey
from weighbridge.record.probe_counts import Bunching
from weighbridge.record.run import RunRecord


@dataclass(frozen=True)
class CellTrace:
    """Figures of a cell and the flags that they raise."""

    figures: Values
    flags: tuple[str, ...]


def headline_of(mode: Mode) -> TimeKey:
    """Return the added time that leads: of non-streaming responses, or of streams to their first content."""
    return "added_ms" if mode == "plain" else "added_first_ms"


def summarise(attempts: CellAttempts, baselines: Sequence[RunRecord], found: CellVerdict) -> CellTrace:
    """Return what a probe gives of one cell by rules of its own; `baselines` are all attempts at its baseline."""
    headline = headline_of(attempts.plan.mode)
    good_baselines = [run for run in baselines if run.accepted]
    figures: Values = {
        "added_with_rejected_ms": merged_with_rejected(headline, attempts, found),
        "self_reported_difference_ms": _self_reported_difference(attempts, headline, found),
        "buffering": buffering_against(attempts.accepted, good_baselines),
    }
    added = merged(attempts.accepted, headline, attempts, found)
    return CellTrace(figures, tuple(_flags(attempts, good_baselines, headline, added)))


def buffering_against(accepted: Sequence[RunRecord], baselines: Sequence[RunRecord]) -> str | None:
    """Judge the buffering of the runs together, against the direct lane of the same blocks where there is one."""
    mine = [one for run in accepted for one in _bunching(run)]
    if too_few(len(mine), [NOT_MEASURED] * (len(accepted) - len(mine))):
        return None
    blocks = {run.block for run in accepted}
    theirs = [one for run in baselines if run.block in blocks for one in _bunching(run)]
    return buffering.verdict(buffering.added(mine), buffering.added(theirs) if theirs else None) if mine else None


def _bunching(run: RunRecord) -> Iterator[Bunching]:
    if run.figures is not None and isinstance(run.figures.bunching, Bunching):
        yield run.figures.bunching


def _self_reported_difference(attempts: CellAttempts, headline: TimeKey, found: CellVerdict) -> TimingOrAbsent:
    """Subtract a run's self-reported overhead from its added time: percentiles as a difference, means by request."""
    absent = missing(METRICS["self_reported_difference_ms"], attempts.plan, found)
    accepted = attempts.accepted
    if absent is not None and absent.absent != "saturated":
        return absent
    if not accepted:
        return absent_by(found.verdict)
    reports = [run.self_reported_ms for run in accepted]
    if not any(isinstance(one, Timing) for one in reports):
        return reports[0]
    differences = [one for run in accepted for one in _difference(run, headline)]
    if absent is not None or not differences:
        return absent or merged(accepted, headline, attempts, found)
    lacking = len(accepted) - len(differences)
    return too_few(len(differences), [NOT_MEASURED] * lacking) or merge_runs(differences, lacking)


def _difference(run: RunRecord, headline: TimeKey) -> Iterator[Timing]:
    outside = None if run.figures is None else run.figures.timing(headline)
    reported = run.self_reported_ms
    if not isinstance(outside, Timing) or not isinstance(reported, Timing):
        return
    values = {name: _minus(outside.percentile(name), reported.percentile(name)) for name in SHARES}
    few = {**outside.few_samples, **reported.few_samples}
    made = Timing(
        p50=values["p50"],
        p95=values["p95"],
        p99=values["p99"],
        mean=_minus(outside.mean, reported.mean),
        n=min(outside.n, reported.n),
        few_samples={name: text for name, text in few.items() if values[name] is not None},
    )
    yield bounded(made, difference_bounds(outside, reported))


def _minus(outside: float | None, reported: float | None) -> float | None:
    return None if outside is None or reported is None else outside - reported


def _flags(
    attempts: CellAttempts, baselines: Sequence[RunRecord], headline: TimeKey, added: TimingOrAbsent
) -> Iterator[str]:  # fmt: skip
    if attempts.plan.gateway == BASELINE or not isinstance(added, Timing) or added.p50 is None:
        return
    pairs = pairs_of(attempts.accepted, baselines, headline)
    baseline = merge_runs([direct for _, direct in pairs])
    if not isinstance(baseline, Timing):
        return
    # A p99 is no less than a p95, so where the baseline has none (a companion probe) the p95 shows it as well.
    highest = baseline.p95 if baseline.p99 is None else baseline.p99
    if highest is not None and highest > BASELINE_SHARE * max(added.p50, 0.0):
        yield "added_baseline_limited"
