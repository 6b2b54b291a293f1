"""The sentences of judgement: one wording for runs, cells and absent figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from weighbridge.record.figures import Figure
from weighbridge.record.load_report import LoadReport
from weighbridge.record.measured import RunFigures
from weighbridge.record.probe_counts import Fidelity

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


def failures_text(reports: Sequence[LoadReport], count: int) -> str:
    """Return what failed in a window: `12 of 1032 requests failed: 10 × status 500, 2 × timeout`."""
    parts: Counter[str] = Counter()
    for report in reports:
        by_status = report.answered_by_status or {}
        parts.update({f"status {status}": n for status, n in by_status.items() if not status.startswith("2")})
        parts.update(report.failed_by_class or {})
    listed = sorted(((number, what) for what, number in parts.items() if number), reverse=True)
    detail = ", ".join(f"{number} × {what}" for number, what in listed)
    scheduled = [report.scheduled_count for report in reports]
    of_all = "" if None in scheduled else f" of {sum(one for one in scheduled if one is not None)}"
    return f"{count}{of_all} requests failed" + (f": {detail}" if detail else "")


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
