"""Codes for what documents of the first versions said in phrases.

Those documents had nothing but sentences for many absences, cells and warnings: this is the one place that looks
into them, and it never changes again. What it does not know is kept whole as the detail of a general code.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weighbridge.record.codes import FLAGS, REASONS

Raw = Mapping[str, Any]

# Codes that were codes from the first.
_FIRST_CODES = frozenset(
    {
        *("not_measured", "not_claimed", "not_told", "no_inband", "floor", "no_floor", "totals_missing", "no_events"),
        *("no_control_plane", "not_counted", "no_gateway", "held_streams", "no_held_streams", "process_ended"),
        *("group_has_gone", "device_has_gone", "kernel_does_not_tell", "kernel_does_not_count", "kernel_keeps_none"),
        *("not_linux", "no_device", "no_disk_named", "no_answer", "no_body", "no_sample", "no_success"),
        *("non_2xx_mixed", "not_reported", "not_reported_by_this_version", "not_reported_by_wrk", "not_looked_for"),
        *("saturated", "errored", "incomplete", "rig_limited", "not_served", "not_supported", "unavailable"),
    }
)
_PHRASES: Mapping[str, str] = {
    "is_floor": "baseline",
    "valid": "not_measured",
    "no samples: the driver did not keep them": "no_samples",
    "no request is left besides those that opened a connection": "all_left_out",
    "cut: requests without an answer have no time": "cut",
    "the driver does not tell it": "not_reported_by_driver",
    "no schedule": "no_schedule",
    "the driver kept no events": "no_chunks_kept",
    "plain answers have no chunks": "not_a_stream",
    "a stream has two added times: to its first content and to its end": "two_added_times",
    "no stream has two content events": "one_event",
    "no good answer is left": "no_good_response",
    "no content events": "no_content_events",
    "gaps below 1 ms: reads merge by nature": "gaps_too_short",
    "no accepted run has this figure": "no_accepted_run",
    "the campaign has not ended": "not_ended",
    "no calibration in this results folder": "no_certificate",
    "the kernel does not tell": "not_reported_by_kernel",
}
# Codes, of absences and of flags, whose words have changed since.
_RENAMED_CODES: Mapping[str, str] = {
    "floor": "baseline",
    "no_floor": "no_baseline",
    "not_claimed": "not_self_reported",
    "not_told": "not_reported",
    "no_answer": "no_response",
    "answers_changed": "responses_changed",
    "uneven_answers": "uneven_responses",
    "kernel_does_not_tell": "not_reported_by_kernel",
    "kernel_does_not_count": "not_counted_by_kernel",
    "held_streams": "open_streams",
    "no_held_streams": "no_open_streams",
    "held_back": "buffered",
    "floor_limited": "baseline_limited",
    "ttfb_floor_limited": "ttfb_baseline_limited",
    "floor_slow": "baseline_slow",
    "added_floor_limited": "added_baseline_limited",
}
_BEGINNINGS: Mapping[str, str] = {
    "the probe beside the driver has": "few_beside_driver",
    "the probe that should ride along": "no_companion",
    "a probe beside the driver would": "no_companion",
    "off: the matrix wants no probe": "no_companion",
    "that of ": "certificate_does_not_hold",
}
_WARNING_CODES: Mapping[str, str] = {
    "so the built-in probe drives": "driver_replaced",
    "asks for": "runs_below_grade",
    "connections are few": "connections_few",
    "does not claim the chain": "chain_not_claimed",
}
# For cells whose rejected attempts are not listed.
_BY_VERDICT: Mapping[str, str] = {"errored": "errors", "not_served": "not_served", "rig_limited": "generator_failed"}
# Documents of these keys told in free words, and still do.
_FREE_TEXT_KEYS = frozenset({"host", "mock_ceiling_rps", "floors"})


def with_absences(raw: Any) -> Any:
    """Return a part of a document whose absences are codes with details."""
    if isinstance(raw, list):
        return [with_absences(one) for one in raw]
    if not isinstance(raw, dict):
        return raw
    if set(raw) == {"absent"} and isinstance(raw["absent"], str):
        return absence(raw["absent"])
    found = {key: value if key in _FREE_TEXT_KEYS else with_absences(value) for key, value in raw.items()}
    if isinstance(found.get("absent"), dict):
        found["absent"] = {key: absence(text) for key, text in found["absent"].items()}
    return found


def absence(text: str) -> dict[str, str]:
    """Return the code and the detail of one absence."""
    head, _, rest = text.partition(": ")
    if text in _FIRST_CODES:
        return {"absent": _RENAMED_CODES.get(text, text), "detail": ""}
    if text in _PHRASES:
        return {"absent": _PHRASES[text], "detail": ""}
    if rest and head in _FIRST_CODES:
        return {"absent": _RENAMED_CODES.get(head, head), "detail": "" if head in ("floor", "no_floor") else rest}
    code = next((code for beginning, code in _BEGINNINGS.items() if text.startswith(beginning)), "not_measured")
    return {"absent": code, "detail": text}


def reason(code: str | None, detail: str | None) -> dict[str, str]:
    """Return a reason; codes that nothing ever produced become the general one."""
    known = code if code is not None and code in REASONS else "incomplete"
    return {"code": known, "class": REASONS[known].class_, "detail": detail or ""}


def reason_of_cell(cell: Raw) -> dict[str, str] | None:
    """Return why a cell of a summary has no figures: by its verdict and what was rejected."""
    verdict = cell["verdict"]
    if verdict in ("valid", "saturated"):
        return None
    if verdict in ("not_supported", "unavailable"):
        return reason(verdict, cell["reason"])
    if not cell["runs_attempted"]:
        return reason("not_run", cell["reason"])
    fitting = [one for one in cell["rejected"] if one["reason"] in REASONS]
    speaking = [one for one in fitting if REASONS[one["reason"]].verdict == verdict] or fitting
    if speaking:
        return reason(speaking[0]["reason"], speaking[0]["example"])
    return reason(_BY_VERDICT.get(verdict), cell["reason"])


def flags(raw: Raw) -> list[str]:
    """Return the flags that are still ones."""
    named = (_RENAMED_CODES.get(flag, flag) for flag in raw["flags"])
    return [flag for flag in named if flag in FLAGS]


def warning(text: str) -> dict[str, str]:
    """Return the code and the detail of one warning."""
    code = next((code for part, code in _WARNING_CODES.items() if part in text), "requests_below_percentile")
    return {"code": code, "detail": text}
