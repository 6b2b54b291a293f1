"""The sentences of judgement: one wording for runs, cells and absent figures. Called by this room only."""

from __future__ import annotations

from weighbridge.record.load_report import LoadReport


def per_second(value: float | None) -> str:
    """`150`, `66.2` or `?`: a rate with at most three significant digits below 1,000."""
    if value is None:
        return "?"
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def served_text(achieved_rps: float | None, offered_rps: float | None) -> str:
    """`served X of Y per second`, with more digits where X would read as Y."""
    if achieved_rps is not None and offered_rps is not None and per_second(achieved_rps) == per_second(offered_rps):
        return f"served {achieved_rps:.2f} of {offered_rps:.2f} per second"
    return f"served {per_second(achieved_rps)} of {per_second(offered_rps)} per second"


def failures_text(report: LoadReport, count: int) -> str:
    """What failed in a window: `12 of 1032 requests failed: 10 × status 500, 2 × timeout`."""
    by_status = report.answered_by_status or {}
    parts = {f"status {status}": number for status, number in by_status.items() if not status.startswith("2")}
    parts |= report.failed_by_class or {}
    listed = sorted(((number, what) for what, number in parts.items() if number), reverse=True)
    detail = ", ".join(f"{number} × {what}" for number, what in listed)
    of_all = "" if report.scheduled_count is None else f" of {report.scheduled_count}"
    return f"{count}{of_all} requests failed" + (f": {detail}" if detail else "")
