"""The counts of a wrk run and what they are worth: `ok`, `partial` or `void`.

wrk repeats a request at once when its connection breaks, without asking the schedule; a script with a guard counts
those repeats. Without that count a broken connection may have been a failed request.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from weighbridge.load.reports.fields import count, counts, section, successes
from weighbridge.load.wrk.samples import WrkSamples

Worth = tuple[Literal["ok", "partial", "void"], str | None]


@dataclass(frozen=True)
class WrkCounts:
    """Counts of one run. `sent_count` and `repeat_count` are None for a script without a guard.

    `failed` are sends that failed and were not repeated, by the script's own words.
    """

    scheduled_count: int | None
    thread_count: int
    sent_count: int | None
    repeat_count: int | None
    by_status: Mapping[str, int]
    tool_errors: Mapping[str, int]
    failed: Mapping[str, int]
    has_schedule: bool

    @property
    def answered_count(self) -> int:
        """Requests that got a response of any status."""
        return sum(self.by_status.values())

    @property
    def success_count(self) -> int:
        """Answers with a 2xx status."""
        return successes(self.by_status)

    @property
    def unresolved_count(self) -> int | None:
        """Scheduled, never answered and not known to have failed; a repeated send may yet have been answered."""
        if self.scheduled_count is None:
            return None
        return max(0, self.scheduled_count - self.answered_count - sum(self.failed.values()))

    @property
    def failed_by_class(self) -> dict[str, int] | None:
        """Failed sends by class, None for a script without a guard: it counts that they broke, not how."""
        if self.repeat_count is None:
            return None
        late = self.failed.get("timeout", 0)
        other = self.repeat_count + sum(self.failed.values()) - late
        return {name: amount for name, amount in (("timeout", late), ("other", other)) if amount}

    @property
    def broken_count(self) -> int:
        """Read and write errors: failed requests, idle closes and refused reconnections in one."""
        return self.tool_errors.get("read", 0) + self.tool_errors.get("write", 0)


def count_wrk(document: Mapping[str, Any]) -> WrkCounts:
    """Read the counts of one document of the script; InputError when a table of counts holds something else."""
    schedule = section(document, "schedule")
    return WrkCounts(
        scheduled_count=count(schedule.get("n")),
        thread_count=count(schedule.get("threads")) or 0,
        sent_count=count(document.get("sent")),
        repeat_count=count(document.get("resent")),
        by_status=counts(document, "status"),
        tool_errors=counts(document, "errors"),
        failed=counts(document, "failed"),
        # A closed loop of ours has no rate; scripts that tell none at all are taken by their samples.
        has_schedule="rate" not in schedule or schedule["rate"] is not None,
    )


def worth(found: WrkCounts, samples: WrkSamples | None) -> Worth:
    """Verdict and its reason (None for ok)."""
    if not found.answered_count:
        return "void", "nothing completed"
    if not found.success_count:
        return "void", "no response was a success: the times are those of errors"
    # A reconnect after an idle close reserves a second slot in a script without a queue: doubled slots show it.
    idle_closes = samples is not None and samples.doubled_count > 0
    if found.repeat_count is None and found.broken_count and not idle_closes:
        return (
            "void",
            f"{found.broken_count} connections broke and the script counts no repeats: nobody knows what was sent",
        )
    if found.scheduled_count is None:
        return "ok", None
    # Without the count of sends, no more than one request a thread can be under way.
    sent = found.sent_count if found.sent_count is not None else found.answered_count + found.thread_count
    if sent < found.scheduled_count:
        return "partial", f"{found.scheduled_count - sent} of {found.scheduled_count} slots were never sent"
    return "ok", None
