"""The counts of an oha run against its plan, and how far its report can be used: `ok`, `partial` or `void`.

It looks at counts, never at how good a time is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weighbridge.errors import InputError
from weighbridge.load.oha.argv import OhaArguments
from weighbridge.load.oha.totals import OhaTotals
from weighbridge.load.reports.failures import by_class
from weighbridge.load.reports.spreads import Spread

# Under a time limit the arrival that falls on the limit itself is normally not sent.
ON_THE_DEADLINE_COUNT = 1
# A run that ended before this share of its time limit was interrupted.
_WHOLE_RUN_SHARE = 0.95


@dataclass(frozen=True)
class OhaCounts:
    """What became of the scheduled requests; None where neither output nor plan tells.

    `unresolved_count` is scheduled minus answered minus failed; where failures are not told (CSV) it holds them too.
    """

    scheduled_count: int | None
    answered_count: int
    success_count: int
    failed_by_class: dict[str, int] | None
    unresolved_count: int | None

    @property
    def failed_count(self) -> int | None:
        """Requests that ended without a response, deadline aborts left out."""
        return None if self.failed_by_class is None else sum(self.failed_by_class.values())

    @property
    def censored_count(self) -> int | None:
        """Scheduled and never resolved; None where failures are not told apart from them."""
        return None if self.failed_by_class is None else self.unresolved_count

    @property
    def sent_count(self) -> int | None:
        """Requests that were started: known only when every scheduled one was resolved."""
        return self.scheduled_count if self.unresolved_count == 0 else None

    def lost_count(self, arguments: OhaArguments | None) -> int:
        """Count the requests whose time is only known to be long: time-outs and what was cut off."""
        limited = arguments is not None and arguments.duration_s is not None
        cut = max(0, (self.unresolved_count or 0) - (ON_THE_DEADLINE_COUNT if limited else 0))
        return cut + (self.failed_by_class or {}).get("timeout", 0)


@dataclass(frozen=True)
class OhaVerdict:
    """`verdict`, its `reason` (None for ok) and the flags that go with it."""

    verdict: Literal["ok", "partial", "void"]
    reason: str | None = None
    flags: tuple[str, ...] = ()


def count(totals: OhaTotals, arguments: OhaArguments | None) -> OhaCounts:
    """Return the counts of the output beside the plan; InputError when more was answered than the plan has."""
    failed = None if totals.errors is None else by_class(totals.errors)
    resolved = totals.answered_count + sum((failed or {}).values())
    scheduled = arguments.scheduled_count if arguments is not None else None
    fixed = arguments is not None and arguments.duration_s is None
    if scheduled is not None and fixed and resolved > scheduled:
        raise InputError(
            f"the arguments plan {scheduled} requests, but the report has {resolved}: they are of different runs"
        )
    unresolved = None if scheduled is None else max(0, scheduled - resolved)
    return OhaCounts(scheduled, totals.answered_count, totals.success_count, failed, unresolved)


def judge(counts: OhaCounts, totals: OhaTotals, arguments: OhaArguments | None) -> OhaVerdict:
    """Verdict on one run."""
    if counts.scheduled_count == 0:
        return OhaVerdict("void", "nothing was scheduled")
    if not counts.answered_count:
        return OhaVerdict("void", "nothing completed")
    if not counts.success_count:
        return OhaVerdict("void", "no response was a success: the times are those of errors")
    limited = arguments is not None and arguments.duration_s is not None
    incomplete = _under_limit(counts, totals, arguments) if arguments and limited else _fixed(counts)
    if incomplete is not None:
        return incomplete
    refused = (counts.failed_by_class or {}).get("connect_refused", 0)
    if refused:
        return OhaVerdict("partial", f"for a part of the run nothing listened: {refused} connections were refused")
    return OhaVerdict("ok")


def _fixed(counts: OhaCounts) -> OhaVerdict | None:
    """Judge a fixed number of requests, which loses none: what is missing was cut off."""
    if not counts.unresolved_count:
        return None
    what = "failed or never ended" if counts.censored_count is None else "never ended"
    reason = f"{counts.unresolved_count} of {counts.scheduled_count} requests {what}: interrupted, or workers died"
    return OhaVerdict("partial", reason, ("partial",))


def _under_limit(counts: OhaCounts, totals: OhaTotals, arguments: OhaArguments) -> OhaVerdict | None:
    """Judge a run under a time limit, which loses what waits or is under way when it comes."""
    limit, missing = arguments.duration_s or 0.0, counts.unresolved_count
    if totals.wall_s is not None and totals.wall_s < _WHOLE_RUN_SHARE * limit:
        return OhaVerdict(
            "partial", f"the run was interrupted after {totals.wall_s:.2f} s of {limit:g} s", ("partial",)
        )
    if missing is None or missing <= ON_THE_DEADLINE_COUNT:
        return None
    never_sent = missing - arguments.in_flight_cap_count
    if never_sent > 0:
        reason = f"at least {never_sent} of {counts.scheduled_count} requests were never sent: the rate was not kept"
        return OhaVerdict("partial", reason, ("partial", "saturated"))
    slowest_s = totals.response.max_s if isinstance(totals.response, Spread) else None
    # By Little's law no more than this is under way at a time; what exceeds it did not come back.
    under_way = ON_THE_DEADLINE_COUNT + 1 + (arguments.rate_rps or 0.0) * (slowest_s or 0.0)
    if missing <= under_way:
        return None
    reason = f"{missing} requests were under way without a response when the time limit came"
    if missing >= counts.answered_count:
        return OhaVerdict(
            "void", f"{reason}: the {counts.answered_count} responses do not stand for the run", ("partial",)
        )
    return OhaVerdict("partial", reason, ("partial",))
