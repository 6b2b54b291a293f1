"""The probe's report: counts, outcomes, pacing, its own lateness and cost, as one JSON document beside the tables.

It holds no header values, no addresses beyond loopback and no folders.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from weighbridge import quantiles
from weighbridge.load.probe.program.capture import Capture
from weighbridge.load.probe.program.plan import (
    CLIENTS_CEILING_COUNT,
    PLAIN_CEILING_RPS,
    STREAM_CEILING_RPS,
    ProbePlan,
)
from weighbridge.load.probe.program.tables import Tables
from weighbridge.record.probe_tables import OK, OUTCOMES, STAMP_STATES, UNKNOWN, to_bytes
from weighbridge.units import NS_PER_S

SCHEMA = "weighbridge.probe/1"
REPORT, SAMPLES, REQUESTS, EVENTS = "report.json", "samples.npz", "requests.npz", "events.npz"
LATE_TURNS = "late_turns.npz"


def write(plan: ProbePlan, capture: Capture, tables: Tables, version: str) -> None:
    """Write tables and report into the plan's folder, the report last: it says that all is there."""
    _put(plan.out_dir / SAMPLES, tables.samples.to_bytes())
    _put(plan.out_dir / REQUESTS, to_bytes(tables.requests))
    _put(plan.out_dir / EVENTS, to_bytes(tables.events))
    _put(plan.out_dir / LATE_TURNS, to_bytes(tables.late_turns))
    _put(plan.out_dir / REPORT, json.dumps(report(plan, capture, tables, version), indent=1).encode() + b"\n")


def report(plan: ProbePlan, capture: Capture, tables: Tables, version: str) -> dict[str, Any]:
    """Return the document. Times are seconds; spreads are of good responses."""
    table = tables.requests
    resolved = table.outcome != UNKNOWN
    turns = tables.late_turns
    good = table.outcome == OK
    begun = table.sent_ns if plan.rate_rps is None else table.intended_ns
    codes, counts = np.unique(table.outcome[resolved], return_counts=True)
    is_http = table.status > 0
    statuses, by_status = np.unique(table.status[resolved & is_http], return_counts=True)
    return {
        "schema": SCHEMA,
        "version": version,
        "plan": plan.without_secrets(),
        "partial": capture.interrupted,
        "wall_s": max(0, capture.ended_ns - capture.started_ns) / NS_PER_S,
        "scheduled_count": plan.count,
        "released_count": len(table),
        "sent_count": int(np.count_nonzero(table.sent_ns != UNKNOWN)),
        "resolved_count": int(np.count_nonzero(resolved)),
        "in_flight_max_count": capture.in_flight_max_count,
        "connection_count": capture.connection_count,
        "repeated_line_count": _repeated(capture),
        "outcomes": {OUTCOMES[code]: int(count) for code, count in zip(codes, counts, strict=True)},
        "statuses": {str(status): int(count) for status, count in zip(statuses, by_status, strict=True)},
        "answered_by_status": _answered(table.status, tables.samples.outcome == 0),
        "error_text": tables.error_text,
        "stamps": {name: int(np.count_nonzero(table.stamp_state == code)) for code, name in enumerate(STAMP_STATES)},
        "received_bytes": int(table.received_bytes[table.received_bytes > 0].sum()),
        "response_s": spread((table.end_ns - begun)[good] / NS_PER_S),
        "first_byte_s": spread((table.first_byte_ns - table.sent_ns)[good] / NS_PER_S),
        "lag_s": spread(_lag(tables, plan)),
        "rate_error_ratio": _rate_error(tables, plan),
        "pacing": capture.pacing,
        "short_slice": capture.short_slice,
        "heartbeat_s": spread(np.array(capture.beats.late_ns, dtype=np.int64) / NS_PER_S),
        "late_turn_s": spread((turns.ended_ns - turns.begun_ns) / NS_PER_S),
        "cpu_s": capture.cpu_s,
        "ceiling": {
            "plain_rps": PLAIN_CEILING_RPS,
            "stream_rps": STREAM_CEILING_RPS,
            "clients_count": CLIENTS_CEILING_COUNT,
        },
    }


def spread(values_s: npt.NDArray[np.float64]) -> dict[str, float | int] | None:
    """Nearest-rank percentiles, maximum and count; None without values."""
    if not len(values_s):
        return None
    ordered: Sequence[float] = np.sort(values_s).tolist()
    shares = {f"p{share * 100:g}": quantiles.percentile(ordered, share) for share in (0.5, 0.95, 0.99)}
    return {**shares, "max": ordered[-1], "n": len(ordered)}


def _answered(status: npt.NDArray[np.int64], answered: npt.NDArray[np.bool_]) -> dict[str, int]:
    statuses, counts = np.unique(status[answered], return_counts=True)
    return {str(one): int(count) for one, count in zip(statuses, counts, strict=True)}


def _lag(tables: Tables, plan: ProbePlan) -> npt.NDArray[np.float64]:
    """Released minus intended: how late the pacer was, whatever pool and connection cost afterwards."""
    if plan.rate_rps is None:
        return np.empty(0)
    return tables.samples.released_s - tables.samples.intended_s


def _rate_error(tables: Tables, plan: ProbePlan) -> float | None:
    """Span of the releases ÷ span of the schedule − 1."""
    if plan.rate_rps is None or len(tables.samples) < 2:
        return None
    intended, released = tables.samples.intended_s, tables.samples.released_s
    planned_s = float(intended[-1] - intended[0])
    return float(released[-1] - released[0]) / planned_s - 1 if planned_s > 0 else None


def _repeated(capture: Capture) -> int:
    lines = [exchange.line for exchange in capture.exchanges[: capture.released_count]]
    return len(lines) - len(set(lines))


def _put(path: Path, data: bytes) -> None:
    """Whole or not at all: what a reader finds was written to its end."""
    part = path.with_name(f"{path.name}.part")
    part.write_bytes(data)
    part.replace(path)
