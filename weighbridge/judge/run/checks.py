"""Arithmetic checks: a failed one is a flag that is printed, never hidden, and never changes a verdict."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise

from weighbridge.judge.figures.connections import is_not_kept_alive
from weighbridge.judge.figures.in_flight import in_flight_mean
from weighbridge.judge.figures.run_figures import busy_span
from weighbridge.judge.inputs import Attempted
from weighbridge.judge.run.probe_flags import trace_flags
from weighbridge.judge.run.rig_checks import delayed_acks, driver_rate_differs
from weighbridge.judge.window import Window
from weighbridge.matrix.loads.clients import LONG_ENOUGH_S, REQUESTS_PER_CLIENT
from weighbridge.record.figures import PERCENTILES, Timing, TimingOrAbsent
from weighbridge.record.load_report import LoadReport
from weighbridge.record.measured import RunFigures
from weighbridge.record.metrics import TimeKey
from weighbridge.record.run import Counts, Resources
from weighbridge.record.samples import SampleTable

# Times that pages show with their percentiles.
SHOWN: tuple[TimeKey, ...] = (
    *("response_ms", "service_ms", "ttfb_ms", "ttft_ms", "added_ms", "added_first_ms", "added_total_ms"),
)
LITTLE_TOLERANCE = 0.05
BACKLOG_SHARE = 0.05
BACKLOG_MIN_COUNT = 10
BASELINE_FACTOR = 2.0
REPEAT_SIGMAS = 4.0
# Falls below a nanosecond are rounding of floating point, not of a lane.
DUST_MS = 1e-6


def run_flags(inputs: Attempted) -> Iterator[str]:
    """Yield the flags of the checks that one attempt fails, and of what its responses and counts show."""
    window = inputs.window
    if window is not None:
        yield from _window_flags(window)
        yield from _rig_flags(inputs, window)
    if inputs.figures is not None:
        yield from _figure_flags(inputs.figures)
        yield from trace_flags(inputs.figures)
        if window is not None and backlog_growing(window.undelivered_at_end_count, inputs.figures):
            yield "backlog_growing"
    evidence = [seen for seen in inputs.evidence if seen.mode == inputs.mode and seen.ok]
    if any(seen.stamp_survives is False for seen in evidence):
        yield "no_inband"
    if any(seen.refused_s is not None for seen in evidence):
        yield "ready_early"
    if inputs.is_unsteady:
        yield "not_steady"


def _window_flags(window: Window) -> Iterator[str]:
    counts, samples = window.counts, window.lead.samples
    if (counts is not None and not counts_add_up(counts)) or not all(map(report_adds_up, window.reports)):
        yield "counts_differ"
    if counts is not None and prompts_repeated(counts):
        yield "prompts_repeated"
    if counts is not None and called_again(counts):
        yield "retried"
    lead = window.lead
    if samples is not None and not lead.load.has_schedule and not littles_law_holds(samples, lead.load.concurrency):
        yield "littles_law"
    if window.trace is not None and is_not_kept_alive(window.trace.requests):
        yield "no_keep_alive"
    if closed_loop_short(window):
        yield "few_requests_per_client"


def counts_add_up(counts: Counts) -> bool:
    """Tell whether successes ≤ responses ≤ sent at the client and distinct ≤ received at the provider."""
    chain = (counts.client_success_count, counts.client_answered_count, counts.client_sent_count)
    known = [count for count in chain if count is not None]
    return known == sorted(known) and counts.provider_distinct_count <= counts.provider_request_count


def report_adds_up(report: LoadReport) -> bool:
    """Tell whether statuses sum to the responses, classes to the failures, and both to no more than was scheduled."""
    parts = (
        (report.answered_by_status, report.answered_count),
        (report.failed_by_class, report.failed_count),
    )
    for by_kind, total in parts:
        if by_kind is not None and total is not None and sum(by_kind.values()) != total:
            return False
    if report.scheduled_count is None or report.answered_count is None:
        return True
    return report.answered_count + (report.failed_count or 0) <= report.scheduled_count


def closed_loop_short(window: Window) -> bool:
    """Tell whether a closed loop had fewer than 100 requests of each client and less than 60 s (METHOD section 2)."""
    lead = window.lead
    if lead.load.has_schedule or not lead.load.measures_times:
        return False
    is_few = lead.load.request_count < REQUESTS_PER_CLIENT * lead.load.concurrency
    return is_few and (lead.window_wall_s or 0.0) < LONG_ENOUGH_S


def prompts_repeated(counts: Counts) -> bool:
    """Tell whether more prompts repeated than drawing with replacement explains (four standard deviations)."""
    received, expected = counts.provider_request_count, counts.expected_repeat_ratio
    if not received:
        return False
    spread = math.sqrt(max(expected, 1 / received) / received)
    return counts.repeat_share_ratio > expected + REPEAT_SIGMAS * spread


def called_again(counts: Counts) -> bool:
    """Tell whether the provider got more requests than all clients sent, which is the gateway's doing."""
    sent = counts.client_sent_count
    return sent is not None and counts.provider_request_count > sent


