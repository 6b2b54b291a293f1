"""Open streams: whether a run of them counts, and the memory that one more open stream takes by it.

The slope is that of the least-squares line through the steps of one run: what the gateway takes without a stream is
the line's intercept and no part of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from weighbridge.judge.stats.straight_line import straight_line
from weighbridge.matrix.loads import Load, OpenStreamsLoad
from weighbridge.record.coded import Reason
from weighbridge.record.open_streams import OpenStreamsResult, OpenStreamsStep

MemoryKind = Literal["pss_bytes", "rss_bytes"]


def open_streams_problem(result: OpenStreamsResult | None, wanted: Load) -> Reason | None:
    """Return the reason when streams were not kept open as they should; None when they were or none was wanted."""
    if result is None or not isinstance(wanted, OpenStreamsLoad):
        return None
    if result.faults:
        listed = ", ".join(f"{number} × {what}" for what, number in result.faults.items())
        return Reason.of(
            "errors", f"{sum(result.faults.values())} of {result.opened_count} open streams failed: {listed}"
        )
    for point in result.points:
        if point.open_count != point.client_open_count:
            text = (
                f"the provider had {point.open_count} streams open when {point.client_open_count} were to be opened"
            )
            return Reason.of("errors", text)
    if result.broken == "ended_early":
        return Reason.of("errors", f"of {result.opened_count} open streams one ended before the last step was seen")
    if result.broken is not None or len(result.points) < len(wanted.counts):
        text = f"{len(result.points)} of {len(wanted.counts)} steps of open streams were seen"
        return Reason.of("generator_failed", f"{text} ({(result.broken or 'unknown').replace('_', ' ')})")
    if result.whole_count != wanted.request_count:
        return Reason.of("errors", f"{result.whole_count} of {wanted.request_count} open streams came to their end")
    return None


def is_buffered(result: OpenStreamsResult) -> bool:
    """Tell whether streams were open at the provider and gave the client nothing yet."""
    return any(point.content_count < point.client_open_count for point in result.points)


def bytes_per_stream(result: OpenStreamsResult) -> float | None:
    """Return the slope of one run.

    It is that of memory with shared pages shared out where the kernel tells it at each step, else of resident memory.

    None where neither is told, as on the lane without a gateway.
    """
    kinds: tuple[MemoryKind, ...] = ("pss_bytes", "rss_bytes")
    for kind in kinds:
        values = _values(result.points, kind)
        if values is not None:
            line = straight_line([float(point.client_open_count) for point in result.points], values)
            return None if line is None else line.slope
    return None


def _values(points: Sequence[OpenStreamsStep], kind: MemoryKind) -> list[float] | None:
    read = [point.pss_bytes if kind == "pss_bytes" else point.rss_bytes for point in points]
    known = [value for value in read if value is not None]
    return [float(value) for value in known] if len(known) == len(points) else None
