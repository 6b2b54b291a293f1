"""Held streams of one cell: what it has in the place of times and rates. Called by `cell`.

The memory of one more open stream is the median of its runs' slopes, one a block, with an interval over them.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

from weighbridge.judge.held import bytes_per_stream
from weighbridge.judge.intervals import interval
from weighbridge.judge.outcome import Attempts, Outcome
from weighbridge.matrix.cells import FLOOR
from weighbridge.record.figures import Absent, Figure, FigureOrAbsent, absent_by
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import CellSummary

# Reasons of figures that do not exist.
NOT_TIMED = Absent(absent="held_streams")
NOT_HELD = Absent(absent="no_held_streams")
NO_GATEWAY = Absent(absent="no_gateway")
NOT_TOLD = Absent(absent="kernel_does_not_tell")

# Cost for each request, of a load that has no requests to speak of.
_PER_REQUEST = ("cpu_ms_per_request", "context_switches_per_request", "flushes_per_request")
_RATES = ("achieved_rps", "goodput_rps")


def held_fields(attempts: Attempts, found: Outcome) -> dict[str, Any]:
    """Fields of `CellSummary` that a load which holds streams has instead of times and rates."""
    accepted = attempts.accepted
    held = [run.held for run in attempts.runs if run.held is not None]
    return {
        **dict.fromkeys((*_timings(), *_RATES, *_PER_REQUEST), NOT_TIMED),
        "memory_per_stream_bytes": _memory(attempts.plan.gateway, accepted, found),
        "error_count": sum(sum(one.faults.values()) for one in held),
        "in_flight_max_count": max((point.open_count for one in held for point in one.points), default=None),
    }


def _timings() -> tuple[str, ...]:
    return tuple(name for name in CellSummary.model_fields if name.endswith("_ms"))


def _memory(gateway: str, accepted: Sequence[RunRecord], found: Outcome) -> FigureOrAbsent:
    if gateway == FLOOR:
        return NO_GATEWAY
    if not accepted:
        return absent_by(found.verdict)
    slopes = [bytes_per_stream(run.held) for run in accepted if run.held is not None]
    known = [slope for slope in slopes if slope is not None]
    if not known:
        return NOT_TOLD
    return Figure(value=statistics.median(known), low=min(known), high=max(known), interval=interval(known))
