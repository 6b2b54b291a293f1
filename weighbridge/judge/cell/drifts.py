"""Whether a cell drifts: its windows' last thirds against their first ones, where a queue's own luck is no drift.

A lane near its capacity wanders for as long as a window lasts, whatever it is: such runs are not judged.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weighbridge.judge.cell.cpu_cost import busy_ratio, request_count
from weighbridge.judge.stats.drift import Moved, drift_of_runs
from weighbridge.record.run import RunRecord

# Busier than this a run is not judged; above half of its capacity it takes so many requests (METHOD section 5).
BUSIEST = 0.70
HALF_BUSY = 0.50
LEAST_WHEN_BUSY = 500
_BEHIND = "backlogged"


def drift_flags(accepted: Sequence[RunRecord]) -> Iterator[str]:
    """Yield `drifts` where two thirds of the accepted runs (at least two) drift the same way, of one run by more."""
    if drift_of_runs([moved_in(run) for run in accepted]):
        yield "drifts"


def moved_in(run: RunRecord) -> Moved | None:
    """Return what the two thirds of a run's added times showed; None where it is not judged."""
    figures, busy = run.figures, busy_ratio(run)
    if figures is None or run.verdict != "valid" or _BEHIND in run.flags:
        return None
    if busy is not None and (busy > BUSIEST or (busy > HALF_BUSY and request_count(run) < LEAST_WHEN_BUSY)):
        return None
    first_ms, last_ms, t = figures.known("drift_first_ms"), figures.known("drift_last_ms"), figures.number("drift_t")
    return None if first_ms is None or last_ms is None or t is None else Moved(first_ms, last_ms, t)