def backlog_growing(undelivered_count: int | None, figures: RunFigures) -> bool:
    """Tell whether more events were undelivered at the window's end than 5 % of its requests (and than 10)."""
    requests = (figures.count("request_count") or 0) + (figures.count("trimmed_count") or 0)
    return (undelivered_count or 0) > max(BACKLOG_MIN_COUNT, BACKLOG_SHARE * requests)


def monotone(one: TimingOrAbsent, *, full_only: bool = False) -> bool:
    """Tell whether p50 ≤ p95 ≤ p99, among those that exist (`full_only`: that are figures to compare)."""
    if not isinstance(one, Timing):
        return True
    named = {name: one.percentile(name) for name in PERCENTILES}
    known = [v for name, v in named.items() if v is not None and (one.is_reliable(name) or not full_only)]
    return all(higher - lower >= -DUST_MS for lower, higher in pairwise(known))


def littles_rps(service_ms: TimingOrAbsent, clients: int) -> float | None:
    """Return N ÷ mean service time in requests per second for N > 1 clients (Little's law); else None."""
    if clients < 2 or not isinstance(service_ms, Timing) or not service_ms.mean:
        return None
    return clients / (service_ms.mean / 1000)


def littles_law_holds(samples: SampleTable, clients: int) -> bool:
    """Tell whether N requests were open on average (± 5 %) while the achieved rate of a closed loop was counted.

    Little's law is rate × time of a request = N. Summed over the very span of the rate it is exact, whatever the
    times are; N ÷ mean over all requests of a window is not, where a few are very slow. True for one client.
    """
    span = busy_span(samples, clients)
    if clients < 2 or span is None:
        return True
    found = in_flight_mean(samples, *span)
    return found is None or abs(found / clients - 1) <= LITTLE_TOLERANCE


def memory_in_order(resources: Resources) -> bool:
    """Tell whether idle memory is at most the peak; true where one is not known."""
    idle, peak = resources.rss_idle_bytes, resources.rss_peak_bytes
    return idle is None or peak is None or idle <= peak


def baseline_slow(under_load: TimingOrAbsent, serial: TimingOrAbsent) -> bool:
    """Tell whether the direct lane's median service time is more than twice that with one client."""
    if not isinstance(under_load, Timing) or not isinstance(serial, Timing):
        return False
    if under_load.p50 is None or serial.p50 is None:
        return False
    return under_load.p50 > BASELINE_FACTOR * serial.p50


def _rig_flags(inputs: Attempted, window: Window) -> Iterator[str]:
    if driver_rate_differs(window, None if inputs.figures is None else inputs.figures.known("achieved_rps")):
        yield "driver_rate_differs"
    samples, planned_s = window.lead.samples, window.answer.provider_time_s(window.mode)
    if not inputs.is_baseline or samples is None:
        return
    if delayed_acks(samples, planned_s):
        yield "delayed_ack"


def _figure_flags(figures: RunFigures) -> Iterator[str]:
    shown = [figures.timing(key) for key in SHOWN]
    if any(isinstance(one, Timing) and one.few_samples for one in shown):
        yield "few_samples"
    lags = (figures.timing("dispatch_lag_ms"), figures.timing("release_lateness_ms"))
    if not all(monotone(one) for one in (*shown, *lags)):
        yield "not_monotone"
