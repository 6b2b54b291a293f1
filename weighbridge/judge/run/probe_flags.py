"""Flags of what the probe saw: stamps lost or unknown, retries, stalls, changed responses, a probe that was late.

What voids a run stands in `acceptance`; nothing here does.
"""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.record.figures import Timing
from weighbridge.record.measured import RunFigures, Values
from weighbridge.record.metrics import TimeKey
from weighbridge.record.probe_counts import Fidelity, StampCounts, UsageCounts

ADDED: tuple[TimeKey, ...] = ("added_ms", "added_first_ms", "added_total_ms")


def trace_flags(figures: RunFigures) -> Iterator[str]:
    """Yield the flags of one run's figures; none for a run that no probe saw."""
    if isinstance(figures.stamps, StampCounts):
        yield from _stamp_flags(figures.stamps)
    yield from late_flags(figures.figures)
    if isinstance(figures.usage, UsageCounts) and figures.usage.differing_count + figures.usage.missing_count:
        yield "usage_differs"
    if isinstance(figures.fidelity, Fidelity):
        if figures.fidelity.damaged_chunk_count:
            yield "responses_changed"
        if figures.fidelity.level == "text":
            yield "events_merged"
    if figures.known("stall_count"):
        yield "stalls"
    if any((figures.percentile(key, "p50") or 0.0) < 0 for key in ADDED):
        yield "added_negative"


def late_flags(figures: Values) -> Iterator[str]:
    """Yield the flag of figures of which late turns of the probe's loop leave a percentile open beyond the limit."""
    if any(isinstance(one, Timing) and one.between for one in figures.values()):
        yield "probe_late"


def _stamp_flags(counts: StampCounts) -> Iterator[str]:
    lost = counts.absent_count + counts.damaged_count
    if lost:
        yield "stamps_lost" if counts.whole_count else "no_inband"
    if counts.unknown_count:
        yield "stamps_unknown"
    if counts.repeated_count:
        yield "repeated_answers"
    if counts.retry_count:
        yield "retried"
