"""Quantiles of known delays: what a gateway recorded that it slept, joined to what it adds without a delay.

The quantile of a sum is not the sum of quantiles: a sleep is joined with control samples, all
pairs of them. Yet the two are not quite independent: a request that is released late met a busy gateway, and the rest
of its way is slower too. So a sleep is joined with those control samples alone that were released as late, by rank.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from weighbridge import quantiles
from weighbridge.record.arrays import Ints

# Ten groups of like lateness: enough for the rank correlation of 0.1 to 0.4 that was seen, and with 500 requests a
# lane still 50 sleeps and 100 control samples in each.
_GROUP_COUNT = 10
_GROUP_NEEDS_COUNT = 20


@dataclass(frozen=True)
class Timed:
    """Times of the requests of a lane, and how long after its due time each request was released; both in ns."""

    ns: Ints
    late_ns: Ints

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.ns)


def truth_quantile(sleeps: Timed, control: Timed, share: float) -> int:
    """Return the ns at the nearest rank of `share` among all sums of a sleep and a control sample of like lateness.

    Every sleep counts the same, however many control samples it is joined with. The pairs are counted, not made:
    with s sleeps and t control samples it takes s·log t for each of at most 63 halvings and no memory to speak of.
    Where requests are few, or none of a set is later than another, all pairs are joined. ValueError if one is empty.
    """
    if not len(sleeps) or not len(control):
        raise ValueError("a quantile of no pairs does not exist")
    groups = list(_alike(sleeps, control))
    wanted = quantiles.rank(len(sleeps) * len(control), share) / len(control) - 1e-9
    low = int(sleeps.ns.min()) + int(control.ns.min())
    high = int(sleeps.ns.max()) + int(control.ns.max())
    while low < high:
        middle = (low + high) // 2
        if sum(_count_up_to(middle, *group) for group in groups) >= wanted:
            high = middle
        else:
            low = middle + 1
    return low


def _count_up_to(limit_ns: int, sleeps: Ints, ordered: Ints) -> float:
    """Count the sleeps of a group, each by the share of its sums with control samples of the group not above."""
    return float(np.searchsorted(ordered, limit_ns - sleeps, side="right").sum()) / len(ordered)


def _alike(sleeps: Timed, control: Timed) -> Iterator[tuple[Ints, Ints]]:
    """Yield sleeps and sorted control samples that go together."""
    count = max(1, min(_GROUP_COUNT, len(sleeps) // _GROUP_NEEDS_COUNT, len(control) // _GROUP_NEEDS_COUNT))
    mine, theirs = _group_of(sleeps.late_ns, count), _group_of(control.late_ns, count)
    if not np.isin(mine, theirs).all():
        yield sleeps.ns, np.sort(control.ns)
        return
    for group in np.unique(mine):
        yield sleeps.ns[mine == group], np.sort(control.ns[theirs == group])


def _group_of(late_ns: Ints, count: int) -> Ints:
    """Return the number of the group of each, from the least late on; those that were equally late are in one."""
    place: Ints = np.searchsorted(np.sort(late_ns), late_ns, side="left")
    return place * count // len(late_ns)


def quantile_ns(values: Ints, share: float) -> int:
    """Return the value at the nearest rank of `share`, ns; ValueError of nothing."""
    place = quantiles.rank(len(values), share) - 1
    return int(np.partition(values, place)[place])


def sampling_error_ns(values: Ints, share: float) -> float:
    """Return the standard error of a quantile of so many samples, ns.

    It is half the distance of the order statistics around the quantile.
    """
    count = len(values)
    middle, off = count * share, math.sqrt(count * share * (1 - share))
    low, high = (min(max(place, 0), count - 1) for place in (math.floor(middle - off), math.ceil(middle + off)))
    ordered = np.sort(values)
    return float(ordered[high] - ordered[low]) / 2
