"""The load report of a probe run: its own document, and the tables where they were kept.

The probe judges success by status, content and end; what got a 200 and was none counts as failed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.probe.stored_tables import StoredTables
from weighbridge.load.reports.failures import classify
from weighbridge.load.reports.fields import count, counts, number, section, successes
from weighbridge.load.reports.spreads import LostRequests, Spread, flags_of, reported
from weighbridge.record.load_report import CLIENT_LIMITS, LoadReport
from weighbridge.record.probe_tables import no_late_turns

# Failure class of each outcome that is no response; `ok` and `http_error` are responses.
_CLASSES: Mapping[str, str] = {
    "connect_timeout": "timeout",
    "header_timeout": "timeout",
    "first_byte_timeout": "timeout",
    "idle_stall": "timeout",
    "total_timeout": "timeout",
    "json_error": "error_in_body",
    "stream_error": "error_in_body",
    "truncated": "body_broken",
    "reset": "reset",
    "empty_stream": "empty",
    "empty_response": "empty",
    "wrong_content_type": "protocol",
    "protocol": "protocol",
}
_ANSWERS = ("ok", "http_error")


@dataclass(frozen=True)
class GivenProbe:
    """All that was handed in: the document and the tables beside it, and notes so far."""

    document: Mapping[str, Any]
    tables: StoredTables
    notes: tuple[str, ...] = ()


def probe_reading(given: GivenProbe) -> ReportReading:
    """Report and tables; tables that contradict the report are left out, with a flag."""
    released = count(given.document.get("released_count"))
    kept = given.tables
    fits = all(table is None or len(table) == released for table in (kept.samples, kept.requests))
    report = _report(given, () if fits else ("samples_mismatch",))
    if not fits:
        return ReportReading(report, None)
    return ReportReading(
        report,
        kept.samples,
        requests=kept.requests,
        events=kept.events,
        late_turns=kept.late_turns or no_late_turns(),
    )


def _report(given: GivenProbe, flags: tuple[str, ...]) -> LoadReport:
    document = given.document
    plan = section(document, "plan")
    outcomes, by_status = counts(document, "outcomes"), counts(document, "answered_by_status")
    answered = sum(by_status.values())
    failed = sum(amount for name, amount in outcomes.items() if name not in _ANSWERS)
    scheduled, wall_s = count(document.get("scheduled_count")), number(document.get("wall_s"))
    censored = None if scheduled is None else max(0, scheduled - answered - failed)
    verdict, reason = _worth(document, by_status, censored)
    response = _spread(document, "response_s")
    lost = LostRequests(answered, failed + (censored or 0))
    failures = _by_class(outcomes, counts(document, "error_text"))
    own = {
        "partial": verdict == "partial",
        "client_limited": any(failures.get(name) for name in CLIENT_LIMITS),
        "non_2xx_mixed": 0 < successes(by_status) < answered,
    }
    return LoadReport(
        tool="probe",
        tool_version=version if isinstance(version := document.get("version"), str) else None,
        corrected="yes" if plan.get("rate_rps") is not None else "no",
        verdict=verdict,
        reason=reason,
        wall_s=wall_s,
        scheduled_count=scheduled,
        sent_count=count(document.get("sent_count")),
        answered_count=answered,
        answered_by_status=by_status,
        failed_count=failed,
        failed_by_class=failures,
        censored_count=censored,
        completed_rps=answered / wall_s if wall_s else None,
        success_ratio=successes(by_status) / (answered + failed) if answered + failed else None,
        received_bytes=count(document.get("received_bytes")),
        response_ms=reported(response, lost),
        first_byte_ms=reported(_spread(document, "first_byte_s"), lost),
        error_text=counts(document, "error_text"),
        flags=tuple(
            dict.fromkeys((*(name for name, is_set in own.items() if is_set), *flags, *flags_of(response, lost)))
        ),
        notes=(*given.notes, *_notes(document)),
    )


def _worth(
    document: Mapping[str, Any], by_status: Mapping[str, int], censored: int | None
) -> tuple[Literal["ok", "partial", "void"], str | None]:
    if not by_status:
        return "void", "nothing was answered"
    if document.get("partial") is True or censored:
        return "partial", f"interrupted: {censored or 0} requests were not sent or have no end"
    if not successes(by_status):
        return "void", "no response was a success: the times are those of errors"
    return "ok", None


def _spread(document: Mapping[str, Any], name: str) -> Spread | str:
    told = section(document, name)
    if not count(told.get("n")):
        return "no_response"
    p50, p95, p99, largest = (number(told.get(key)) for key in ("p50", "p95", "p99", "max"))
    return Spread(p50, p95, p99, largest, count(told.get("n")))


def _by_class(outcomes: Mapping[str, int], error_text: Mapping[str, int]) -> dict[str, int]:
    """Failures by class; a refused connection is told from a lack of files by its text."""
    found: dict[str, int] = {}
    for outcome, amount in outcomes.items():
        if outcome not in (*_ANSWERS, "connect_error") and amount:
            name = _CLASSES.get(outcome, "other")
            found[name] = found.get(name, 0) + amount
    for text, amount in error_text.items():
        if text.startswith("connect_error"):
            name = classify(text)
            found[name] = found.get(name, 0) + amount
    return found


def _notes(document: Mapping[str, Any]) -> tuple[str, ...]:
    turns, repeated = section(document, "late_turn_s"), count(document.get("repeated_line_count")) or 0
    late, longest_s = count(turns.get("n")) or 0, number(turns.get("max")) or 0.0
    stamps = counts(document, "stamps")
    bad = ", ".join(f"{amount} {name}" for name, amount in stamps.items() if name != "whole" and amount)
    notes = {
        f"the probe's own loop was late in {late} turns, the longest of {1000 * longest_s:.1f} ms": late > 0,
        f"{repeated} prompts were sent more than once: the file of bodies was too short": repeated > 0,
        f"stamps of the provider that are of no use: {bad}": bool(bad),
        "paced by the loop's own timer, to whole milliseconds": document.get("pacing") == "call_later",
    }
    return tuple(note for note, holds in notes.items() if holds)
