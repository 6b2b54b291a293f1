"""Figures of one run from what its driver left.

Judges nothing: a bad run has figures too, for the recomputed headline.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from weighbridge.judge.figures.backlog import answer_backlog
from weighbridge.judge.figures.in_flight import in_flight_max
from weighbridge.judge.figures.lateness import late_ns
from weighbridge.judge.figures.looked_at import failed_count, looked_at, odd_sizes, sized_answers, sizes_known
from weighbridge.judge.figures.probe_figures import CUT, trace_figures, unwhole_count
from weighbridge.judge.figures.row_masks import Mask, answered, good_answers, untrimmed
from weighbridge.judge.figures.within_bounds import goodput_within
from weighbridge.judge.stats.timing import SHARES, few_samples, timing_or_absent
from weighbridge.judge.window import Client, Window
from weighbridge.quantiles import beyond
from weighbridge.record.arrays import Floats
from weighbridge.record.figures import Absent, Figure, FigureOrAbsent, Percentile, Timing, TimingOrAbsent
from weighbridge.record.load_report import LoadReport, PercentilesOrAbsent
from weighbridge.record.measured import FigureValue, RunFigures, Values
from weighbridge.record.metrics import MetricKey
from weighbridge.record.samples import SampleTable

NO_SAMPLES = Absent(absent="no_samples")
ALL_LEFT_OUT = Absent(absent="all_left_out")
NOT_REPORTED_BY_DRIVER = Absent(absent="not_reported_by_driver")
NO_SCHEDULE = Absent(absent="no_schedule")
TIMES: tuple[MetricKey, ...] = ("response_ms", "service_ms", "ttfb_ms", "dispatch_lag_ms", "release_lateness_ms")


@dataclass(frozen=True)
class Throughput:
    """Achieved rate and goodput in requests per second, and what they were taken from."""

    achieved_rps: float | None
    goodput_rps: float | None
    source: Literal["samples", "totals"]


def run_figures(window: Window) -> RunFigures | None:
    """Return the figures of one window; None where its leading client left no report, or one of no times.

    The first W + C requests by sent start are left out of every timing (at most the rows): W warm up where that runs
    into the window, and each of C = connections opened one. Response time counts from the intended start, for
    clients it is the service time. A cut rate window has no response time, for those who waited longest are missing.
    A request that got no 2xx has no timing: it is an error. What a probe saw adds those of its trace. Rates and
    errors are those of all clients together, every other figure here is the leading one's.
    """
    lead = window.lead
    if lead.report is None or not lead.load.measures_times:
        return None
    rate, timings, traced = throughput(window), _timings(lead, lead.report), trace_figures(window)
    samples = lead.samples
    measured: Values = {
        "offered_rps": window.load.offered_rps,
        "achieved_rps": _rate(rate.achieved_rps),
        "achieved_from": rate.source,
        "goodput_rps": goodput_within(_rate(rate.goodput_rps), window),
        "trimmed_count": _trimmed_count(lead),
        "request_count": _behind(timings["service_ms"], timings["response_ms"]),
        "looked_at_count": _looked_at_count(window),
        "error_count": _error_count(window),
        "in_flight_max_count": None if samples is None else _in_flight_max(samples, lead.load.connections),
        "rate_error_ratio": None if samples is None else send_rate_error(samples, lead.load.offered_rps),
        "late_turn_count": 0,
        "late_response_count": 0,
    }
    return RunFigures.of({**measured, **timings, **traced})


def _error_count(window: Window) -> int:
    lead = window.lead
    odd = 0 if lead.sees_stamps or lead.samples is None else odd_sizes(lead.samples, window.expected_bytes)
    return failed_count(window.judged_reports, unwhole_count(window.content_trace), odd)


def _looked_at_count(window: Window) -> int | None:
    """Return how many contents were looked at, where they are not all and no size shows the others."""
    part = looked_at(window.judged_reports)
    return None if part is None or sizes_known(window.lead.samples) else part.looked_count


def _rate(value_rps: float | None) -> FigureOrAbsent:
    return Absent(absent="totals_missing") if value_rps is None else Figure(value=value_rps)


def throughput(window: Window) -> Throughput:
    """Return achieved rate and goodput of all clients: the leading one's, and those of the others added to it."""
    parts = [
        client_rates(client)
        for number, client in enumerate(one for one in window.clients if one.load.measures_times)
        if number == 0 or client.report is not None
    ]
    return Throughput(
        _sum([part.achieved_rps for part in parts]),
        _sum([part.goodput_rps for part in parts]),
        "samples" if all(part.source == "samples" for part in parts) else "totals",
    )


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def client_rates(client: Client) -> Throughput:
    """Return achieved rate and goodput of one client.

    With a schedule its rate × the share that was answered when the schedule ended (METHOD section 2); without one a
    closed loop counts while all of its clients were busy. From the totals, answered ÷ wall, where we cut the run or
    have no samples.
    """
    samples, rate = client.samples, client.load.offered_rps
    if samples is None or (client.cut and client.window_wall_s):
        return _from_totals(client)
    ends = np.sort(samples.end_s[answered(samples) & np.isfinite(samples.end_s)])
    found = answer_backlog(client)
    if found is not None and rate is not None:
        achieved = rate * found.answered_share
    else:
        counted, span_s = _counted(client, samples, ends)
        if counted < 1 or span_s <= 0:
            return _from_totals(client)
        achieved = counted / span_s
    whole = int(np.count_nonzero(sized_answers(samples)))
    return Throughput(achieved, achieved * whole / len(ends) if len(ends) else 0.0, "samples")


