"""The sentences of judgement: one wording for runs, cells and absent figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from weighbridge.judge.figures.looked_at import LookedAt
from weighbridge.record.figures import Figure
from weighbridge.record.load_report import CLIENT_LIMITS, FAILURES, LoadReport
from weighbridge.record.measured import RunFigures
from weighbridge.record.probe_counts import Fidelity
from weighbridge.record.summary import FailedRequests

_CLIENTS: Mapping[str, str] = MappingProxyType(
    {
        "driver": "the load generator",
        "companion": "the companion probe",
        "open_streams": "the stream opener",
    }
)


def client_text(role: str) -> str:
    """Return what a client of this role is called in a sentence: `the companion probe`."""
    return _CLIENTS.get(role, f"the {role.replace('_', ' ')}")


def per_second(value: float | None) -> str:
    """Return `150`, `66.2` or `?`: a rate with at most three significant digits below 1,000."""
    if value is None:
        return "?"
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def served_text(achieved_rps: float | None, offered_rps: float | None) -> str:
    """Return `served X of Y per second`, with more digits where X would read as Y."""
    if achieved_rps is not None and offered_rps is not None and per_second(achieved_rps) == per_second(offered_rps):
        return f"served {achieved_rps:.2f} of {offered_rps:.2f} per second"
    return f"served {per_second(achieved_rps)} of {per_second(offered_rps)} per second"


def failures_text(reports: Sequence[LoadReport], count: int, part: LookedAt | None = None, odd_count: int = 0) -> str:
    """Return what failed in a window: `12 of 1032 requests failed: 10 × status 500, 2 × timeout`.

    Of contents that only a `part` of the clients read: `about 20 of 440 requests failed (3 to 65), from 2 of 44
    looked at: 2 × 200 without content`. `odd_count` are responses of an unexpected size.
    """
    parts: Counter[str] = Counter()
    for report in reports:
        by_status = report.answered_by_status or {}
        parts.update({f"status {status}": n for status, n in by_status.items() if not status.startswith("2")})
        parts.update({FAILURES.get(name, name): n for name, n in (report.failed_by_class or {}).items()})
    parts["200 of an unexpected size"] += odd_count
    listed = sorted(((number, what) for what, number in parts.items() if number), reverse=True)
    detail = ", ".join(f"{number} × {what}" for number, what in listed) + _first_message(reports)
    scheduled = [report.scheduled_count for report in reports]
    of_all = "" if None in scheduled else f" of {sum(one for one in scheduled if one is not None)}"
    detail = f": {detail}" if detail else ""
    if part is not None and part.bad_count:
        low, high = part.bounds
        looked = f"from {part.bad_count} of {part.looked_count} looked at"
        return f"about {count} of {part.total_count} requests failed ({low} to {high}), {looked}{detail}"
    return f"{count}{of_all} requests failed{detail}"


def _first_message(reports: Sequence[LoadReport]) -> str:
    """Return what the most frequent error inside a 200 said, in brackets; empty for none."""
    said: Counter[str] = Counter()
    for report in reports:
        for text, number in report.error_text.items():
            outcome, colon, message = text.partition(": ")
            if colon and outcome in ("json_error", "stream_error"):
                said[message] += number
    return f" (“{said.most_common(1)[0][0]}”)" if said else ""


def client_limits_text(reports: Sequence[LoadReport]) -> str | None:
    """Return which limits of the client requests ran into, with what helps; None for none."""
    counts: Counter[str] = Counter()
    for report in reports:
        counts.update({name: n for name, n in (report.failed_by_class or {}).items() if n and name in CLIENT_LIMITS})
    if not counts:
        return None
    listed = ", ".join(f"{number} × {FAILURES[name]}" for name, number in counts.most_common())
    return f"requests failed for limits of this machine: {listed}; {CLIENT_LIMITS[counts.most_common()[0][0]]}"


def failed_text(failed: FailedRequests) -> str:
    """Return how many windows and requests of a cell failed.

    Such as `3 of 6 windows, 5 of 9,000 requests (0.06 %, 0.02–0.13)`; without a request the windows alone.
    """
    windows = f"{failed.failed_window_count} of {failed.window_count} windows"
    if not failed.request_count or failed.low_ratio is None or failed.high_ratio is None:
        return windows
    share = _per_cent(failed.failed_count / failed.request_count)
    bounds = f"{_per_cent(failed.low_ratio)}–{_per_cent(failed.high_ratio)}"
    return f"{windows}, {failed.failed_count:,} of {failed.request_count:,} requests ({share} %, {bounds})"


def _per_cent(ratio: float) -> str:
    """Return a share in per cent with two decimals, with one digit where these are zeros: `0.06`, `0.002`, `0`."""
    value = 100 * ratio
    return f"{value:.2f}" if value >= 0.005 else f"{value:.1g}"


def unwhole_text(figures: RunFigures) -> str | None:
    """Tell what was wrong with streams that had a 200: chunks wrong, or no end marker; None when nothing was."""
    found, done, parts = figures.fidelity, figures.value("end_marker_ratio"), []
    if isinstance(found, Fidelity) and found.sequence_whole_count < found.answer_count:
        kinds = {
            "missing": found.missing_chunk_count,
            "repeated": found.repeated_chunk_count,
            "out of order": found.reordered_chunk_count,
        }
        listed = ", ".join(f"{number} {what}" for what, number in kinds.items() if number)
        bent = found.answer_count - found.sequence_whole_count
        parts.append(f"{bent} of {found.answer_count} streams came with chunks wrong ({listed})")
    if isinstance(done, Figure) and done.value < 1:
        parts.append(f"{100 * (1 - done.value):.3g} % of the streams had no end marker")
    return "; ".join(parts) or None
