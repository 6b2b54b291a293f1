"""Figures of one run that follow from its record: cost per request, memory, drain, calls, self-reported overhead.

A number that a run does not have is absent with a reason, never zero.
"""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.judge.cell.cpu_cost import NO_LOOK, busy_ratio, cpu_cost, idle_use, request_count
from weighbridge.judge.figures.probe_figures import NO_STAMPS
from weighbridge.record.figures import NOT_MEASURED, Absent, Figure, FigureOrAbsent
from weighbridge.record.measured import FigureValue, Values
from weighbridge.record.metrics import MetricKey, ValueKey
from weighbridge.record.run import Resources, RunRecord

RunValue = Callable[[RunRecord], float | None]

RSS: tuple[ValueKey, ...] = ("rss_idle_bytes", "rss_peak_bytes", "rss_after_bytes")
PSS: tuple[ValueKey, ...] = ("pss_idle_bytes", "pss_after_bytes")
NO_EVENTS = Absent(absent="no_events")
NO_CONTROL_PLANE = Absent(absent="no_control_plane")
NOT_COUNTED = Absent(absent="not_counted")


def of_record(run: RunRecord) -> Values:
    """Return the figures of a run that its window's own figures do not hold."""
    used, cpu = run.resources, cpu_cost(run)
    idle = idle_use(used)
    found: dict[MetricKey, FigureValue] = {
        "self_reported_ms": run.self_reported_ms,
        "drain_s": _figure(run.drain_s, NO_EVENTS),
        "undelivered_at_end_count": run.undelivered_at_end_count,
        "cpu_ms_per_request": cpu if isinstance(cpu, Absent) else Figure(value=cpu.ms),
        "cpu_uncertainty_ms": cpu if isinstance(cpu, Absent) else _figure(cpu.uncertainty_ms, NO_LOOK),
        "cpu_idle_cores": _figure(None if idle is None else idle.cores, _why(used, "cpu_s", other=NO_LOOK)),
        "busy_ratio": _figure(busy_ratio(run), _why(used, "cpu_s")),
        "request_changes": tuple(sorted({change for seen in run.evidence for change in seen.upstream_changes})),
        "cpu_from": () if used.cpu_from is None else (used.cpu_from,),
        "rss_peak_from": () if used.rss_peak_from is None else (used.rss_peak_from,),
        **_memory(used),
        "flush_idle_rps": _figure(used.flush_idle_rps, _why(used, "flush_count")),
        "flushes_per_request": _figure(_per_request(run, used.flush_count), _why(used, "flush_count")),
        "context_switches_per_request": _figure(_switches(run), _why(used, "voluntary_switch_count")),
        **_control_plane_calls(run),
        "upstream_calls_per_request": _figure(_upstream_calls(run), NOT_COUNTED),
        "first_request_ms": _first_request(run),
        "prompts_repeated_ratio": _figure(_repeated(run), NOT_COUNTED),
    }
    if run.open_streams is not None:
        found["error_count"] = sum(run.open_streams.faults.values())
        found["in_flight_max_count"] = max((point.open_count for point in run.open_streams.points), default=None)
    return found


def _figure(value: float | None, absent: Absent) -> FigureOrAbsent:
    return absent if value is None else Figure(value=value)


def _why(used: Resources, *keys: str, other: Absent = NOT_MEASURED) -> Absent:
    return next((used.absent[key] for key in keys if key in used.absent), other)


def _first_request(run: RunRecord) -> FigureOrAbsent:
    """Return the added time of the one request that tried the lane, before any other of its mode."""
    seen = next((one for one in run.evidence if one.ok), None)
    if seen is None:
        return NOT_MEASURED
    return NO_STAMPS if seen.added_s is None else Figure(value=seen.added_s * 1000)


def _memory(used: Resources) -> dict[MetricKey, FigureValue]:
    # One reason stands for all readings of a kind: rss or pss.
    read: dict[ValueKey, int | None] = {
        "rss_idle_bytes": used.rss_idle_bytes,
        "rss_peak_bytes": used.rss_peak_bytes,
        "rss_after_bytes": used.rss_after_bytes,
        "pss_idle_bytes": used.pss_idle_bytes,
        "pss_after_bytes": used.pss_after_bytes,
    }
    alike = {**dict.fromkeys(RSS, RSS), **dict.fromkeys(PSS, PSS)}
    return {key: _figure(value, _why(used, key, *alike[key])) for key, value in read.items()}


def _per_request(run: RunRecord, value: float | None) -> float | None:
    count = request_count(run)
    return value / count if value is not None and count else None


def _switches(run: RunRecord) -> float | None:
    kinds = (run.resources.voluntary_switch_count, run.resources.involuntary_switch_count)
    known = [count for count in kinds if count is not None]
    return _per_request(run, sum(known)) if known else None


def _control_plane_calls(run: RunRecord) -> dict[MetricKey, FigureValue]:
    """Return the calls in the path of a request and those beside it: only the first make it wait."""
    counts = run.counts
    # An empty mapping means that the lane has no control plane; one full of zeros that it was never called.
    if counts is None or not counts.control_plane_calls:
        return {"admission_calls_per_request": NO_CONTROL_PLANE, "background_calls_per_request": NO_CONTROL_PLANE}
    told = counts.admission_call_count + counts.background_call_count == sum(counts.control_plane_calls.values())
    in_path, beside = counts.admission_call_count, counts.background_call_count
    return {
        "admission_calls_per_request": _figure(_per_request(run, in_path) if told else None, NOT_COUNTED),
        "background_calls_per_request": _figure(_per_request(run, beside) if told else None, NOT_COUNTED),
    }


def _repeated(run: RunRecord) -> float | None:
    # A gateway that strips the references of prompts leaves none to count.
    if run.counts is None or not run.counts.provider_distinct_count:
        return None
    return run.counts.repeat_share_ratio


def _upstream_calls(run: RunRecord) -> float | None:
    if run.counts is None or run.counts.client_sent_count is None:
        return None
    return _per_request(run, run.counts.provider_request_count)
