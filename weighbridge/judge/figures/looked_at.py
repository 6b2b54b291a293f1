"""Contents of responses where a part of the clients reads them alone: what is known of the others (METHOD section 3).

oha and wrk see a status and at most a size. A probe beside them, or in a pass behind them, sees the contents of its
own requests: what it saw is scaled to all with its bounds, and never stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures.row_masks import Mask, error_count, good_answers
from weighbridge.judge.stats.finite_share import bounds
from weighbridge.record.load_report import LoadReport
from weighbridge.record.samples import SampleTable

# Classes of failures that only content shows.
OF_CONTENT = ("error_in_body", "empty", "protocol")
# A response of a mock that sends equal ones differs in size by no more than this, whatever the gateway adds to it.
SIZE_SHARE = 0.10
_READER = "probe"


@dataclass(frozen=True)
class LookedAt:
    """Requests whose content was looked at, the bad ones among them, and all of the window."""

    bad_count: int
    looked_count: int
    total_count: int

    @property
    def estimate_count(self) -> int:
        """How many of all are bad, by the share of those looked at."""
        return round(self.bad_count / self.looked_count * self.total_count)

    @property
    def bounds(self) -> tuple[int, int]:
        """Least and most bad ones of all (95 %)."""
        return bounds(self.bad_count, self.looked_count, self.total_count)


def looked_at(reports: Sequence[LoadReport], unwhole_count: int = 0) -> LookedAt | None:
    """Return what was looked at, by the reports of a window, the leading client's first.

    None where the leading client reads contents itself, or where nobody did. `unwhole_count` are streams that came
    with a 2xx and with chunks wrong, which no report knows.
    """
    if not reports or reports[0].tool == _READER:
        return None
    readers = [report for report in reports[1:] if report.tool == _READER]
    looked = sum(map(_request_count, readers))
    if not looked:
        return None
    bad = sum((report.failed_by_class or {}).get(name, 0) for report in readers for name in OF_CONTENT)
    return LookedAt(min(bad + unwhole_count, looked), looked, sum(map(_request_count, reports)))


def failed_count(reports: Sequence[LoadReport], unwhole_count: int = 0, odd_count: int = 0) -> int:
    """Count the failed requests of a window: what everybody sees, and of contents what follows from those looked at.

    `odd_count` are responses of an unexpected size.
    """
    known = sum(map(error_count, reports)) + odd_count
    part = looked_at(reports, unwhole_count)
    if part is None:
        return known + unwhole_count
    of_content = sum((one.failed_by_class or {}).get(name, 0) for one in reports[1:] for name in OF_CONTENT)
    return known - of_content + part.estimate_count


def sized_answers(samples: SampleTable, expected_bytes: int | None = None) -> Mask:
    """Return the good rows whose body has the expected size, or the median one; unknown sizes count as expected."""
    good, sizes = good_answers(samples), samples.received_bytes
    known = good & (sizes >= 0)
    if not known.any():
        return good
    expected = float(np.median(sizes[known])) if not expected_bytes else float(expected_bytes)
    sized: Mask = good & ((sizes < 0) | (np.abs(sizes - expected) <= SIZE_SHARE * expected))
    return sized


def odd_sizes(samples: SampleTable, expected_bytes: int | None = None) -> int:
    """Count the good rows whose body has a size that none of ours has."""
    return int(np.count_nonzero(good_answers(samples) & ~sized_answers(samples, expected_bytes)))


def sizes_known(samples: SampleTable | None) -> bool:
    """Tell whether the size of every good response is known, so that a bad one of another size shows."""
    if samples is None:
        return False
    good = good_answers(samples)
    return bool(good.any() and (samples.received_bytes[good] >= 0).all())


def _request_count(report: LoadReport) -> int:
    if report.scheduled_count is not None and report.verdict == "ok":
        return report.scheduled_count
    return (report.answered_count or 0) + (report.failed_count or 0)