def _counted(client: Client, samples: SampleTable, ends_s: Floats) -> tuple[int, float]:
    """Return responses and the seconds in which they ended: between the first and the last, or of busy clients."""
    if client.load.has_schedule:
        return len(ends_s) - 1, float(np.ptp(ends_s)) if len(ends_s) else 0.0
    return _answers_in(ends_s, busy_span(samples, client.load.concurrency))


def busy_span(samples: SampleTable, clients: int) -> tuple[float, float] | None:
    """Return the N-th end and the last start in seconds, between which all N clients are busy; None for no such span.

    Before the N-th end responses that began together end together; behind the last start clients run dry, and a rate
    over that drain would charge the gateway with our stopping (METHOD section 2).
    """
    ends = samples.end_s[answered(samples) & np.isfinite(samples.end_s)]
    started = samples.sent_s[np.isfinite(samples.sent_s)]
    if len(ends) < clients or not len(started):
        return None
    first, last = float(np.partition(ends, clients - 1)[clients - 1]), float(started.max())
    return (first, last) if last > first else None


def _answers_in(ends_s: Floats, span: tuple[float, float] | None) -> tuple[int, float]:
    """Return how many of the sorted ends lie behind the span's begin, up to its end, and its length in seconds."""
    if span is None:
        return 0, 0.0
    first, last = np.searchsorted(ends_s, span, side="right")
    return int(last - first), span[1] - span[0]


def send_rate_error(samples: SampleTable, rate_rps: float | None) -> float | None:
    """Return the achieved send rate ÷ offered − 1, by the slots of the first and the last request that were sent.

    Slots instead of row numbers, so that arrivals that failed in between do not count as a slower generator.
    """
    if rate_rps is None:
        return None
    known = np.isfinite(samples.sent_s) & np.isfinite(samples.intended_s)
    if np.count_nonzero(known) < 2:
        return None
    sent, intended = samples.sent_s[known], samples.intended_s[known]
    first, last = int(np.argmin(intended)), int(np.argmax(intended))
    span_s = float(sent[last] - sent[first])
    planned_s = float(intended[last] - intended[first])
    return planned_s / span_s - 1 if span_s > 0 else None


def _in_flight_max(samples: SampleTable, connections: int) -> int | None:
    found = in_flight_max(samples)
    # Ends that were rebuilt from the schedule (oha's CSV alone) lie a pacer's lateness off and may overlap.
    rebuilt = np.isfinite(samples.intended_s).any() and not np.isfinite(samples.released_s).any()
    return min(found, connections) if found is not None and rebuilt else found


