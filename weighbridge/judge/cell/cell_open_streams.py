"""Memory of one more open stream: the median of its runs' slopes, one a block, with an interval over them."""

from __future__ import annotations

from weighbridge.judge.cell.enough_runs import median_over
from weighbridge.judge.cell.merging import missing
from weighbridge.judge.cell.verdict import CellAttempts, CellVerdict
from weighbridge.judge.figures.open_streams import bytes_per_stream
from weighbridge.matrix.cells import BASELINE
from weighbridge.record.figures import Absent, FigureOrAbsent, absent_by
from weighbridge.record.metrics import METRICS

NO_GATEWAY = Absent(absent="no_gateway")
NOT_REPORTED_BY_KERNEL = Absent(absent="not_reported_by_kernel")


def memory(attempts: CellAttempts, found: CellVerdict) -> FigureOrAbsent:
    """Return what one more open stream takes of a gateway's memory, or why that is not told."""
    absent = missing(METRICS["memory_per_stream_bytes"], attempts.plan, found)
    if absent is not None:
        return absent
    if attempts.plan.gateway == BASELINE:
        return NO_GATEWAY
    if not attempts.accepted:
        return absent_by(found.verdict)
    slopes = [bytes_per_stream(run.open_streams) for run in attempts.accepted if run.open_streams is not None]
    known = [slope for slope in slopes if slope is not None]
    return median_over(known, len(attempts.accepted) - len(known), NOT_REPORTED_BY_KERNEL)
