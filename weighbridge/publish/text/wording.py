"""Wording of pages and terminal beside the tables of `record.codes`: grades, statuses, sources, reasons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from weighbridge.judge.run.sentences import failed_text
from weighbridge.matrix.model import Grade
from weighbridge.matrix.requests import GoodputBounds
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.record.coded import CampaignWarning
from weighbridge.record.codes import FLAGS, REASONS
from weighbridge.record.figures import Absent
from weighbridge.record.summary import CellSummary

ADDED_TEXT = (
    "Added time is what one request took at the client minus what the provider itself took for it: (t1 − t0) − (send "
    "− recv), with the provider's two instants read from the answer's own text. It is measured request by request, "
    "so its percentiles are those of the time added. Of a stream there are two: to its first content and to its end."
)
ADDED_BASELINE_TEXT = (
    "The row of the baseline, direct, shows what client, loopback and provider add by themselves by the same "
    "measure; nothing is subtracted from the others."
)
SELF_REPORTED_TEXT = (
    "Self-reported is what a gateway says of itself in a header of its responses, in the same requests as the added "
    "time beside it; it is never a source of ours."
)
SHIFT_ALONE_TEXT = (
    "No driver of this campaign measured the added time of single requests, so the shift is the headline here."
)
SHIFT_TEXT = (
    "Shift is a percentile through the gateway minus the same percentile direct, paired run by run with the nearest "
    "direct run of its block. It answers “how far did my p99 move”. It is biased as a percentile of the time that a "
    "gateway adds: it subtracts two separate sets of requests, so it can be negative, and it can fall as the "
    "percentile rises."
)
DISTANCE_TEXT = (
    "Below the runs stands how far in time the direct run lay that a run is compared with, the nearest of its block "
    "(median)."
)
BOUND_TEXT = (
    "With more than one client at a time the response time is bounded by the throughput: each client waits for "
    "its response, so N clients ÷ mean response time is what the lane serves. Both stand side by side; read such a "
    "row as a capacity, not as a cost per request."
)

GRADES: Mapping[Grade, str] = MappingProxyType(
    {
        "smoke": "no claims, for a smoke run only shows that the set-up works; its figures must not be quoted",
        "ci": "fit to notice a large change between two builds on this host, not to rank products",
        "standard": "fit for statements about this host and this configuration, with the intervals shown",
        "publish": "fit to publish for this host and this configuration, with the intervals shown",
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


def goodput_text(bounds: GoodputBounds | None) -> str:
    """Return within which bounds responses count as goodput, in a sentence; empty where none are stated."""
    if bounds is None:
        return ""
    parts = []
    if bounds.ttft_s is not None:
        parts.append(f"the first content of a stream within {numbers.duration(bounds.ttft_s)}")
    if bounds.end_s is not None:
        parts.append(f"the end within {numbers.duration(bounds.end_s)}")
    if not parts:
        return ""
    return f"Goodput counts good responses that came in time, from their intended start: {numbers.listed(parts)}."


def grade_text(grade: Grade) -> str:
    """Return what may be said of figures of this grade."""
    return GRADES[grade]


def absence_text(absent: Absent) -> str:
    """Return why a figure does not exist: what happened, or what the code means."""
    return plain(absent.text)


def leading(warnings: Sequence[CampaignWarning]) -> list[str]:
    """Return the warnings that belong at the top of a page, each a sentence."""
    return [f"{plain(one.text).rstrip('.')}." for one in warnings if one.leads]


def flag_text(cell: CellSummary, flag: str) -> str:
    """Return what a flag of a cell means, with what failed where it says that something did."""
    of_cell = {"failed_in_some_runs": failed_remark, "drifts": drift_remark}
    own = of_cell[flag](cell) if flag in of_cell else ""
    return f"{own}. {FLAGS[flag]}" if own else FLAGS[flag]


def drift_remark(cell: CellSummary) -> str:
    """Return `added time fell from 8.85 to 5.08 ms within the windows` of a cell that drifts; else empty."""
    first_ms, last_ms = cell.known("drift_first_ms"), cell.known("drift_last_ms")
    if "drifts" not in cell.flags or first_ms is None or last_ms is None:
        return ""
    moved = "rose" if last_ms > first_ms else "fell"
    return f"added time {moved} from {numbers.ms(first_ms)} to {numbers.ms(last_ms)} ms within the windows"


def failed_remark(cell: CellSummary) -> str:
    """Return `failed in 3 of 6 windows, 5 of 9,000 requests (…)` of a cell that has figures; else empty."""
    if cell.failed is None or "failed_in_some_runs" not in cell.flags:
        return ""
    return f"failed in {failed_text(cell.failed)}"


def reason_text(cell: CellSummary, status: str) -> str:
    """Tell how many runs were accepted where fewer than wanted, and why a cell has no figures; empty for neither.

    `status` is the campaign's.
    """
    reason = cell.reason
    if reason is not None and not REASONS[reason.code].of_run:
        return plain(reason.detail or reason.text)
    parts = []
    if reason is not None or cell.runs_accepted < cell.runs_wanted:
        parts.append(_accepted_text(cell, status))
    if reason is not None:
        parts.append(f"{reason.code}: {reason.detail}")
    return plain("; ".join(parts))


def _accepted_text(cell: CellSummary, status: str) -> str:
    text = f"{cell.runs_accepted} of {cell.runs_attempted} runs accepted, {cell.runs_wanted} wanted"
    return text if status == "complete" else f"{text} (campaign {status})"