def _timings(client: Client, report: LoadReport) -> Values:
    if client.samples is None:
        return _timings_of_report(client, report)
    # Masks instead of tables: of a million rows each copy of all columns is 64 MB.
    samples = client.samples
    kept = untrimmed(samples, client.load.left_out_count)
    if not kept.any():
        return dict.fromkeys(TIMES, ALL_LEFT_OUT)
    rows = kept & good_answers(samples)
    late_s = _late_turns_s(client, samples)
    service = _between(samples.sent_s, samples.end_s, rows, late_s=late_s)
    if not client.load.has_schedule:
        response = service
        lag: TimingOrAbsent = NO_SCHEDULE
        lateness: TimingOrAbsent = NO_SCHEDULE
    else:
        response = CUT if client.cut else _between(samples.intended_s, samples.end_s, rows, late_s=late_s)
        lag = _between(samples.released_s, samples.sent_s, kept, least_s=0.0)
        lateness = _between(samples.intended_s, samples.released_s, kept, least_s=0.0)
    return {
        "response_ms": response,
        "service_ms": service,
        "ttfb_ms": _between(
            samples.sent_s, samples.first_byte_s, rows, late_s=_late_turns_s(client, samples, to_end=False)
        ),
        "dispatch_lag_ms": lag,
        "release_lateness_ms": lateness,
    }


def _late_turns_s(client: Client, samples: SampleTable, *, to_end: bool = True) -> Floats | None:
    """Return the lengths of the late turns of our own loop that hold the send or the end (or first byte) of each row.

    In seconds; None for a driver that keeps no account of its loop.
    """
    trace = client.trace
    if trace is None or len(trace.requests) != len(samples):
        return None
    until_ns = trace.requests.end_ns if to_end else trace.requests.first_byte_ns
    return late_ns(trace.late_turns, trace.requests.sent_ns, until_ns) / 1e9


def _between(
    begin_s: Floats, end_s: Floats, rows: Mask, *, least_s: float | None = None, late_s: Floats | None = None
) -> TimingOrAbsent:
    # Intervals need the order of their start; drivers keep rows in an order of their own.
    chosen = np.flatnonzero(rows)
    chosen = chosen[np.argsort(begin_s[chosen], kind="stable")]
    times_s = end_s[chosen] - begin_s[chosen]
    if least_s is not None:
        times_s = np.maximum(times_s, least_s)
    return timing_or_absent(times_s, NOT_REPORTED_BY_DRIVER, None if late_s is None else late_s[chosen])


def _timings_of_report(client: Client, report: LoadReport) -> Values:
    measured = NO_SAMPLES if client.cut else _timing_of(report.response_ms)
    has_schedule = client.load.has_schedule
    from_start = has_schedule and report.corrected == "yes"
    return {
        "response_ms": measured if from_start or not has_schedule else NO_SAMPLES,
        "service_ms": NO_SAMPLES if from_start else measured,
        "ttfb_ms": _timing_of(report.first_byte_ms),
        "dispatch_lag_ms": NO_SAMPLES,
        "release_lateness_ms": NO_SAMPLES,
    }


def _timing_of(given: PercentilesOrAbsent) -> TimingOrAbsent:
    if isinstance(given, Absent):
        return given
    if not given.n:
        return NO_SAMPLES
    count = given.n
    shown: dict[Percentile, float | None] = {"p50": given.p50, "p95": given.p95, "p99": given.p99}
    values = {name: value if beyond(count, SHARES[name]) else None for name, value in shown.items()}
    few = {name: text for name, text in few_samples(count).items() if values[name] is not None}
    return Timing(p50=values["p50"], p95=values["p95"], p99=values["p99"], mean=None, n=count, few_samples=few)


def _from_totals(client: Client) -> Throughput:
    report, wall_s = client.report, client.window_wall_s
    if report is None or not wall_s or report.answered_count is None:
        return Throughput(None, None, "totals")
    good = report.success_count
    return Throughput(report.answered_count / wall_s, None if good is None else good / wall_s, "totals")


def _trimmed_count(client: Client) -> int:
    if client.samples is None:
        return 0
    return min(client.load.left_out_count, int(np.count_nonzero(np.isfinite(client.samples.sent_s))))


def _behind(*timings: FigureValue) -> int:
    return max((one.n for one in timings if isinstance(one, Timing)), default=0)
