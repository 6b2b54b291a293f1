"""The flags: remarks on a run or a cell, each with the sentence that explains it.

Called by every module of this room and by the pages for their legend. A flag never changes a verdict or an
exit code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

FLAGS: Mapping[str, str] = {
    "few_samples": "A percentile has fewer than 10 samples beyond it in some run: shown with its rank, no figure.",
    "few_runs": "Fewer runs were accepted than the campaign wanted.",
    "floor_limited": "The direct lane's own p99 above the provider's time is more than 20 % of the shift's p50.",
    "ttfb_floor_limited": "The same for the shift of the time to first byte.",
    "floor_slow": "The direct lane's median under this load is more than twice its median with one client.",
    "generator_lag": "The generator's lag p99 is above 10 % of the smallest figure shown.",
    "mock_late": "The mock provider's lateness p99 is above 10 % of the smallest figure shown.",
    "rate_low": "Achieved is below 99 % of offered, but no backlog of 5 requests or more grew: the window is too "
    "short, or its last answers too late, to call the lane saturated.",
    "saturated_in_some_runs": "Some accepted runs did not keep the rate; most did.",
    "connections_full": "All connections were in use at one time.",
    "connections_unchecked": "Whether the connections or the lane limited the rate cannot be told without samples.",
    "timeouts": "Some requests of a saturated run waited longer than the time-out.",
    "uneven_answers": "Some answers were more than 10 % shorter than the usual one.",
    "loaded_machine": "Other work loaded the machine.",
    "load_unknown": "The one-minute load could not be read, so its limit was not checked.",
    "backlog_growing": "Undelivered events at the window's end exceed 5 % of its requests: events are made "
    "faster than they are delivered.",
    "no_inband": "The provider's stamp does not come through this lane.",
    "stamps_lost": "Some answers came without their stamp: they have no added time.",
    "stamps_unknown": "Some stamps are whole, but the provider has no record of them.",
    "retried": "The gateway called the provider more than once for some requests.",
    "probe_lagged": "More than 1 % of the answers are left out because the probe's own loop was late around them.",
    "answers_changed": "Some answers came with marks of their text damaged.",
    "events_merged": "Streams came whole, but in another number of events than the provider sent.",
    "stalls": "Some chunks came after more than ten times the provider's own gap.",
    "held_back": "Streams were open at the provider and gave the client no content yet: the lane holds answers back.",
    "added_floor_limited": "The direct lane's added p99 is more than 20 % of the added p50.",
    "prompts_repeated": "The provider saw fewer distinct prompts than drawing with replacement explains.",
    "counts_differ": "Arithmetic check failed: the counts of a run do not add up.",
    "not_monotone": "Arithmetic check failed: a higher percentile is smaller than a lower one.",
    "littles_law": "Arithmetic check failed: N ÷ mean and the achieved rate differ by more than 5 %.",
    "added_negative": "Arithmetic check failed: the median added time is below zero.",
    "delayed_ack": "Arithmetic check failed: the direct lane shows a step near 40 ms, as delayed acknowledgements "
    "make; the rig, not a gateway, holds answers back.",
    "driver_rate_differs": "Arithmetic check failed: the rate that the driver claims is not the rate of its samples, "
    "of its process's time or of the provider's arrivals.",
    "memory_order": "Arithmetic check failed: peak memory is below idle memory.",
    "shift_not_monotone": "A higher percentile of the shift is smaller than a lower one: percentiles of separate "
    "sets are subtracted.",
}


def ordered(flags: Iterable[str]) -> tuple[str, ...]:
    """The flags without repeats in the order of `FLAGS`; those of a record that are not in it follow by name."""
    found = set(flags)
    return (*(flag for flag in FLAGS if flag in found), *sorted(found - set(FLAGS)))
