"""Whether a lane lets a stream through as it comes: counts of one run, and the verdict against the baseline.

A reader that is late merges events too, so the share of bunched events on the direct lane is taken off first. Pairs
that the provider sent less than 1 ms apart are not judged: below that, reads merge by nature (0.06 % of events at 1
ms, 1.4 % at 0.3 ms, 23 % at 0.1 ms, measured on two cores). The rules, in this order:

1. `held until complete` or `held, then re-paced`: half of the streams or more began, at the reader, when the
   provider had sent its last chunk. Such a stream was held, however it is let out: re-paced is what more than half of
   them took at least half of the provider's own span for.
2. `passed through`: the share of bunched pairs (read within 0.2 ms though sent 1 ms apart or more; one read
   included) is at most 2 percentage points above the baseline's.
3. `windowed`: most bunched events came in reads of their own (buffered, then released in a burst), or the median
   bunch delayed its first event for more than 10 of the provider's gaps (the factor that makes a stall).
4. `coalesced`: what is left, several events written as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures.chunk_gaps import STALL_FACTOR, neighbours
from weighbridge.record.arrays import Ints
from weighbridge.record.figures import Absent
from weighbridge.record.probe_counts import Buffering, Bunching
from weighbridge.record.probe_tables import UNKNOWN, EventTable
from weighbridge.units import NS_PER_MS

APART_NS = 1_000_000
TOGETHER_NS = 200_000
BUFFERED_STREAM_SHARE = 0.5
# A held stream that is read over so much of the provider's span was given a pace of its own.
REPACED_SPAN_SHARE = 0.5
BUNCHED_MARGIN = 0.02
# With fewer pairs, one late reader is more than the margin.
PAIRS_NEEDED = 50


@dataclass(frozen=True)
class _Streams:
    """Bounds of each stream among events that are sorted by request: first row, last row, and spans in ns."""

    first: Ints
    last: Ints


def bunching(events: EventTable) -> Bunching | Absent:
    """Return the counts of a run from its events (as `events.of_rows` gives them); absent without a stamped pair."""
    stamped = _stamped(events)
    pairs = neighbours(stamped, stamped=True)
    if not len(pairs.later):
        return Absent(absent="no_inband" if len(events) else "no_content_events")
    sent_apart = stamped.send_ns[pairs.later] - stamped.send_ns[pairs.earlier] >= APART_NS
    earlier, later = pairs.earlier[sent_apart], pairs.later[sent_apart]
    if not len(later):
        return Absent(absent="gaps_too_short")
    one_read = stamped.read[later] == stamped.read[earlier]
    together = one_read | (stamped.read_ns[later] - stamped.read_ns[earlier] < TOGETHER_NS)
    streams = _streams(stamped)
    buffered, repaced = _buffered_counts(stamped, streams)
    buffered_gaps, period_ms = _bunches(stamped, later[together])
    return Bunching(
        pair_count=len(later),
        coalesced_count=int(np.count_nonzero(one_read)),
        bunched_count=int(np.count_nonzero(together)),
        stream_count=len(streams.first),
        buffered_stream_count=buffered,
        repaced_stream_count=repaced,
        buffered_gaps=buffered_gaps,
        period_ms=period_ms,
    )


def added(parts: Sequence[Bunching]) -> Bunching:
    """Add the counts of several runs; hold and period are medians over the runs that have them."""
    holds = [one.buffered_gaps for one in parts if one.buffered_gaps is not None]
    periods = [one.period_ms for one in parts if one.period_ms is not None]
    return Bunching(
        pair_count=sum(one.pair_count for one in parts),
        coalesced_count=sum(one.coalesced_count for one in parts),
        bunched_count=sum(one.bunched_count for one in parts),
        stream_count=sum(one.stream_count for one in parts),
        buffered_stream_count=sum(one.buffered_stream_count for one in parts),
        repaced_stream_count=sum(one.repaced_stream_count for one in parts),
        buffered_gaps=float(np.median(holds)) if holds else None,
        period_ms=float(np.median(periods)) if periods else None,
    )


def coalesced_ratio(counts: Bunching) -> float:
    """Return the share of events that came in one read with the one before, of those sent 1 ms apart or more."""
    return counts.coalesced_count / counts.pair_count if counts.pair_count else 0.0


def bunched_ratio(counts: Bunching) -> float:
    """Return the share of events read within 0.2 ms of the one before, of those sent 1 ms apart or more."""
    return counts.bunched_count / counts.pair_count if counts.pair_count else 0.0


def verdict(counts: Bunching, baseline: Bunching | None) -> Buffering | None:
    """Judge buffering by the rules above; without a baseline its share counts as none. None with too few pairs."""
    if counts.stream_count and counts.buffered_stream_count >= BUFFERED_STREAM_SHARE * counts.stream_count:
        is_repaced = 2 * counts.repaced_stream_count > counts.buffered_stream_count
        return "held, then re-paced" if is_repaced else "held until complete"
    if counts.pair_count < PAIRS_NEEDED:
        return None
    natural = 0.0 if baseline is None else bunched_ratio(baseline)
    if bunched_ratio(counts) <= natural + BUNCHED_MARGIN:
        return "passed through"
    in_own_reads = counts.bunched_count - counts.coalesced_count
    long_buffered = (counts.buffered_gaps or 0.0) > STALL_FACTOR
    return "windowed" if 2 * in_own_reads > counts.bunched_count or long_buffered else "coalesced"


def _stamped(events: EventTable) -> EventTable:
    known = events.send_ns != UNKNOWN
    if known.all():
        return events
    columns = (events.row, events.read_ns, events.send_ns, events.sequence, events.read)
    return EventTable(*(column[known] for column in columns))


def _streams(events: EventTable) -> _Streams:
    """Return the streams of two events or more."""
    begins = np.flatnonzero(np.r_[True, np.diff(events.row) != 0])
    ends = np.r_[begins[1:], len(events)] - 1
    several = ends > begins
    return _Streams(begins[several], ends[several])


def _buffered_counts(events: EventTable, streams: _Streams) -> tuple[int, int]:
    """Count the streams that began behind the provider's end, and those of them that were let out at a pace."""
    first, last = streams.first, streams.last
    sent = events.send_ns[last] - events.send_ns[first]
    read = events.read_ns[last] - events.read_ns[first]
    buffered = (sent >= APART_NS) & (events.read_ns[first] >= events.send_ns[last])
    repaced = buffered & (read > REPACED_SPAN_SHARE * sent)
    return int(np.count_nonzero(buffered)), int(np.count_nonzero(repaced))


def _bunches(events: EventTable, bunched: Ints) -> tuple[float | None, float | None]:
    """Return the median hold of a bunch in provider gaps, and the median time between bunches of one stream in ms."""
    if not len(bunched):
        return None, None
    # A bunch is a run of rows in which each is bunched with the one before.
    starts = bunched[np.r_[True, np.diff(bunched) != 1]] - 1
    ends = bunched[np.r_[np.diff(bunched) != 1, True]]
    gaps = (events.send_ns[ends] - events.send_ns[starts]) / (ends - starts)
    holds = (events.send_ns[ends] - events.send_ns[starts]) / np.maximum(np.median(gaps), 1.0)
    same = np.diff(events.row[ends]) == 0
    periods = np.diff(events.read_ns[ends])[same]
    return float(np.median(holds)), float(np.median(periods)) / NS_PER_MS if len(periods) else None
