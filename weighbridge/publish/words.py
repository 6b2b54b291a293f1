"""Wording: what the codes of the records are called on pages and in the terminal. Pure tables, thresholds stated.

A code that is not listed is shown with spaces for its underscores, so that a new one is plain, never lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from weighbridge.publish.clean import plain

MOCK_LABEL = "mock, not a product"

ADDED_TEXT = (
    "Added time is what one request took at the client minus what the provider itself took for it: (t1 − t0) − (send "
    "− recv), with the provider's two instants read from the answer's own text. It is measured request by request, "
    "so its percentiles are those of the time added. Of a stream there are two: to its first content and to its end."
)
ADDED_FLOOR_TEXT = (
    "The row of the floor, direct, shows what client, loopback and provider add by themselves by the same measure; "
    "nothing is subtracted from the others."
)
CLAIM_TEXT = "A claim is what a gateway reports of itself in a header of its answers; it is never a source of ours."
SHIFT_ALONE_TEXT = (
    "No driver of this campaign measured the added time of single requests, so the shift is the headline here."
)
SHIFT_TEXT = (
    "Shift is a percentile through the gateway minus the same percentile direct, paired within a block. It "
    "answers “how far did my p99 move”. It is biased as a percentile of the time that a gateway adds: it "
    "subtracts two separate sets of requests, so it can be negative, and it can fall as the percentile rises."
)
BOUND_TEXT = (
    "With more than one client at a time the response time is bounded by the throughput: each client waits for "
    "its answer, so N clients ÷ mean response time is what the lane serves. Both stand side by side; read such a row "
    "as a capacity, not as a cost per request."
)

GRADES: Mapping[str, str] = MappingProxyType(
    {
        "smoke": "no claims, for a smoke run only shows that the set-up works; its figures must not be quoted",
        "ci": "fit to notice a large change between two builds on this host, not to rank products",
        "standard": "fit for statements about this host and this configuration, with the intervals shown",
        "publish": "fit to publish for this host and this configuration, with the intervals shown",
    }
)

VERDICTS: Mapping[str, str] = MappingProxyType(
    {
        "valid": "valid",
        "saturated": "saturated",
        "rig_limited": "no figure: limit of the rig",
        "not_served": "not served",
        "not_supported": "not supported",
        "unavailable": "unavailable",
        "errored": "errored",
        "incomplete": "incomplete",
    }
)

VERDICT_MEANINGS: Mapping[str, str] = MappingProxyType(
    {
        "saturated": "the lane achieved less than 99 % of the offered rate; shown as “served X of Y per second”",
        "rig_limited": "load generator, mock or machine reached its own limit; nothing is said of the gateway",
        "not_served": "the gateway claims it, but a request tried before the window was not answered as it must be",
        "not_supported": "the gateway's recipe does not claim this chain or mode",
        "unavailable": "the gateway could not be installed or had on this machine",
        "errored": "requests failed, or the gateway crashed or never got ready",
        "incomplete": "fewer accepted runs than the matrix asks for",
    }
)

REASONS: Mapping[str, str] = MappingProxyType(
    {
        "gate_timeout": "the machine never got quiet before the run",
        "load_limit": "one-minute load above the matrix's limit",
        "steal": "CPU time stolen by the hypervisor",
        "throttled": "CPU throttled by its limits",
        "contended": "other work took the CPU",
        "generator_lag": "the load generator started requests late",
        "generator_failed": "the load generator failed",
        "rate_missed": "the load generator missed its rate",
        "connection_limited": "the cap on connections was reached",
        "generator_saturated": "the load generator reached its limit",
        "mock_saturated": "a mock reached its limit",
        "mock_failed": "a mock failed",
        "disk_full": "no space left on the disk",
        "port_taken": "a port was taken",
        "errors": "failed requests",
        "incomplete": "incomplete samples",
        "provider_count": "the provider saw another number of requests than the client sent",
        "crashed": "the gateway crashed",
        "never_ready": "the gateway never got ready",
        "not_served": "not served",
        "no_inband": "the provider's stamp did not come through",
        "cache_hit": "a cache answered in the provider's place",
    }
)

ABSENCES: Mapping[str, str] = MappingProxyType(
    {
        "not_measured": "not measured in this campaign",
        "not_claimed": "the gateway reports no overhead of its own",
        "no_inband": "the chain destroys the provider's stamp",
        "floor": "the floor is what the others are compared with",
        "is_floor": "the floor is what the others are compared with",
        "no_floor": "no accepted run of the floor in the same block",
        "no_runs": "no accepted run",
        "no_accepted_run": "no accepted run",
        "not_run": "not run",
        "not_rejected": "no attempt was rejected",
        "none_rejected": "no attempt was rejected",
        "no_first_byte": "the driver keeps no first-byte time for this mode",
        "closed_loop": "clients have no intended start",
        "totals_missing": "the driver gave no totals",
        "no_events": "this lane delivers no events",
        "no_control_plane": "this lane has no control plane",
        "not_counted": "not counted",
        "no_gateway": "this lane starts no process",
        "held_streams": "nothing is timed while streams are held open",
        "no_held_streams": "told where streams are held open",
        "process_ended": "a process of the gateway ended before it was read",
        "group_has_gone": "the gateway's control group was gone before it was read",
        "device_has_gone": "the device was gone before its counter was read",
        "kernel_does_not_tell": "the kernel does not tell",
        "kernel_does_not_count": "the kernel does not count flushes of this device",
        "kernel_keeps_none": "the kernel keeps no peak of it",
        "not_linux": "only Linux counts them",
        "no_device": "no block device lies under the state folder",
        "saturated": "the lane did not keep the rate",
        "errored": "the cell is errored",
        "incomplete": "the cell is incomplete",
        "rig_limited": "limit of the rig, not of the gateway",
        "not_served": "not served",
        "not_supported": "not supported",
        "unavailable": "unavailable",
    }
)

STATUSES: Mapping[str, str] = MappingProxyType(
    {
        "complete": "",
        "interrupted": "This campaign was interrupted: cells that were not reached say so.",
        "failed": "This campaign ended early: cells that were not reached say so.",
        "running": "This campaign is not finished: the figures may change.",
    }
)

CPU_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "cgroup2": "by a control group of its own (cgroup v2)",
        "cgroup1": "by a control group of its own (cgroup v1)",
        "process_clock": "by the CPU clocks of its processes (no control group of its own could be made)",
        "process_times": "from the process table, in its coarse ticks (no finer clock on this system)",
    }
)

FIDELITIES: Mapping[str, str] = MappingProxyType(
    {
        "events": "unchanged",
        "text": "text whole, events merged or split",
        "differs": "differs",
    }
)

_FALLBACK = "oha is not there"

PERCENTILE_WORDS = ("p50", "p95", "p99")


def spoken(code: str, table: Mapping[str, str]) -> str:
    """Sentence part of a code: what the table says, or a phrase as it is.

    Records also write `code: what happened`; what happened says more than the code.
    """
    known = table.get(code)
    if known is not None:
        return known
    head, _, rest = code.partition(": ")
    if rest and head in table:
        return plain(rest)
    return plain(code.replace("_", " ") if " " not in code else code)


def fallbacks(warnings: Sequence[str]) -> list[str]:
    """Those that say why another driver drove than the matrix asks for; they belong at the top."""
    return [text for text in warnings if text.startswith(_FALLBACK)]


def grade_text(grade: str) -> str:
    """What may be said of figures of this grade."""
    return spoken(grade, GRADES)
