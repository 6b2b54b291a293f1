"""The binomial distribution as the judge needs it: its tail, the interval of a share, ranks of order statistics.

All by its terms, summed one by one, so that nothing is taken from a table or an approximation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

# What lies beyond each end of a 95 % interval.
BEYOND = 0.025
# Halvings of [0, 1]: beyond the resolution of a float near any share that can be met.
_HALVINGS = 60


@dataclass(frozen=True)
class ShareInterval:
    """A 95 % interval of a share, both ends within [0, 1]."""

    low: float
    high: float


def at_most(count: int, total: int, share: float) -> float:
    """Return the probability of `count` successes or fewer in `total` trials of this share each."""
    if share <= 0 or count >= total:
        return 1.0
    if share >= 1 or count < 0:
        return 0.0
    return float(min(1.0, _terms(count, total, share).sum()))


def clopper_pearson(count: int, total: int) -> ShareInterval:
    """Return the exact 95 % interval of the share behind `count` of `total` (Clopper and Pearson, Biometrika 1934).

    Its ends are the shares at which `count` or more, and `count` or fewer, have a probability of 2.5 %. ValueError
    without a trial, or for more successes than trials.
    """
    if not 0 <= count <= total or total < 1:
        raise ValueError(f"{count} of {total} is no share")
    if 2 * count > total:
        # The sums are shortest on the rarer side.
        mirrored = clopper_pearson(total - count, total)
        return ShareInterval(1 - mirrored.high, 1 - mirrored.low)
    low = 0.0 if count == 0 else _falls_below(lambda share: at_most(count - 1, total, share), 1 - BEYOND)
    high = 1.0 if count == total else _falls_below(lambda share: at_most(count, total, share), BEYOND)
    return ShareInterval(low, high)


def median_ranks(count: int) -> tuple[int, int] | None:
    """Return the 1-based ranks of `count` sorted values that hold their true median in 95 % or more; None below 6.

    The k-th smallest and the k-th largest, k as large as 2.5 % on each side allows: 1 and 6 of 6, 2 and 9 of 10
    (David and Nagaraja, Order Statistics, 7.1). It asks nothing of how the values are distributed.
    """
    lower = 0
    while at_most(lower, count, 0.5) <= BEYOND:
        lower += 1
    return (lower, count + 1 - lower) if lower else None


def quantile_ranks(count: int, share: float) -> tuple[int, int]:
    """Return the 1-based ranks of `count` sorted samples that hold the quantile `share` of their source in 95 %.

    0 where no sample is small enough for a lower end, `count` + 1 where none is large enough for an upper one. It
    holds for independent samples.
    """
    at_most_each = np.cumsum(_terms(count, count, share))
    lower = int(np.searchsorted(at_most_each, BEYOND, side="right"))
    return lower, int(np.searchsorted(at_most_each, 1 - BEYOND, side="left")) + 1


def _terms(count: int, total: int, share: float) -> npt.NDArray[np.float64]:
    """Return the probabilities of 0 … `count` successes; each follows from the one before by their ratio."""
    steps = np.arange(1, count + 1, dtype=np.float64)
    logs = np.log((total - steps + 1) / steps) + np.log(share) - np.log1p(-share)
    begin = total * np.log1p(-share)
    terms: npt.NDArray[np.float64] = np.exp(np.concatenate(([begin], begin + np.cumsum(logs))))
    return terms


def _falls_below(falling: Callable[[float], float], limit: float) -> float:
    """Return the share at which a probability that falls with the share gets to `limit`, by halving."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if falling(middle) > limit else (low, middle)
    return (low + high) / 2
