"""Intervals of the same estimator as the figure beside them: the median over runs, or a percentile of a single run.

Never from pooled requests: requests of one run share its luck, so that pooling makes intervals far too narrow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from weighbridge import quantiles
from weighbridge.judge.stats.binomial import median_ranks, quantile_ranks
from weighbridge.record.figures import Interval

# METHOD 5: consecutive parts of a single run, whose scatter tells how much its requests share their luck.
BATCHES = 20

# 97.5 % quantile of Student's t for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook of Statistical
# Methods, table 1.3.6.7.2). tests/unit/judge/stats/test_intervals.py integrates the density to check each.
_T975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_Z975 = 1.959964


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t; above 30 degrees the normal one with two corrections.

    Abramowitz and Stegun 26.7.5: z + (z³ + z) ÷ 4ν + (5z⁵ + 16z³ + 3z) ÷ 96ν².
    """
    if degrees < 1:
        raise ValueError("Student's t needs one degree of freedom at least")
    if degrees <= len(_T975):
        return _T975[degrees - 1]
    first = (_Z975**3 + _Z975) / (4 * degrees)
    second = (5 * _Z975**5 + 16 * _Z975**3 + 3 * _Z975) / (96 * degrees**2)
    return _Z975 + first + second


def interval(values: Sequence[float]) -> Interval | None:
    """Return the interval of the median of run values; None of a single one.

    From six runs on by ranks (95 % or a little more, whatever the distribution), below that lowest to highest.
    """
    ordered = sorted(values)
    if len(ordered) < 2:
        return None
    ranks = median_ranks(len(ordered))
    if ranks is None:
        return Interval(low=ordered[0], high=ordered[-1], kind="range")
    return Interval(low=ordered[ranks[0] - 1], high=ordered[ranks[1] - 1], kind="ranks")


def interval_of_run(samples: npt.NDArray[np.float64], share: float) -> Interval:
    """Return the 95 % interval of a percentile of one run; `samples` in the order of their start.

    By ranks, as far from the percentile's own as the scatter of consecutive batches says: n independent samples would
    scatter by √(share × (1 − share) × n) ranks, and neighbours in a queue are not independent.
    """
    count, ordered = len(samples), np.sort(samples)
    value = ordered[quantiles.rank(count, share) - 1]
    wider, middle = _wider(samples <= value, share), share * count
    lower, upper = quantile_ranks(count, share)
    lower, upper = math.floor(middle - wider * (middle - lower)), math.ceil(middle + wider * (upper - middle))
    return Interval(
        low=float(ordered[lower - 1]) if lower >= 1 else None,
        high=float(ordered[upper - 1]) if upper <= count else None,
        kind="batches",
    )


def _wider(within: npt.NDArray[np.bool_], share: float) -> float:
    """Return how many times wider than of independent samples an interval is, 1 or more; by t, for few batches."""
    batches = [part for part in np.array_split(within, BATCHES) if len(part)]
    if len(batches) < 2:
        return 1.0
    shares = np.array([part.mean() for part in batches])
    alone = share * (1 - share) * len(batches) / len(within)
    scatter = math.sqrt(float(shares.var(ddof=1)) / alone)
    return max(1.0, scatter * t_quantile(len(batches) - 1) / _Z975)


def interval_of_difference(
    value: tuple[float, Interval | None], less: tuple[float, Interval | None]
) -> Interval | None:  # fmt: skip
    """Return the interval of a difference of two percentiles of separate runs by their own; None without one of them.

    Their distances to the ends are added as squares (Zou and Donner, Statistics in Medicine 27, 2008).
    """
    (first, mine), (second, other) = value, less
    if mine is None or other is None:
        return None
    below = None if mine.low is None or other.high is None else math.hypot(first - mine.low, other.high - second)
    above = None if mine.high is None or other.low is None else math.hypot(mine.high - first, second - other.low)
    middle = first - second
    return Interval(
        low=None if below is None else middle - below,
        high=None if above is None else middle + above,
        kind="batches",
    )
