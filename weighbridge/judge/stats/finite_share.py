"""How many of a finite number are bad, from a part of them that was looked at: exact bounds (hypergeometric).

Sources: Johnson, Kemp, Kotz, *Univariate Discrete Distributions*, 3rd edition, chapter 6 (the distribution); the
bounds follow Clopper and Pearson's construction (Biometrika 26, 1934): at either end 2.5 % at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable

_TAIL = 0.025


def bounds(bad_count: int, looked_count: int, total_count: int) -> tuple[int, int]:
    """Return the least and the most bad ones among all that go with so many among those looked at (95 %).

    Raises ValueError where the counts cannot be: 0 ≤ bad ≤ looked ≤ total and looked ≥ 1.
    """
    if not 0 <= bad_count <= looked_count <= total_count or looked_count < 1:
        raise ValueError(f"{bad_count} bad of {looked_count} looked at of {total_count} cannot be")
    least, most = bad_count, total_count - (looked_count - bad_count)

    def at_least_so_many(all_bad: int) -> bool:
        return 1 - _at_most(bad_count - 1, looked_count, all_bad, total_count) > _TAIL

    def at_most_so_many(all_bad: int) -> bool:
        return _at_most(bad_count, looked_count, all_bad, total_count) > _TAIL

    low = _first(least, most, at_least_so_many)
    high = total_count - _first(
        total_count - most, total_count - least, lambda good: at_most_so_many(total_count - good)
    )
    return low, high


def _first(least: int, most: int, holds: Callable[[int], bool]) -> int:
    """Return the first number from `least` on for which it holds; it holds from there on, and for `most`."""
    while least < most:
        middle = (least + most) // 2
        if holds(middle):
            most = middle
        else:
            least = middle + 1
    return least


def _at_most(count: int, looked: int, all_bad: int, total: int) -> float:
    """Return the chance of at most `count` bad ones among those looked at."""
    least = max(0, looked - (total - all_bad))
    return min(1.0, sum(_exactly(one, looked, all_bad, total) for one in range(least, min(count, all_bad) + 1)))


def _exactly(count: int, looked: int, all_bad: int, total: int) -> float:
    good = total - all_bad
    return math.exp(_log_choose(all_bad, count) + _log_choose(good, looked - count) - _log_choose(total, looked))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
