"""What late turns of the probe's own loop may have done to a time (METHOD section 5).

No request is dropped for them. One that has an instant of its own (send, first content, end; of a chunk its read) in
a late turn counts with its measured time. A late turn can only delay our reading, and by no more than its length, so
the true time lies between the measured one and that less the lengths of the turns. A gap has two readings, of which
the earlier one may be the late one: it may have been longer too.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures.row_masks import Mask
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_tables import UNKNOWN, LateTurns


@dataclass(frozen=True)
class BoundedTimes:
    """BoundedTimes in ns, one a row: as measured, and the least and the most that each can have been."""

    ns: Ints
    least_ns: Ints
    most_ns: Ints

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ns)


def touched(turns: LateTurns, *instants: Ints) -> Mask:
    """Tell which rows have one of these instants in a late turn."""
    found = np.zeros(len(instants[0]), dtype=np.bool_)
    for column in instants:
        found |= _turn_of(turns, column) >= 0
    return found


def late_ns(turns: LateTurns, *instants: Ints) -> Ints:
    """Return the lengths of the late turns that hold these instants of a row, together; each turn counts once."""
    total = np.zeros(len(instants[0]), dtype=np.int64)
    if not len(turns):
        return total
    lengths, seen = turns.ended_ns - turns.begun_ns, list[Ints]()
    for column in instants:
        turn = _turn_of(turns, column)
        is_new = turn >= 0
        for earlier in seen:
            is_new &= turn != earlier
        total += np.where(is_new, lengths[turn], 0)
        seen.append(turn)
    return total


def times(measured_ns: Ints, turns: LateTurns, *instants: Ints) -> BoundedTimes:
    """Return times that these instants of each row are part of."""
    return BoundedTimes(measured_ns, measured_ns - late_ns(turns, *instants), measured_ns)


def gaps(turns: LateTurns, earlier_ns: Ints, later_ns: Ints) -> BoundedTimes:
    """Return times between two readings."""
    measured = later_ns - earlier_ns
    return BoundedTimes(
        measured, np.maximum(measured - late_ns(turns, later_ns), 0), measured + late_ns(turns, earlier_ns)
    )


def distances(found: BoundedTimes, from_ns: Ints) -> BoundedTimes:
    """Return how far times lie from others, without a sign; it may be none where those lie within their bounds."""
    low, high = np.abs(found.least_ns - from_ns), np.abs(found.most_ns - from_ns)
    is_within = (found.least_ns <= from_ns) & (from_ns <= found.most_ns)
    return BoundedTimes(
        np.abs(found.ns - from_ns), np.where(is_within, 0, np.minimum(low, high)), np.maximum(low, high)
    )


def _turn_of(turns: LateTurns, instants: Ints) -> Ints:
    """Return the number of the late turn that each instant lies in, −1 for none; a begin lies in the turn before."""
    if not len(turns):
        return np.full(len(instants), -1, dtype=np.int64)
    turn = np.searchsorted(turns.begun_ns, instants, side="left") - 1
    is_in = (turn >= 0) & (instants <= turns.ended_ns[np.maximum(turn, 0)]) & (instants != UNKNOWN)
    return np.where(is_in, turn, -1)
