"""The closed words of the records: verdicts, reasons, absences, flags and warnings, each in one table.

A code says which case it is and never changes its meaning; the free detail beside it is for people, and nothing
looks into it. What a code is called on pages stands here as well, so that no page has a table of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

Verdict = Literal[
    "valid", "saturated", "rig_limited", "not_served", "not_supported", "unavailable", "errored", "incomplete"
]
ReasonClass = Literal["rig", "gateway"]


@dataclass(frozen=True)
class VerdictEntry:
    """A verdict: whether it is an outcome to publish, its label, what it means, and why figures are absent by it."""

    publishable: bool
    label: str
    meaning: str
    absence: str = ""


VERDICTS: Mapping[Verdict, VerdictEntry] = MappingProxyType(
    {
        "valid": VerdictEntry(True, "valid", "as many accepted runs as the matrix asks for"),
        "saturated": VerdictEntry(
            True,
            "saturated",
            "the lane achieved less than 99 % of the offered rate; shown as “served X of Y per second”",
            "the lane did not keep the rate",
        ),
        "rig_limited": VerdictEntry(
            False,
            "no figure: limit of the rig",
            "load generator, mock or machine reached its own limit; nothing is said of the gateway",
            "limit of the rig, not of the gateway",
        ),
        "not_served": VerdictEntry(
            False,
            "not served",
            "the gateway claims it, but a request tried before the window was not answered as it must be",
            "not served",
        ),
        "not_supported": VerdictEntry(
            True, "not supported", "the gateway's recipe does not claim this chain or mode", "not supported"
        ),
        "unavailable": VerdictEntry(
            True,
            "unavailable",
            "the gateway could not be installed, is not available on this machine, or its files were changed",
            "unavailable",
        ),
        "errored": VerdictEntry(
            False, "errored", "requests failed, or the gateway crashed or never got ready", "the cell is errored"
        ),
        "incomplete": VerdictEntry(
            False, "incomplete", "fewer accepted runs than the matrix asks for", "the cell is incomplete"
        ),
    }
)


@dataclass(frozen=True)
class ReasonEntry:
    """A reason: whose doing it was, the verdict that it speaks for, its short text.

    `of_run` is false for one that is said of a whole cell, whether or not it had an attempt.
    """

    class_: ReasonClass
    verdict: Verdict
    text: str
    meaning: str
    of_run: bool = True


# METHOD section 5; nothing here looks at a measured overhead.
REASONS: Mapping[str, ReasonEntry] = MappingProxyType(
    {
        "load_limit": ReasonEntry(
            "rig",
            "rig_limited",
            "one-minute load above the matrix's limit",
            "The one-minute load before or after the window was at the matrix's limit or above it.",
        ),
        "steal": ReasonEntry(
            "rig",
            "rig_limited",
            "CPU time stolen by the hypervisor",
            "The hypervisor took more than 1 % of the CPU time of a calibration's block.",
        ),
        "generator_lag": ReasonEntry(
            "rig",
            "rig_limited",
            "the load generator started requests late",
            "The generator's lag p99 is more than half of the median response time.",
        ),
        "generator_failed": ReasonEntry(
            "rig",
            "rig_limited",
            "the load generator failed",
            "The load generator ended with an error, had to be killed, or left no report.",
        ),
        "rate_missed": ReasonEntry(
            "rig",
            "rig_limited",
            "the load generator missed its rate",
            "The generator released requests too slowly, or the direct lane itself did not keep the rate.",
        ),
        "connection_limited": ReasonEntry(
            "rig",
            "rig_limited",
            "the cap on connections was reached",
            "With twice the connections the lane achieves more than 3 % more.",
        ),
        "generator_saturated": ReasonEntry(
            "rig",
            "rig_limited",
            "the load generator reached its limit",
            "The load generator took more than 70 % of a core.",
        ),
        "client_limited": ReasonEntry(
            "rig",
            "rig_limited",
            "the load generator reached a limit of this machine",
            "Requests failed for want of ports, open files or memory, or because a name, a route or TLS could not be "
            "set up on the client's side: no doing of a gateway.",
        ),
        "mock_saturated": ReasonEntry(
            "rig",
            "rig_limited",
            "a mock reached its limit",
            "The mock provider took more than 70 % of a core, or answered late by more than half of the smallest "
            "figure.",
        ),
        "mock_failed": ReasonEntry(
            "rig", "rig_limited", "a mock failed", "A mock or another program of ours ended or never started."
        ),
        "errors": ReasonEntry(
            "gateway",
            "errored",
            "failed requests",
            "More than 0.1 % of the requests (below 1,000: any) failed, were answered with no 2xx, or were streams "
            "with chunks wrong or without an end.",
        ),
        "incomplete": ReasonEntry(
            "gateway",
            "incomplete",
            "incomplete samples",
            "Requests are without an outcome, or the lane stopped answering before the window's end.",
        ),
        "provider_count": ReasonEntry(
            "gateway",
            "errored",
            "the provider saw fewer requests than the client sent",
            "The provider received fewer requests than were sent, and failures do not explain it: a cache or an "
            "error answered in its place.",
        ),
        "crashed": ReasonEntry(
            "gateway", "errored", "the gateway crashed", "The gateway's process ended before the window or in it."
        ),
        "never_ready": ReasonEntry(
            "gateway",
            "errored",
            "the gateway never got ready",
            "The gateway did not keep answering its readiness request within the time that its recipe gives.",
        ),
        "not_served": ReasonEntry(
            "gateway",
            "not_served",
            "not served",
            "A request tried before the window was not answered as it must be.",
        ),
        "crossed_answers": ReasonEntry(
            "gateway",
            "errored",
            "responses given to the wrong request",
            "Responses carry the stamp of another request: they were given to the wrong one.",
        ),
        "cache_hit": ReasonEntry(
            "gateway",
            "errored",
            "a cache answered in the provider's place",
            "Answers are older than their request or were given twice, so no time of the cell is the gateway's.",
        ),
        "not_supported": ReasonEntry(
            "gateway",
            "not_supported",
            "not supported",
            "The gateway's recipe does not claim this chain or mode; nothing was run.",
            of_run=False,
        ),
        "unavailable": ReasonEntry(
            "rig",
            "unavailable",
            "unavailable",
            "The gateway could not be installed or found on this machine, or its files are no longer those that were "
            "installed or that the campaign began with.",
            of_run=False,
        ),
        "not_run": ReasonEntry(
            "rig", "incomplete", "not run", "The campaign did not come to this cell.", of_run=False
        ),
    }
)

# Why a figure does not exist. A cell without accepted runs has its verdict for the reason.
ABSENCES: Mapping[str, str] = MappingProxyType(
    {
        "not_measured": "not measured in this campaign",
        "not_self_reported": "the gateway reports no overhead of its own",
        "no_inband": "the chain destroys the provider's stamp",
        "baseline": "the baseline is what the others are compared with",
        "no_baseline": "no block has an accepted run of the cell and of the direct lane",
        "no_accepted_run": "no accepted run has this figure",
        "too_few_runs": "fewer than two thirds of the accepted runs have it",
        "totals_missing": "the driver gave no totals",
        "no_events": "this lane delivers no events",
        "no_control_plane": "this lane has no control plane",
        "not_counted": "not counted",
        "no_idle_look": "what the gateway uses idle was not looked at",
        "hidden_by_idle_use": "the window used no more CPU than idle use explains",
        "few_for_thirds": "too few answers for a first and a last third",
        "one_rate": "told where two rates were measured",
        "no_gateway": "this lane starts no process",
        "runs_elsewhere": "the gateway runs elsewhere: none of its processes is ours to read",
        "open_streams": "nothing is timed while streams are kept open",
        "no_open_streams": "only measured with open streams",
        "no_companion": "no companion probe ran beside the driver",
        "few_beside_driver": "the probe beside the driver has too few samples",
        "process_ended": "a process of the gateway ended before it was read",
        "group_has_gone": "the gateway's control group was gone before it was read",
        "no_group": "no control group of its own could be made",
        "device_has_gone": "the device was gone before its counter was read",
        "not_reported_by_kernel": "not reported by the kernel",
        "not_counted_by_kernel": "the kernel does not count flushes of this device",
        "kernel_keeps_none": "the kernel keeps no peak of it",
        "not_linux": "only Linux counts them",
        "no_device": "no block device lies under the state folder",
        "no_disk_named": "no disk named",
        "no_samples": "no samples: the driver did not keep them",
        "all_left_out": "no request is left besides those that opened a connection",
        "cut": "cut: requests without a response have no time",
        "not_reported_by_driver": "not reported by the driver",
        "no_schedule": "clients have no intended start",
        "no_chunks_kept": "the driver kept no events",
        "not_a_stream": "non-streaming responses have no chunks",
        "two_added_times": "a stream has two added times: to its first content and to its end",
        "one_event": "no stream has two content events",
        "no_good_response": "no good response is left",
        "no_content_events": "no content events",
        "gaps_too_short": "gaps below 1 ms: reads merge by nature",
        "too_few_pairs": "too few neighbouring chunks to judge",
        "no_response": "no answer",
        "no_body": "no body",
        "no_sample": "no sample",
        "no_success": "no success",
        "non_2xx_mixed": "non 2xx mixed",
        "not_reported": "not reported",
        "not_reported_by_this_version": "not reported by this version",
        "not_reported_by_wrk": "not reported by wrk",
        "no_sample_beyond": "no sample lies beyond this percentile",
        "one_client": "only with more than one client",
        "no_mean": "no mean service time",
        "no_rate": "clients have no rate to miss",
        "not_looked_for": "not looked for",
        "not_ended": "the campaign has not ended",
        "no_certificate": "no calibration in this results folder",
        "certificate_does_not_hold": "the newest certificate does not hold for this campaign",
        **{code: entry.absence for code, entry in VERDICTS.items() if entry.absence},
    }
)

# Remarks on a run or a cell. A flag never changes a verdict or an exit code.
FLAGS: Mapping[str, str] = MappingProxyType(
    {
        "few_samples": "A percentile has fewer than 10 samples beyond it in some run: shown with its rank, no "
        "figure.",
        "not_steady": "Times minus the provider's own were still moving when the warm-up was over: the lane may not "
        "have been warm.",
        "drifts": "Added time in the last third of the windows differs from that in the first by more than 5 % and "
        "0.1 ms, and by more than chance: percentiles mix the two.",
        "few_runs": "Fewer runs were accepted than the campaign wanted.",
        "failed_in_some_runs": "Requests failed in some windows, or the gateway spoiled them, too few to call the "
        "cell errored; its figures are of the windows that count.",
        "figures_of_some_runs": "Some accepted runs lack a figure that the others have: it says of how many it is.",
        "baseline_limited": "The direct lane's own p99 above the provider's time is more than 20 % "
        "of the shift's p50.",
        "ttfb_baseline_limited": "The same for the shift of the time to first byte.",
        "baseline_slow": "The direct lane's median under this load is more than twice its median with one client.",
        "generator_lag": "The generator's lag p99 is above 10 % of the smallest difference shown: the p50 of an "
        "added time or of the shift.",
        "mock_late": "The mock provider's lateness p99 is above 10 % of the smallest difference shown: the p50 of an "
        "added time or of the shift.",
        "backlogged": "When the schedule ended, 5 requests or more and 1 % of all were unanswered, but the lane had "
        "caught up in between: it is not called saturated.",
        "saturated_in_some_runs": "Some accepted runs did not keep the rate; most did.",
        "connections_full": "All connections were in use at one time.",
        "connections_unchecked": "Whether the connections or the lane limited the rate cannot be told without "
        "samples.",
        "timeouts": "Some requests of a saturated run waited longer than the time-out.",
        "loaded_machine": "Other processes were using the CPU during the runs.",
        "load_unknown": "The one-minute load could not be read, so its limit was not checked.",
        "backlog_growing": "Undelivered events at the window's end exceed 5 % of its requests: events are made "
        "faster than they are delivered.",
        "no_inband": "The provider's stamp does not come through this lane.",
        "no_keep_alive": "Connections were opened anew: more than were ever needed at once, by more than 5 % of the "
        "requests.",
        "ready_early": "The gateway said that it is ready, and refused its first requests for a while: they were "
        "tried again within the recipe's `ready.within`, before anything was measured.",
        "stamps_lost": "Some responses came without their stamp: they have no added time.",
        "stamps_unknown": "Some stamps are whole, but the provider has no record of them.",
        "repeated_answers": "One response was given to several requests that were open at the same time.",
        "usage_differs": "Some responses tell another token usage than the provider sent, or none.",
        "retried": "The gateway called the provider more than once for some requests.",
        "probe_late": "Late turns of the probe's own loop may have moved a percentile by more than 2 % or 20 µs at "
        "p50, 5 % or 100 µs above: it is shown as between a and b (a–b in the terminal), and kept out of sentences, "
        "intervals and comparisons.",
        "responses_changed": "Some responses came with marks of their text damaged.",
        "events_merged": "Streams came whole, but in another number of events than the provider sent.",
        "stalls": "Some chunks came after more than ten times the provider's own gap.",
        "buffered": "Streams were open at the provider and gave the client no content yet: the lane buffers "
        "responses.",
        "added_baseline_limited": "The direct lane's added p99 is more than 20 % of the added p50.",
        "prompts_repeated": "The provider saw fewer distinct prompts than drawing with replacement explains.",
        "counts_differ": "Arithmetic check failed: the counts of a run do not add up.",
        "not_monotone": "Arithmetic check failed: a higher percentile is smaller than a lower one.",
        "few_requests_per_client": "Fewer than 100 requests of each client were measured, in less than 60 s: the "
        "achieved rate rests on few rounds.",
        "littles_law": "Arithmetic check failed: while the achieved rate was counted, the requests open on average "
        "differ from the number of clients by more than 5 % (Little's law).",
        "added_above_response": "Arithmetic check failed: the added p50 is above the response p50 less the "
        "provider's time; the two are of different requests.",
        "added_negative": "Arithmetic check failed: the median added time is below zero.",
        "delayed_ack": "Arithmetic check failed: the direct lane shows a step near 40 ms, as delayed "
        "acknowledgements "
        "make; the rig, not a gateway, holds responses back.",
        "driver_rate_differs": "Arithmetic check failed: the rate that the driver claims is not the rate of its "
        "samples, "
        "of its process's time or of the provider's arrivals.",
        "memory_order": "Arithmetic check failed: peak memory is below idle memory.",
        "idle_cpu_large": "What the gateway uses idle, which is subtracted, is more than 20 % of its CPU per "
        "request.",
        "shift_not_monotone": "A higher percentile of the shift is smaller than a lower one: percentiles of separate "
        "sets are subtracted.",
    }
)


@dataclass(frozen=True)
class WarningEntry:
    """What weakens a campaign's figures before it starts; one that leads stands at the head of every page."""

    text: str
    leads: bool = False


WARNINGS: Mapping[str, WarningEntry] = MappingProxyType(
    {
        "driver_replaced": WarningEntry("Another driver drove than the matrix asks for.", leads=True),
        "runs_below_grade": WarningEntry("Fewer runs are wanted than the grade asks for."),
        "requests_below_percentile": WarningEntry("A window has too few requests for a percentile."),
        "connections_few": WarningEntry("The cap on connections leaves little room at the offered rate."),
        "chain_not_claimed": WarningEntry("The subject does not claim a chain of the matrix."),
    }
)


def ordered_flags(flags: Iterable[str]) -> tuple[str, ...]:
    """Return the flags without repeats in the order of `FLAGS`; KeyError for one that does not exist."""
    place = {flag: number for number, flag in enumerate(FLAGS)}
    return tuple(sorted(set(flags), key=place.__getitem__))
