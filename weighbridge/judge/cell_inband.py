"""What the probe saw, over the runs of one cell: added time, streams, stamps, the difference to the own claim.

Called by `cell`. Buffering is judged against the direct lane of the same blocks; an added time of a lane that did
not keep its rate is no figure of its gateway.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weighbridge.judge import buffering, fidelity
from weighbridge.judge.merging import merged
from weighbridge.judge.outcome import Attempts, Outcome
from weighbridge.judge.shift import FLOOR_SHARE, pairs_of
from weighbridge.judge.timing import SHARES, merge_runs
from weighbridge.matrix.cells import FLOOR
from weighbridge.record.figures import (
    NOT_MEASURED,
    Absent,
    Figure,
    FigureOrAbsent,
    Timing,
    TimingOrAbsent,
    absent_by,
)
from weighbridge.record.run import RunFigures, RunRecord
from weighbridge.record.streams import Bunching, Fidelity, StampCounts

ADDED = ("added_ms", "added_first_ms", "added_total_ms", "inbound_ms", "outbound_ms")
STREAM = ("ttft_ms", "gap_ms", "forwarding_ms", "gap_distortion_ms")


@dataclass(frozen=True)
class CellInband:
    """Fields of `CellSummary` by name and the flags that they raise."""

    fields: dict[str, Any]
    flags: tuple[str, ...]


def summarise(attempts: Attempts, floors: Sequence[RunRecord], found: Outcome) -> CellInband:
    """Everything that a probe gives of one cell; `floors` are all attempts at its floor cell."""
    accepted = attempts.accepted
    figures = [run.figures for run in accepted if run.figures is not None]
    every = [run.figures for run in attempts.runs if run.figures is not None]
    added = {name: _added(accepted, name, found) for name in ADDED}
    headline = "added_ms" if attempts.plan.mode == "plain" else "added_first_ms"
    good_floors = [run for run in floors if run.accepted]
    fields = {
        **added,
        **{name: merged(accepted, name, found) for name in STREAM},
        "added_with_rejected_ms": _added(attempts.runs, headline, found),
        "claimed_difference_ms": _claimed_difference(accepted, headline, found),
        "coalesced_ratio": _figure(figures, "coalesced_ratio", found),
        "stall_count": _figure(figures, "stall_count", found),
        "end_marker_ratio": _figure(figures, "end_marker_ratio", found),
        "fidelity": _fidelity(figures),
        "stamps": _stamps(every),
        "lagged_count": sum(one.lagged_count for one in figures),
        **_buffering(accepted, good_floors),
    }
    return CellInband(fields, tuple(_flags(attempts, good_floors, headline, added[headline])))


def buffering_against(accepted: Sequence[RunRecord], floors: Sequence[RunRecord]) -> str | None:
    """Buffering verdict of the runs together, against the direct lane of the same blocks where there is one."""
    mine = [one for run in accepted for one in _bunching(run)]
    blocks = {run.block for run in accepted}
    theirs = [one for run in floors if run.block in blocks for one in _bunching(run)]
    return buffering.verdict(buffering.added(mine), buffering.added(theirs) if theirs else None) if mine else None


def _added(runs: Sequence[RunRecord], name: str, found: Outcome) -> TimingOrAbsent:
    if found.served is not None:
        return absent_by("saturated", found.served)
    return merged(runs, name, found)


def _buffering(accepted: Sequence[RunRecord], floors: Sequence[RunRecord]) -> dict[str, Any]:
    mine = [one for run in accepted for one in _bunching(run)]
    absent = next((run.figures.bunching for run in accepted if run.figures is not None), NOT_MEASURED)
    return {
        "bunching": buffering.added(mine) if mine else absent,
        "buffering": buffering_against(accepted, floors),
    }


def _bunching(run: RunRecord) -> Iterator[Bunching]:
    if run.figures is not None and isinstance(run.figures.bunching, Bunching):
        yield run.figures.bunching


def _fidelity(figures: Sequence[RunFigures]) -> Fidelity | Absent:
    known = [one.fidelity for one in figures if isinstance(one.fidelity, Fidelity)]
    if known:
        return fidelity.added(known)
    return next((one.fidelity for one in figures if isinstance(one.fidelity, Absent)), NOT_MEASURED)


def _stamps(figures: Sequence[RunFigures]) -> StampCounts | Absent:
    known = [one.stamps for one in figures if isinstance(one.stamps, StampCounts)]
    if not known:
        return NOT_MEASURED
    counts = {
        name: sum(getattr(one, name) for one in known) for name in StampCounts.model_fields if name != "retry_count"
    }
    retries = [one.retry_count for one in known if one.retry_count is not None]
    return StampCounts(**counts, retry_count=sum(retries) if retries else None)


def _figure(figures: Sequence[RunFigures], name: str, found: Outcome) -> FigureOrAbsent:
    given: list[FigureOrAbsent] = [getattr(one, name) for one in figures]
    values = [one.value for one in given if isinstance(one, Figure)]
    if values:
        return Figure(value=statistics.median(values), low=min(values), high=max(values))
    return next((one for one in given if isinstance(one, Absent)), absent_by(found.verdict))


def _claimed_difference(accepted: Sequence[RunRecord], headline: str, found: Outcome) -> TimingOrAbsent:
    """Added time minus the own claim of the same run: of percentiles a difference, of means that of the requests."""
    if not accepted:
        return absent_by(found.verdict)
    claims = [run.claimed_overhead_ms for run in accepted]
    if not any(isinstance(one, Timing) for one in claims):
        return claims[0]
    if found.served is not None:
        return absent_by("saturated", found.served)
    differences = [one for run in accepted for one in _difference(run, headline)]
    return merge_runs(differences) if differences else merged(accepted, headline, found)


def _difference(run: RunRecord, headline: str) -> Iterator[Timing]:
    outside = None if run.figures is None else getattr(run.figures, headline)
    claimed = run.claimed_overhead_ms
    if not isinstance(outside, Timing) or not isinstance(claimed, Timing):
        return
    values = {name: _minus(getattr(outside, name), getattr(claimed, name)) for name in SHARES}
    few = {**outside.few_samples, **claimed.few_samples}
    yield Timing(
        p50=values["p50"],
        p95=values["p95"],
        p99=values["p99"],
        mean=_minus(outside.mean, claimed.mean),
        n=min(outside.n, claimed.n),
        few_samples={name: text for name, text in few.items() if values[name] is not None},
    )


def _minus(outside: float | None, claimed: float | None) -> float | None:
    return None if outside is None or claimed is None else outside - claimed


def _flags(
    attempts: Attempts, floors: Sequence[RunRecord], headline: str, added: TimingOrAbsent
) -> Iterator[str]:  # fmt: skip
    if attempts.plan.gateway == FLOOR or not isinstance(added, Timing) or added.p50 is None:
        return
    pairs = pairs_of(attempts.accepted, floors, headline)
    floor = merge_runs([direct for _, direct in pairs])
    if not isinstance(floor, Timing):
        return
    # A p99 is no less than a p95, so where the floor has none (a probe that rides along) the p95 shows it as well.
    highest = floor.p95 if floor.p99 is None else floor.p99
    if highest is not None and highest > FLOOR_SHARE * max(added.p50, 0.0):
        yield "added_floor_limited"
