"""The ideal schedule behind a paced run, rebuilt from the instants at which the pacer released each request.

Used for oha's samples. The pacer wakes late by up to some milliseconds, and that lateness is in none of its numbers:
release minus the grid base + i/R shows it. Arrivals that failed have no row; the slots that nobody took name them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from weighbridge.record.arrays import Floats

# A release that lies on the grid must not fall below its slot by the rounding of a division.
_ROUNDING_SLOTS = 1e-6


@dataclass(frozen=True)
class Grid:
    """Slots of the rows given, in their order, and those that nobody took; `base_s` is the time of slot 0."""

    base_s: float
    rate_rps: float
    slots: npt.NDArray[np.int64]
    untaken: npt.NDArray[np.int64]

    @property
    def intended_s(self) -> Floats:
        """Scheduled time of each row."""
        return self.base_s + self.slots / self.rate_rps

    @property
    def untaken_s(self) -> Floats:
        """Scheduled times of the arrivals without a row: they failed or never ended."""
        return self.base_s + self.untaken / self.rate_rps


def rebuild(released_s: Floats, rate_rps: float, scheduled_count: int) -> Grid | None:
    """Grid behind `released_s` (any order) of `scheduled_count` arrivals; None when they do not fit on one.

    Walks backwards: slot = min(next slot − 1, ⌊(release − base)·R⌋), base the lowest phase. Rounding to the nearest
    slot goes wrong once the pacer is late by more than a gap.
    """
    count = len(released_s)
    if not count or count > scheduled_count:
        return None
    order = np.argsort(released_s, kind="stable")
    ordered = released_s[order]
    ranks = np.arange(count)
    if count == scheduled_count:
        slots = ranks
    else:
        phase = float(np.min(np.mod(ordered, 1 / rate_rps)))
        highest = np.floor((ordered - phase) * rate_rps + _ROUNDING_SLOTS).astype(np.int64)
        highest = np.minimum(highest, scheduled_count - count + ranks)
        slots = np.minimum.accumulate((highest - ranks)[::-1])[::-1] + ranks
    if slots[0] < 0:
        return None
    base = float(np.min(ordered - slots / rate_rps))
    placed = np.empty(count, dtype=np.int64)
    placed[order] = slots
    is_taken = np.zeros(scheduled_count, dtype=np.bool_)
    is_taken[slots] = True
    return Grid(base, rate_rps, placed, np.flatnonzero(~is_taken))
