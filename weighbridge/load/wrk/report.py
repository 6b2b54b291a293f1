"""The load report of a wrk run: the JSON of a script's `done()` and, where given, its samples.

wrk's own times hide the wait before a request and were corrected in a way of its own; the samples (done minus
scheduled) are the true ones. Its read errors count idle closes too, so they are never taken for failures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.reports.fields import count, number, section
from weighbridge.load.reports.spreads import LostRequests, Spread, flags_of, reported
from weighbridge.load.wrk.counts import WrkCounts, count_wrk, worth
from weighbridge.load.wrk.samples import WrkSamples
from weighbridge.record.figures import Absent, Corrected
from weighbridge.record.load_report import LoadReport


@dataclass(frozen=True)
class GivenWrk:
    """All that was handed in: the script's document, its samples (None without any), version and notes so far."""

    document: Mapping[str, Any]
    samples: WrkSamples | None
    tool_version: str | None
    notes: tuple[str, ...] = ()


def wrk_reading(given: GivenWrk) -> ReportReading:
    """Report and samples; samples that contradict the report or their own schedule are left out, with a flag."""
    found = count_wrk(given.document)
    own = given.samples
    if own is not None and own.by_status != {s: n for s, n in sorted(found.by_status.items()) if n}:
        own = None
    usable = own if own is not None and own.slots_fit else None
    flags = {
        "repeated_sends": bool(found.repeat_count),
        "unguarded_script": found.repeat_count is None,
        "samples_mismatch": own is not given.samples,
        "samples_refused": own is not usable,
        "non_2xx_mixed": 0 < found.success_count < found.answered_count,
    }
    report = _report(given, found, own, usable, tuple(name for name, holds in flags.items() if holds))
    return ReportReading(report, usable.table(has_schedule=found.has_schedule) if usable is not None else None)


def _report(
    given: GivenWrk, found: WrkCounts, own: WrkSamples | None, usable: WrkSamples | None, flags: tuple[str, ...]
) -> LoadReport:
    verdict, reason = worth(found, own)
    duration_us = number(given.document.get("duration_us"))
    wall_s = None if duration_us is None else duration_us / 1e6
    if usable is not None and found.success_count:
        response = usable.response(has_schedule=found.has_schedule)
    else:
        response = _own_times(given.document, found)
    lost = _lost(found, usable)
    failures = found.failed_by_class
    failed_count = None if failures is None else sum(failures.values())
    resolved = found.answered_count + (failed_count or 0)
    partial = ("partial",) if verdict == "partial" else ()
    return LoadReport(
        tool="wrk",
        tool_version=given.tool_version,
        corrected=_corrected(found, usable),
        verdict=verdict,
        reason=reason,
        wall_s=wall_s,
        scheduled_count=found.scheduled_count,
        sent_count=found.sent_count,
        answered_count=found.answered_count,
        answered_by_status=dict(found.by_status),
        failed_count=failed_count,
        failed_by_class=failures,
        censored_count=found.unresolved_count,
        completed_rps=found.answered_count / wall_s if wall_s else None,
        success_ratio=found.success_count / resolved if resolved and failures is not None else None,
        received_bytes=count(given.document.get("bytes")),
        response_ms=reported(response, lost),
        first_byte_ms=Absent(absent="not_reported_by_wrk"),
        flags=(*partial, *flags, *flags_of(response, lost)),
        notes=(*given.notes, *_notes(given, found, own, usable)),
    )


def _corrected(found: WrkCounts, usable: WrkSamples | None) -> Corrected:
    if not found.has_schedule:
        return "no"
    return "yes" if usable is not None else "unknown"


def _own_times(document: Mapping[str, Any], found: WrkCounts) -> Spread | str:
    """Return the times of wrk's own latency object; it has no p95, and its percentile(100) is 0 by a fault of wrk."""
    if not found.answered_count:
        return "no_response"
    if found.success_count < found.answered_count:
        return "non_2xx_mixed" if found.success_count else "no_success"
    own = section(document, "latency_us")
    samples = count(own.get("n"))
    if not samples:
        return "no_sample"
    p50, p99, largest = (None if v is None else v / 1e6 for v in (number(own.get(k)) for k in ("p50", "p99", "max")))
    return Spread(p50, None, p99, largest, samples)


def _lost(found: WrkCounts, usable: WrkSamples | None) -> LostRequests:
    """Count what has no time: never answered; in wrk's own object also what was slower than its -T."""
    slow = found.tool_errors.get("timeout", 0) if usable is None else 0
    timed = max(0, found.answered_count - slow)
    return LostRequests(timed, slow + (found.unresolved_count or 0))


def _notes(given: GivenWrk, found: WrkCounts, own: WrkSamples | None, usable: WrkSamples | None) -> tuple[str, ...]:
    slow, broken = found.tool_errors.get("timeout", 0), found.broken_count
    notes = {
        f"{slow} responses took longer than wrk's -T: answered, but without a sample in its own times": bool(slow),
        f"{broken} read and write errors: idle closes, reconnections and failures alike": bool(broken),
        f"{found.repeat_count} sends failed and were repeated at once, outside the schedule": bool(
            found.repeat_count
        ),
        "the samples name slots that lie later than the sends: they were left out": own is not usable,
        "times are wrk's own: from the actual send, corrected in an unknown way": usable is None,
        "the rate is over the whole -d, which wrk always waits for": not given.document.get("ends_when_done"),
        "received bytes include headers": True,
    }
    return tuple(note for note, holds in notes.items() if holds)
