"""Which responses count: good, left out by rule; and counts of errors and successes.

Knows no time and no rate.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weighbridge.record.load_report import LoadReport
from weighbridge.record.samples import SAMPLE_OUTCOMES, SampleTable

Mask = npt.NDArray[np.bool_]

ANSWERED_CODE = SAMPLE_OUTCOMES.index("answered")


def answered(samples: SampleTable) -> Mask:
    """Return the rows that got an HTTP response of any status."""
    mask: Mask = samples.outcome == ANSWERED_CODE
    return mask


def good_answers(samples: SampleTable) -> Mask:
    """Return the rows that were answered with a 2xx (or a status that the driver does not tell)."""
    status = samples.status
    successful: Mask = (status == 0) | ((status >= 200) & (status < 300))
    return answered(samples) & successful


def untrimmed(samples: SampleTable, connections: int) -> Mask:
    """Return all rows but the first `connections` sent requests; those that were never sent stay."""
    begun = np.flatnonzero(np.isfinite(samples.sent_s))
    order = begun[np.argsort(samples.sent_s[begun], kind="stable")]
    keep = np.ones(len(samples), dtype=np.bool_)
    keep[order[:connections]] = False
    return keep


def error_count(report: LoadReport) -> int:
    """Count responses that are no 2xx, and failures; a count that the report does not know adds nothing."""
    by_status = report.answered_by_status or {}
    bad = sum(count for status, count in by_status.items() if not status.startswith("2"))
    return bad + (report.failed_count or 0)
