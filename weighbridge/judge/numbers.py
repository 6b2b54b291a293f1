"""Numbers of a cell that are no times: rates, counts, drain, cost per request.

Called by `cell`. A number that no accepted run has is absent with a reason, never zero.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from weighbridge.record.codes import Verdict
from weighbridge.record.figures import NOT_MEASURED, Absent, Figure, FigureOrAbsent, absent_by
from weighbridge.record.run import RunRecord

RunValue = Callable[[RunRecord], float | None]

MEMORY = ("rss_idle_bytes", "rss_peak_bytes", "rss_after_bytes", "pss_idle_bytes", "pss_after_bytes")


def of_runs(runs: Sequence[RunRecord], accepted: Sequence[RunRecord], verdict: Verdict) -> dict[str, Any]:
    """Fields of `CellSummary` by name: medians over the accepted runs; errors over all attempts."""
    nothing = absent_by(verdict) if not accepted else None
    figures = [run.figures for run in accepted if run.figures is not None]
    return {
        "achieved_rps": _figure(accepted, _achieved, nothing or Absent(absent="totals_missing")),
        "goodput_rps": _figure(accepted, _goodput, nothing or Absent(absent="totals_missing")),
        "request_count": sum(one.request_count for one in figures),
        "error_count": sum(run.figures.error_count for run in runs if run.figures is not None),
        "in_flight_max_count": _largest(one.in_flight_max_count for one in figures),
        "drain_s": _figure(accepted, lambda run: run.drain_s, nothing or Absent(absent="no_events")),
        "undelivered_at_end_count": _largest(run.undelivered_at_end_count for run in accepted),
        "rate_error_ratio": _worst(one.rate_error_ratio for one in figures),
        "cpu_ms_per_request": _cost(accepted, cpu_ms_of, "cpu_s", nothing),
        "cpu_from": _unique(run.resources.cpu_from for run in accepted),
        "rss_peak_from": _unique(run.resources.rss_peak_from for run in accepted),
        **{name: _memory(accepted, name, nothing) for name in MEMORY},
        "flush_idle_rps": _cost(accepted, lambda run: run.resources.flush_idle_rps, "flush_count", nothing),
        "flushes_per_request": _cost(accepted, _flushes, "flush_count", nothing),
        "context_switches_per_request": _cost(accepted, _switches, "voluntary_switch_count", nothing),
        "control_plane_calls_per_request": _figure(
            accepted, _control_calls, nothing or Absent(absent="no_control_plane")
        ),
        "upstream_calls_per_request": _figure(accepted, _upstream_calls, nothing or Absent(absent="not_counted")),
    }


def _figure(accepted: Sequence[RunRecord], value_of: RunValue, absent: Absent) -> FigureOrAbsent:
    known = [value for value in map(value_of, accepted) if value is not None]
    if not known:
        return absent
    return Figure(value=statistics.median(known), low=min(known), high=max(known))


def _cost(accepted: Sequence[RunRecord], value_of: RunValue, key: str, nothing: Absent | None) -> FigureOrAbsent:
    told = [run.resources.absent[key] for run in accepted if key in run.resources.absent]
    return _figure(accepted, value_of, nothing or (told[0] if told else NOT_MEASURED))


def _memory(accepted: Sequence[RunRecord], name: str, nothing: Absent | None) -> FigureOrAbsent:
    # One reason stands for all readings of a kind: rss or pss.
    alike = (name, *(other for other in MEMORY if other[:3] == name[:3]))
    key = next((key for run in accepted for key in alike if key in run.resources.absent), name)
    return _cost(accepted, lambda run: getattr(run.resources, name), key, nothing)


def _achieved(run: RunRecord) -> float | None:
    return None if run.figures is None else run.figures.achieved_rps


def _goodput(run: RunRecord) -> float | None:
    return None if run.figures is None else run.figures.goodput_rps


def _per_request(run: RunRecord, value: float | None) -> float | None:
    """Value ÷ requests that the client started (of a run without that count: that reached the provider)."""
    if run.counts is None or value is None:
        return None
    sent = run.counts.client_sent_count
    requests = run.counts.provider_request_count if sent is None else sent
    return value / requests if requests else None


def cpu_ms_of(run: RunRecord) -> float | None:
    """CPU ms per request, less what the idle gateway would have used in the same time."""
    used = run.resources
    if used.cpu_s is None:
        return None
    idle_s = (used.cpu_idle_cores or 0.0) * (used.cpu_span_s or 0.0)
    return _per_request(run, max(0.0, used.cpu_s - idle_s) * 1000)


def _switches(run: RunRecord) -> float | None:
    kinds = (run.resources.voluntary_switch_count, run.resources.involuntary_switch_count)
    known = [count for count in kinds if count is not None]
    return _per_request(run, sum(known)) if known else None


def _flushes(run: RunRecord) -> float | None:
    return _per_request(run, run.resources.flush_count)


def _control_calls(run: RunRecord) -> float | None:
    # An empty mapping means that the lane has no control plane; one full of zeros that it was never called.
    if run.counts is None or not run.counts.control_plane_calls:
        return None
    return _per_request(run, sum(run.counts.control_plane_calls.values()))


def _upstream_calls(run: RunRecord) -> float | None:
    if run.counts is None or run.counts.client_sent_count is None:
        return None
    return _per_request(run, run.counts.provider_request_count)


def _unique(values: Iterable[str | None]) -> tuple[str, ...]:
    return tuple(sorted({value for value in values if value is not None}))


def _largest(values: Iterable[int | None]) -> int | None:
    return max((value for value in values if value is not None), default=None)


def _worst(values: Iterable[float | None]) -> float | None:
    return max((value for value in values if value is not None), key=abs, default=None)
