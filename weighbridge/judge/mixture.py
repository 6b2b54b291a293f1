"""Quantiles of known weights: what a gateway recorded that it slept, joined to what it adds without a weight.

Called by `calibration`. A weight and the tare are independent, so that their sum is distributed as all pairs are:
the quantile of a sum is not the sum of quantiles. All in whole nanoseconds, so that the rank is exact.
"""

from __future__ import annotations

import math

import numpy as np

from weighbridge import quantiles
from weighbridge.record.inband import Ints


def truth_quantile(sleeps: Ints, tare: Ints, share: float) -> int:
    """Value at the nearest rank of `share` among all sums of a recorded sleep and a tare sample, ns.

    The pairs are counted, not made: with s sleeps and t tare samples it takes s·log t for each of at most 63
    halvings and no memory to speak of. ValueError when one of the sets is empty.
    """
    if not len(sleeps) or not len(tare):
        raise ValueError("a quantile of no pairs does not exist")
    ordered = np.sort(tare)
    wanted = quantiles.rank(len(sleeps) * len(tare), share)
    low = int(sleeps.min()) + int(ordered[0])
    high = int(sleeps.max()) + int(ordered[-1])
    while low < high:
        middle = (low + high) // 2
        if int(np.searchsorted(ordered, middle - sleeps, side="right").sum()) >= wanted:
            high = middle
        else:
            low = middle + 1
    return low


def quantile_ns(values: Ints, share: float) -> int:
    """Value at the nearest rank of `share`, ns; ValueError of nothing."""
    place = quantiles.rank(len(values), share) - 1
    return int(np.partition(values, place)[place])


def sampling_error_ns(values: Ints, share: float) -> float:
    """Standard error of a quantile of so many samples, ns: half the distance of the order statistics around it."""
    count = len(values)
    middle, off = count * share, math.sqrt(count * share * (1 - share))
    low, high = (min(max(place, 0), count - 1) for place in (math.floor(middle - off), math.ceil(middle + off)))
    ordered = np.sort(values)
    return float(ordered[high] - ordered[low]) / 2
