"""The catalogue of figures: one entry each, with all that judge, pages, exports and documentation need of it.

A new figure is its measurement in the judge room and one entry here with its key. Keys are typed, so a mistyped one
is found before anything runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, get_args

TimeKey = Literal[
    "response_ms", "service_ms", "ttfb_ms", "ttft_ms", "gap_ms", "added_ms", "added_first_ms", "added_total_ms",
    "added_with_rejected_ms", "request_path_ms", "response_path_ms", "forwarding_ms", "gap_distortion_ms", "shift_ms",
    "shift_with_rejected_ms", "service_shift_ms", "ttfb_shift_ms", "self_reported_ms", "self_reported_difference_ms",
    "dispatch_lag_ms", "release_lateness_ms", "connect_ms",
]  # fmt: skip
ValueKey = Literal[
    "achieved_rps", "goodput_rps", "baseline_distance_s", "drain_s", "coalesced_ratio", "stall_count",
    "end_marker_ratio", "cpu_ms_per_request", "cpu_uncertainty_ms", "cpu_idle_cores", "cpu_slope_ms", "busy_ratio",
    "drift_first_ms", "drift_last_ms",
    "context_switches_per_request", "admission_calls_per_request", "background_calls_per_request",
    "upstream_calls_per_request", "prompts_repeated_ratio", "flushes_per_request", "flush_idle_rps",
    "rss_idle_bytes", "rss_peak_bytes", "rss_after_bytes", "pss_idle_bytes", "pss_after_bytes",
    "memory_per_stream_bytes", "connections_per_request", "first_request_ms",
]  # fmt: skip
CountKey = Literal[
    "request_count",
    "trimmed_count",
    "error_count",
    "in_flight_max_count",
    "late_turn_count",
    "late_response_count",
    "undelivered_at_end_count",
    "looked_at_count",
]
NumberKey = Literal["drift_t", "offered_rps", "rate_error_ratio", "littles_rps"]
WordKey = Literal["achieved_from", "buffering"]
WordsKey = Literal["cpu_from", "rss_peak_from", "request_changes"]
PartKey = Literal["stamps", "usage", "bunching", "fidelity"]
MetricKey = TimeKey | ValueKey | CountKey | NumberKey | WordKey | WordsKey | PartKey

TIME_KEYS: tuple[TimeKey, ...] = get_args(TimeKey)
VALUE_KEYS: tuple[ValueKey, ...] = get_args(ValueKey)

# time: percentiles; value: one number with its spread over runs; count and number: null where nothing tells them.
MetricKind = Literal["time", "value", "count", "number", "word", "words", "stamps", "usage", "bunching", "fidelity"]
Level = Literal["run", "cell"]
# How the runs of a cell become its figure; `own`: by a rule of its own, which stands in the judge room.
Merge = Literal["median", "sum", "max", "worst", "union", "added", "own"]
# What a measurement takes: the driver's samples, the probe's request trace, a look at the process tree, …
Need = Literal["samples", "trace", "usage", "control_plane", "provider", "header", "baseline"]

# Loads that a figure exists for: those that measure times, all, or those of open streams.
LoadScope = Literal["timed", "every", "open_streams"]
_BOTH: tuple[Level, ...] = ("run", "cell")
_CELL: tuple[Level, ...] = ("cell",)
_RUN: tuple[Level, ...] = ("run",)
_STREAM_ONLY = ("stream",)
PER_REQUEST = "per request"


@dataclass(frozen=True)
class Metric:
    """One figure.

    `label` names it alone, `short` in a narrow column, `group` stands above the columns of a table that share it.
    `loads` and `modes` are those that it exists for. `of_saturated`: whether a lane that did not keep its rate has
    it. `shift_of` is the figure whose percentiles a shift subtracts. `with_rejected`: rejected runs count as well.
    """

    key: MetricKey
    kind: MetricKind
    unit: str
    label: str
    meaning: str
    short: str = ""
    group: str = ""
    phrase: str = ""
    of: tuple[Level, ...] = _BOTH
    merge: Merge = "median"
    modes: tuple[str, ...] = ("plain", "stream")
    loads: LoadScope = "timed"
    needs: tuple[Need, ...] = ()
    of_saturated: bool = True
    shift_of: TimeKey | None = None
    with_rejected: bool = False


_TIME_METRICS: tuple[Metric, ...] = (
    Metric("response_ms", "time", "ms", "Response time", "End minus intended start; of clients the service time.",
           short="resp.", needs=("samples",)),
    Metric("service_ms", "time", "ms", "Service time", "End minus actual start.", short="service",
           needs=("samples",)),
    Metric("ttfb_ms", "time", "ms", "TTFB", "First body byte minus actual start.", needs=("samples",)),
    Metric("ttft_ms", "time", "ms", "TTFT", "First content of a stream minus actual start.", modes=_STREAM_ONLY,
           needs=("trace",)),
    Metric("gap_ms", "time", "ms", "Gap", "Time between the reads of two content events.", modes=_STREAM_ONLY,
           needs=("trace",)),
    Metric("added_ms", "time", "ms", "Added time", "Added time of non-streaming responses.", short="added",
           phrase="to non-streaming responses", modes=("plain",), needs=("trace",), of_saturated=False),
    Metric("added_first_ms", "time", "ms", "Added, first content",
           "Added time of streams to their first content.",
           short="+first", phrase="to the first content of streams", modes=_STREAM_ONLY, needs=("trace",),
           of_saturated=False),
    Metric("added_total_ms", "time", "ms", "Added, end", "Added time of streams to their end.", short="+end",
           phrase="to their end", modes=_STREAM_ONLY, needs=("trace",), of_saturated=False),
    Metric("added_with_rejected_ms", "time", "ms", "Added, with rejected",
           "Added time (of streams: to the first content) with the rejected runs that have figures.", of=_CELL,
           merge="own", needs=("trace",), of_saturated=False, with_rejected=True),
    Metric("request_path_ms", "time", "ms", "Request path",
           "First leg of the added time: request read by the provider minus first byte written.",
           needs=("trace",), of_saturated=False),
    Metric("response_path_ms", "time", "ms", "Response path",
           "Second leg of the added time: response (of a stream: first content) read minus its send.",
           needs=("trace",), of_saturated=False),
    Metric("drift_first_ms", "value", "ms", "Added, first third",
           "Median added time (of streams: to the first content) of the first third of a window.",
           short="first third", needs=("trace",), of_saturated=False),
    Metric("drift_last_ms", "value", "ms", "Added, last third", "The same of the last third.", short="last third",
           needs=("trace",), of_saturated=False),
    Metric("drift_t", "number", "t", "Drift",
           "Student's t of the medians of eight batches of each of the two thirds; above 0 where times rose.",
           of=_RUN, needs=("trace",)),
    Metric("forwarding_ms", "time", "ms", "Forwarding delay", "Read time minus send time of each chunk.",
           modes=_STREAM_ONLY, needs=("trace",)),
    Metric("gap_distortion_ms", "time", "ms", "Gap distortion", "|Gap as read minus gap as sent|, pair by pair.",
           modes=_STREAM_ONLY, needs=("trace",)),
    Metric("shift_ms", "time", "ms", "Shift",
           "Percentile of the response time through the gateway minus the same percentile direct.",
           short="shift", of=_CELL, merge="own", needs=("baseline",), of_saturated=False,
           shift_of="response_ms"),
    Metric("shift_with_rejected_ms", "time", "ms", "Shift, with rejected",
           "The shift with the rejected runs that have figures.", of=_CELL, merge="own", needs=("baseline",),
           of_saturated=False, shift_of="response_ms", with_rejected=True),
    Metric("service_shift_ms", "time", "ms", "Shift of service time",
           "Shift of the service time, which the generator's own lateness is no part of.", of=_CELL, merge="own",
           needs=("baseline",), of_saturated=False, shift_of="service_ms"),
    Metric("ttfb_shift_ms", "time", "ms", "Shift of TTFB", "Shift of the time to first byte.", of=_CELL,
           merge="own", needs=("baseline",), of_saturated=False, shift_of="ttfb_ms"),
    Metric("self_reported_ms", "time", "ms", "Self-reported",
           "The gateway's own overhead header, in the requests of the probe behind the added time.", of=_CELL,
           needs=("trace", "header")),
    Metric("self_reported_difference_ms", "time", "ms", "Added − reported",
           "Added time (of streams: to the first content) minus the self-reported overhead, run by run.", of=_CELL,
           merge="own", needs=("trace", "header"), of_saturated=False),
    Metric("dispatch_lag_ms", "time", "ms", "Dispatch lag",
           "Actual start minus release by the generator's pacer.", short="lag", needs=("samples",)),
    Metric("release_lateness_ms", "time", "ms", "Release lateness", "Release by the pacer minus the ideal grid.",
           short="late", needs=("samples",)),
    Metric("connect_ms", "time", "ms", "Connect",
           "Time to open each connection that the probe's requests needed: in no bracket of added time.",
           needs=("trace",)),
)  # fmt: skip

_RATES: tuple[Metric, ...] = (
    Metric("offered_rps", "number", "1/s", "Offered", "Requests per second asked for; null for clients.", of=_RUN,
           short="offered"),
    Metric("achieved_rps", "value", "1/s", "Achieved",
           "Of a rate: offered × share answered when the schedule ended; of clients: answers ÷ time while all were "
           "busy; of a cut run answered ÷ wall.", short="achieved"),
    Metric("achieved_from", "word", "", "Achieved from",
           "What the achieved rate was taken from: samples or totals.",
           of=_RUN),
    Metric("goodput_rps", "value", "1/s", "Goodput", "Answered with 2xx and whole, per second; "
           "within the bounds of its matrix where that states some.",
           short="goodput"),
    Metric("baseline_distance_s", "value", "s", "Distance to the baseline",
           "Time between the middle of a run and that of the accepted direct run of its block that lies nearest and "
           "is compared with it.", short="direct away", of=_CELL, merge="own", needs=("baseline",)),
    Metric("littles_rps", "number", "1/s", "N ÷ mean", "N ÷ mean service time for N clients; null for one.",
           short="N ÷ mean", of=_CELL, merge="own", needs=("samples",)),
    Metric("rate_error_ratio", "number", "error", "Send-rate error",
           "Achieved send rate ÷ offered − 1, from the samples; of a cell the worst run.",
           short="send-rate error", merge="worst", needs=("samples",)),
    Metric("prompts_repeated_ratio", "value", "ratio", "Prompts repeated",
           "Share of the requests sent whose prompt an earlier one of the window had.", short="prompts repeated",
           of=_CELL, loads="every", needs=("provider",)),
    Metric("request_count", "count", "count", "Requests",
           "Requests behind the percentiles, over the accepted runs.", merge="sum", loads="every"),
    Metric("trimmed_count", "count", "count", "Left out",
           "Requests left out of every time: warm-up, and one for each connection.", of=_RUN),
    Metric("error_count", "count", "count", "Errors",
           "Answers that are no 2xx, failures, and streams with chunks wrong; of a cell over all attempts.",
           merge="sum", loads="every", with_rejected=True),
    Metric("looked_at_count", "count", "count", "Looked at",
           "Requests whose content was looked at, where neither all were nor every size is known; else null.",
           merge="sum", needs=("trace",)),
    Metric("in_flight_max_count", "count", "count", "In flight", "Most requests open at one time.", merge="max",
           loads="every"),
    Metric("late_turn_count", "count", "count", "Late turns",
           "Turns of the probe's own loop that came more than 2 ms late.", merge="sum", needs=("trace",)),
    Metric("late_response_count", "count", "count", "Responses in late turns",
           "Good responses with an instant of their own (send, first content, end) in a late turn; none is left out.",
           merge="sum", needs=("trace",)),
)  # fmt: skip

_STREAMS: tuple[Metric, ...] = (
    Metric("coalesced_ratio", "value", "ratio", "Pairs in one read",
           "Events in one read with the one before, of those sent 1 ms apart or more.", short="in one read",
           modes=_STREAM_ONLY, needs=("trace",)),
    Metric("stall_count", "value", "count", "Stalls in a run",
           "Gaps above ten times the provider's own, and streams that hung.", short="stalls", modes=_STREAM_ONLY,
           needs=("trace",)),
    Metric("buffering", "word", "", "Buffering",
           "Buffering verdict of a stream; of a cell against its baseline. Null where there is none.",
           short="buffering", merge="own", modes=_STREAM_ONLY, needs=("trace",)),
    Metric("bunching", "bunching", "", "Bunching", "Counts behind the buffering verdict.", merge="added",
           modes=_STREAM_ONLY, needs=("trace",)),
    Metric("fidelity", "fidelity", "", "Fidelity", "How many responses came unchanged.", short="fidelity",
           merge="added", needs=("trace",)),
    Metric("end_marker_ratio", "value", "ratio", "Streams with end marker",
           "Streams that ended with [DONE], of those that began well.", short="end marker", modes=_STREAM_ONLY,
           needs=("trace",)),
    Metric("connections_per_request", "value", "1/request", "Connections per request",
           "Connections that the probe's requests had to open, of all of them.", short="opened", needs=("trace",)),
    Metric("first_request_ms", "value", "ms", "First request",
           "Added time (of streams: to the first content) of the one request that a gateway served first in this "
           "mode after its start, before any warm-up.", short="first", of=_CELL, needs=("trace",)),
    Metric("stamps", "stamps", "", "Whole stamps",
           "What became of the provider's stamps; of a cell over all attempts.", short="whole stamps",
           merge="added", needs=("trace",), with_rejected=True),
    Metric("usage", "usage", "", "Token usage",
           "How responses tell the token usage, against what the provider sent.", short="token usage",
           merge="added", needs=("trace",)),
    Metric("request_changes", "words", "", "Request changed",
           "What the gateway changed in a request before the provider got it, as the preflight saw it.", of=_CELL,
           merge="union", loads="every"),
)  # fmt: skip

_COSTS: tuple[Metric, ...] = (
    Metric("cpu_ms_per_request", "value", "ms", "CPU, ms",
           "CPU of the process tree per request, less what it uses idle.", short="CPU", group=PER_REQUEST, of=_CELL,
           needs=("usage",)),
    Metric("cpu_uncertainty_ms", "value", "ms", "CPU, ±",
           "What the spread of idle use leaves open of the CPU per request, 95 %.", of=_CELL, needs=("usage",)),
    Metric("cpu_idle_cores", "value", "cores", "idle CPU",
           "CPU of the warm tree without a request, before and after the visit, in cores.", of=_CELL,
           loads="every", needs=("usage",)),
    Metric("cpu_slope_ms", "value", "ms", "CPU slope (ms)",
           "CPU that one more request takes: slope over the rates of a block, without any look at idle use.",
           group=PER_REQUEST, of=_CELL, merge="own", needs=("usage",)),
    Metric("busy_ratio", "value", "ratio", "busy",
           "CPU per request × achieved rate ÷ its cores, idle use included; of one thread its core.", short="busy",
           of=_CELL, needs=("usage",)),
    Metric("cpu_from", "words", "", "CPU from", "What counted the CPU in the accepted runs.", of=_CELL,
           merge="union", loads="every", needs=("usage",)),
    Metric("context_switches_per_request", "value", "1/request", "context switches",
           "Context switches of the process tree per request.", group=PER_REQUEST, of=_CELL, needs=("usage",)),
    Metric("admission_calls_per_request", "value", "1/request", "control-plane calls in the path",
           "Control-plane calls per request that it waits for.", short="calls in the path", group=PER_REQUEST,
           of=_CELL, loads="every", needs=("control_plane",)),
    Metric("background_calls_per_request", "value", "1/request", "control-plane calls beside it",
           "Control-plane calls per request that it does not wait for, after the drain.", short="calls beside it",
           group=PER_REQUEST, of=_CELL, loads="every", needs=("control_plane",)),
    Metric("upstream_calls_per_request", "value", "1/request", "provider calls", "Provider calls per request.",
           group=PER_REQUEST, of=_CELL, loads="every", needs=("provider",)),
    Metric("flushes_per_request", "value", "1/request", "disk flushes",
           "Flushes of the whole device per request, whoever made them.", group=PER_REQUEST, of=_CELL,
           needs=("usage",)),
    Metric("flush_idle_rps", "value", "1/s", "idle flushes",
           "Flushes a second of that device without a request.", of=_CELL, loads="every", needs=("usage",)),
    Metric("rss_idle_bytes", "value", "bytes", "idle", "Resident memory before the window.", group="RSS",
           of=_CELL, loads="every", needs=("usage",)),
    Metric("rss_peak_bytes", "value", "bytes", "peak", "Peak resident memory.", group="RSS", of=_CELL,
           loads="every", needs=("usage",)),
    Metric("rss_peak_from", "words", "", "Peak from",
           "Whether the peaks are of the window or since the processes' start.", of=_CELL, merge="union",
           loads="every", needs=("usage",)),
    Metric("rss_after_bytes", "value", "bytes", "after", "Resident memory after the drain.", group="RSS",
           of=_CELL, loads="every", needs=("usage",)),
    Metric("pss_idle_bytes", "value", "bytes", "idle", "Memory before the window, shared pages shared out.",
           group="PSS", of=_CELL, loads="every", needs=("usage",)),
    Metric("pss_after_bytes", "value", "bytes", "after", "Memory after the drain, shared pages shared out.",
           group="PSS", of=_CELL, loads="every", needs=("usage",)),
    Metric("memory_per_stream_bytes", "value", "bytes", "per open stream",
           "Memory that one more open stream takes: slope over the steps, of each run; median and interval.",
           group="Memory", of=_CELL, merge="own", loads="open_streams", needs=("usage",)),
    Metric("drain_s", "value", "s", "event drain", "Time until no event was undelivered, after the window.",
           of=_CELL, loads="every", needs=("control_plane",)),
    Metric("undelivered_at_end_count", "count", "count", "Undelivered",
           "Largest number of undelivered events at a window's end.", of=_CELL, merge="max", loads="every",
           needs=("control_plane",)),
)  # fmt: skip


METRICS: Mapping[MetricKey, Metric] = MappingProxyType(
    {one.key: one for one in (*_TIME_METRICS, *_RATES, *_STREAMS, *_COSTS)}
)


def metrics_of(level: Level) -> tuple[Metric, ...]:
    """Return the figures of runs or of cells, in the order of the catalogue."""
    return tuple(one for one in METRICS.values() if level in one.of)
