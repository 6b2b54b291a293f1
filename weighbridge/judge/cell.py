"""One cell of the summary: medians of run values, the shift paired within blocks, flags.

Called by `summarise`. Leaves verdicts to `outcome`, numbers that are no times to `numbers` and checks to `checks`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from weighbridge.judge import cell_inband, checks, held_cell, numbers
from weighbridge.judge.merging import merged
from weighbridge.judge.outcome import Attempts, Outcome, outcome, rejected_by_reason
from weighbridge.judge.shift import floor_limited, pairs_of, shift
from weighbridge.judge.timing import merge_runs
from weighbridge.matrix.cells import FLOOR
from weighbridge.record.cell import PlannedCell
from weighbridge.record.codes import ordered_flags
from weighbridge.record.figures import Absent, Timing, TimingOrAbsent, absent_by
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import CellSummary, RunLine

TIMINGS = ("response_ms", "service_ms", "ttfb_ms", "dispatch_lag_ms", "release_lateness_ms")
IS_FLOOR = Absent(absent="floor")


@dataclass(frozen=True)
class Shifts:
    """The three shifts of a cell and the flags that they raise."""

    figures: dict[str, TimingOrAbsent]
    flags: tuple[str, ...] = ()


def summarise_cell(attempts: Attempts, floors: Sequence[RunRecord]) -> CellSummary:
    """Summary of one planned cell; `floors` are all attempts at its floor cell."""
    plan, accepted = attempts.plan, attempts.accepted
    found = outcome(attempts)
    moved = _shifts(attempts, floors, found)
    inband = cell_inband.summarise(attempts, floors, found)
    fields: dict[str, Any] = {
        **_identity(plan),
        **{name: merged(accepted, name, found) for name in TIMINGS},
        **moved.figures,
        **numbers.of_runs(attempts.runs, accepted, found.verdict),
        **inband.fields,
        "verdict": found.verdict,
        "reason": found.reason,
        "flags": ordered_flags([*found.flags, *_run_flags(attempts), *moved.flags, *inband.flags]),
        "runs_wanted": attempts.wanted,
        "runs_accepted": len(accepted),
        "runs_attempted": len(attempts.runs),
        "rejected": rejected_by_reason(attempts.rejected),
        "runs": tuple(_line(run) for run in attempts.runs),
        "littles_rps": _littles(accepted, plan.load.concurrency),
        "served_text": found.served,
        "load_before": accepted[0].load_before if accepted else None,
        "load_after": accepted[-1].load_after if accepted else None,
        "claimed_overhead_ms": _claimed(accepted, found),
        "memory_per_stream_bytes": held_cell.NOT_HELD,
    }
    if not plan.load.measures_times:
        fields |= held_cell.held_fields(attempts, found)
    return CellSummary(**fields)


def _identity(plan: PlannedCell) -> dict[str, Any]:
    same = ("cell", "gateway", "settings", "chain", "disk", "mode", "driver", "floor", "load")
    return {
        **{name: getattr(plan, name) for name in same},
        "payload": plan.payload.name,
        "answer": plan.answer.name,
        "offered_rps": plan.load.offered_rps,
    }


def _claimed(accepted: Sequence[RunRecord], found: Outcome) -> TimingOrAbsent:
    known = [run.claimed_overhead_ms for run in accepted if isinstance(run.claimed_overhead_ms, Timing)]
    if known:
        return merge_runs(known)
    return accepted[0].claimed_overhead_ms if accepted else absent_by(found.verdict)


def _shifts(attempts: Attempts, floors: Sequence[RunRecord], found: Outcome) -> Shifts:
    names = ("shift_ms", "shift_with_rejected_ms", "ttfb_shift_ms")
    absent = _no_shift(attempts.plan, found)
    if absent is not None:
        return Shifts(dict.fromkeys(names, absent))
    accepted, good_floors = attempts.accepted, [run for run in floors if run.accepted]
    pairs = pairs_of(accepted, good_floors, "response_ms")
    first_pairs = pairs_of(accepted, good_floors, "ttfb_ms")
    moved, first = shift(pairs), shift(first_pairs)
    flags = []
    if floor_limited(moved, pairs, attempts.plan.provider_time_s * 1000):
        flags.append("floor_limited")
    if floor_limited(first, first_pairs, attempts.plan.answer.delay_s * 1000):
        flags.append("ttfb_floor_limited")
    if not (checks.monotone(moved, full_only=True) and checks.monotone(first, full_only=True)):
        flags.append("shift_not_monotone")
    with_rejected = shift(pairs_of(attempts.runs, floors, "response_ms"))
    return Shifts(dict(zip(names, (moved, with_rejected, first), strict=True)), tuple(flags))


def _no_shift(plan: PlannedCell, found: Outcome) -> Absent | None:
    if plan.gateway == FLOOR:
        return IS_FLOOR
    if found.served is not None:
        return absent_by("saturated", found.served)
    return None if found.verdict == "valid" else absent_by(found.verdict)


def _run_flags(attempts: Attempts) -> Iterator[str]:
    """Flags of the accepted runs; of all attempts when none was accepted."""
    for run in attempts.accepted or attempts.runs:
        yield from run.flags
        if not checks.memory_in_order(run.resources):
            yield "memory_order"


def _littles(accepted: Sequence[RunRecord], clients: int) -> float | None:
    values = [checks.littles_rps(run.figures.service_ms, clients) for run in accepted if run.figures is not None]
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _line(run: RunRecord) -> RunLine:
    figures = run.figures
    response = None if figures is None else figures.response_ms
    return RunLine(
        block=run.block,
        attempt=run.attempt,
        accepted=run.accepted,
        verdict=run.verdict,
        reason=run.reason,
        achieved_rps=None if figures is None else figures.achieved_rps,
        response_p50_ms=response.p50 if isinstance(response, Timing) else None,
        load_before=run.load_before,
        load_after=run.load_after,
    )
