"""How many requests of a window failed, and whether so many reject it (METHOD 5); one count for window and record.

A failed request is one without a response, with a response that is no 2xx, or a stream that came with chunks wrong or
without its end. Waiting beyond the time-out is what a queue of a saturated lane looks like, and is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.judge.figures.looked_at import failed_count
from weighbridge.record.load_report import LoadReport
from weighbridge.record.measured import RunFigures
from weighbridge.record.run import RunRecord

# METHOD 5: a window with more than this share of failed requests does not count, so below 1,000 requests any is too
# many.
FAILED_LIMIT_RATIO = 0.001


@dataclass(frozen=True)
class Failed:
    """Failed requests of one window, and all of its requests."""

    count: int
    request_count: int

    @property
    def rejects(self) -> bool:
        """Whether more failed than a window that counts may have."""
        return self.count > FAILED_LIMIT_RATIO * self.request_count


def failed_in_window(reports: Sequence[LoadReport], figures: RunFigures | None, *, saturated: bool) -> Failed:
    """Return what failed by the reports of all clients and by the figures of their window, where it has some."""
    told = None if figures is None else figures.count("error_count")
    count = failed_count(reports) if told is None else told
    queued = sum(map(timeout_count, reports)) if saturated else 0
    return Failed(max(0, count - queued), sum(map(_request_count, reports)))


def failed_in_run(run: RunRecord) -> Failed:
    """Return what failed in a recorded run; of one whose window was never opened nothing of no request."""
    if run.open_streams is not None:
        return Failed(sum(run.open_streams.faults.values()), run.open_streams.opened_count)
    reports = [client.load_report for client in run.clients if client.load_report is not None]
    return failed_in_window(reports, run.figures, saturated=run.verdict == "saturated")


def timeout_count(report: LoadReport) -> int:
    """Count the requests that waited longer than the time-out."""
    return (report.failed_by_class or {}).get("timeout", 0)


def _request_count(report: LoadReport) -> int:
    if report.scheduled_count is not None:
        return report.scheduled_count
    return (report.answered_count or 0) + (report.failed_count or 0)
