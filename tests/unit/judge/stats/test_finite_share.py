"""Bounds of a finite number from a part of it: those of METHOD, of brute force, and how often they hold."""

from __future__ import annotations

import math

import numpy as np
import pytest

from weighbridge.judge.stats.finite_share import bounds


@pytest.mark.parametrize(
    ("bad", "looked", "total", "expected"),
    [(2, 44, 440, (3, 65)), (0, 44, 440, (0, 33)), (0, 10, 10, (0, 0)), (10, 10, 10, (10, 10)), (3, 10, 10, (3, 3))],
)
def test_bounds_are_those_of_the_method(bad: int, looked: int, total: int, expected: tuple[int, int]) -> None:
    """2 of 44 are 3 to 65 of 440; none of 44 are at most 33, which is 7.5 %; a part that is all of it is exact."""
    assert bounds(bad, looked, total) == expected


@pytest.mark.parametrize(("looked", "total"), [(5, 30), (12, 40)])
def test_bounds_are_those_of_brute_force(looked: int, total: int) -> None:
    """Every number of bad ones is within bounds exactly where neither tail is 2.5 % or less."""

    def chance(count: int, all_bad: int) -> float:
        ways = math.comb(all_bad, count) * math.comb(total - all_bad, looked - count)
        return ways / math.comb(total, looked)

    for bad in range(looked + 1):
        inside = [
            every
            for every in range(bad, total - looked + bad + 1)
            if sum(chance(one, every) for one in range(bad + 1)) > 0.025
            and sum(chance(one, every) for one in range(bad, looked + 1)) > 0.025
        ]
        assert bounds(bad, looked, total) == (inside[0], inside[-1])


def test_bounds_hold_in_19_of_20() -> None:
    """Of drawn parts the true number lies outside in no more than 5 %."""
    rng = np.random.default_rng(7)
    for every in (1, 20, 200):
        found = rng.hypergeometric(every, 440 - every, 44, 400)
        outside = sum(not low <= every <= high for low, high in (bounds(int(bad), 44, 440) for bad in found))
        assert outside <= 0.05 * 400


def test_what_cannot_be_is_refused() -> None:
    """More bad than looked at, more looked at than there are, or nothing looked at."""
    for counts in ((3, 2, 10), (1, 20, 10), (0, 0, 10)):
        with pytest.raises(ValueError, match="cannot be"):
            bounds(*counts)
