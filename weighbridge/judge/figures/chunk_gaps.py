"""Neighbouring content events of streams: gaps, forwarding delay, gap distortion, stalls.

All times in ns. An event pairs with the one read before it in its own stream; where a chunk is missing, the
provider's gap of the pair is as wide as the reader's should be.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from weighbridge.judge.figures import lateness
from weighbridge.judge.figures.lateness import BoundedTimes
from weighbridge.judge.figures.row_masks import Mask
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_tables import UNKNOWN, EventTable, LateTurns

# METHOD 4: a stall is a gap above so many times the provider's own gap of the same pair.
STALL_FACTOR = 10
# So that chunks sent at once make no stall of every wait.
STALL_GAP_NS = 1_000_000


@dataclass(frozen=True)
class Pairs:
    """Neighbouring events: row numbers of the earlier and of the later one in the event table."""

    earlier: Ints
    later: Ints


def of_rows(events: EventTable, rows: Mask) -> EventTable:
    """Return the events of the requests that `rows` picks, by request and then as they were read."""
    picked = np.flatnonzero(rows[events.row])
    numbers = events.row[picked]
    if (np.diff(numbers) < 0).any():
        picked = picked[np.argsort(numbers, kind="stable")]
    return EventTable(**{column.name: getattr(events, column.name)[picked] for column in fields(events)})


def neighbours(events: EventTable, *, stamped: bool) -> Pairs:
    """Pair the events read one after the other in one stream; with `stamped`, both with their send time."""
    same = events.row[1:] == events.row[:-1]
    if stamped:
        known = events.send_ns != UNKNOWN
        same &= known[1:] & known[:-1]
    earlier = np.flatnonzero(same)
    return Pairs(earlier, earlier + 1)


def gaps(events: EventTable, turns: LateTurns) -> BoundedTimes:
    """Return the time between the reads of neighbouring events; 0 in one read."""
    pairs = neighbours(events, stamped=False)
    return lateness.gaps(turns, events.read_ns[pairs.earlier], events.read_ns[pairs.later])


def forwarding(events: EventTable, turns: LateTurns) -> BoundedTimes:
    """Return the read time minus the send time in the chunk, of each stamped event."""
    known = events.send_ns != UNKNOWN
    return lateness.times(events.read_ns[known] - events.send_ns[known], turns, events.read_ns[known])


def distortion(events: EventTable, turns: LateTurns) -> BoundedTimes:
    """Return |gap as read − gap as sent| of each pair: pairwise, no difference of percentiles, no sign."""
    pairs = neighbours(events, stamped=True)
    read = lateness.gaps(turns, events.read_ns[pairs.earlier], events.read_ns[pairs.later])
    return lateness.distances(read, events.send_ns[pairs.later] - events.send_ns[pairs.earlier])


def stall_count(events: EventTable) -> int:
    """Count the pairs read more than ten times as far apart as they were sent.

    The provider's gap counts as its median gap of the window, and as 1 ms, at least: a chunk that the provider sent
    late, and the next one right behind it, would make a stall of an ordinary wait.
    """
    pairs = neighbours(events, stamped=True)
    if not len(pairs.later):
        return 0
    read = events.read_ns[pairs.later] - events.read_ns[pairs.earlier]
    sent = events.send_ns[pairs.later] - events.send_ns[pairs.earlier]
    usual_ns = max(STALL_GAP_NS, int(np.median(sent)))
    return int(np.count_nonzero(read > STALL_FACTOR * np.maximum(sent, usual_ns)))


def last_send_ns(events: EventTable, request_count: int, chunk_count: int) -> Ints:
    """Return the send time of chunk `chunk_count − 1` of each request; `UNKNOWN` where it did not come."""
    last = np.full(request_count, UNKNOWN, dtype=np.int64)
    whole = (events.sequence == chunk_count - 1) & (events.send_ns != UNKNOWN)
    last[events.row[whole]] = events.send_ns[whole]
    return last
