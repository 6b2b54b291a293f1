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
    "prompts_repeated": "The provider saw fewer distinct prompts than drawing with replacement explains.",
    "counts_differ": "Arithmetic check failed: the counts of a run do not add up.",
    "not_monotone": "Arithmetic check failed: a higher percentile is smaller than a lower one.",
    "littles_law": "Arithmetic check failed: N ÷ mean and the achieved rate differ by more than 5 %.",
    "memory_order": "Arithmetic check failed: peak memory is below idle memory.",
    "shift_not_monotone": "A higher percentile of the shift is smaller than a lower one: percentiles of separate "
    "sets are subtracted.",
}


def ordered(flags: Iterable[str]) -> tuple[str, ...]:
    """The flags without repeats in the order of `FLAGS`; those of a record that are not in it follow by name."""
    found = set(flags)
    return (*(flag for flag in FLAGS if flag in found), *sorted(found - set(FLAGS)))
