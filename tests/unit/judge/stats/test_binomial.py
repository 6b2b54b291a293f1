"""The binomial distribution: its tail, the interval of a share against published values, ranks for a median."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.judge.stats.binomial import ShareInterval, at_most, clopper_pearson, median_ranks


@given(st.integers(1, 60), st.integers(0, 60), st.floats(0.001, 0.999))
def test_the_tail_is_the_sum_of_its_terms(total: int, count: int, share: float) -> None:
    """Summed by ratios it is what binomial coefficients give."""
    wanted = sum(math.comb(total, k) * share**k * (1 - share) ** (total - k) for k in range(min(count, total) + 1))
    assert at_most(count, total, share) == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(0, 10, 0.0, 0.3085), (1, 10, 0.0025, 0.4450), (5, 10, 0.1871, 0.8129), (10, 10, 0.6915, 1.0),
     (10, 100, 0.0490, 0.1762), (5, 9000, 0.00018, 0.00130), (2, 44, 0.0056, 0.1547)],
)  # fmt: skip
def test_the_interval_is_that_of_the_tables(count: int, total: int, low: float, high: float) -> None:
    """Clopper and Pearson's 95 % limits as tables print them, and METHOD's own example."""
    found = clopper_pearson(count, total)
    assert (found.low, found.high) == pytest.approx((low, high), abs=6e-5)


@given(st.integers(1, 3000).flatmap(lambda total: st.tuples(st.integers(0, total), st.just(total))))
def test_each_end_leaves_two_and_a_half_per_cent_beyond_it(of: tuple[int, int]) -> None:
    """By the tail at its ends; what failed and what did not mirror each other."""
    count, total = of
    found, mirrored = clopper_pearson(count, total), clopper_pearson(total - count, total)
    assert (mirrored.low, mirrored.high) == pytest.approx((1 - found.high, 1 - found.low), abs=1e-12)
    if count:
        assert 1 - at_most(count - 1, total, found.low) == pytest.approx(0.025, abs=1e-6)
    if count < total:
        assert at_most(count, total, found.high) == pytest.approx(0.025, abs=1e-6)


@pytest.mark.parametrize(("count", "total"), [(-1, 5), (6, 5), (0, 0)])
def test_what_is_no_share_is_refused(count: int, total: int) -> None:
    """Negative, more than all, of nothing."""
    with pytest.raises(ValueError, match="is no share"):
        clopper_pearson(count, total)


def test_it_covers_rare_failures_nineteen_times_in_twenty_or_more() -> None:
    """Of 2,000 simulated cells of 9,000 requests that fail one in two thousand, 95 % or more hold that share."""
    failed = np.random.default_rng(5).binomial(9000, 0.0005, size=2000)
    bounds: dict[int, ShareInterval] = {int(count): clopper_pearson(int(count), 9000) for count in set(failed)}
    held = sum(bounds[int(count)].low <= 0.0005 <= bounds[int(count)].high for count in failed)
    assert held / 2000 >= 0.95


@pytest.mark.parametrize(
    ("count", "ranks"),
    [(1, None), (3, None), (5, None), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15))],
)
def test_ranks_that_hold_the_median(count: int, ranks: tuple[int, int] | None) -> None:
    """As in tables of the sign test: from six values on, 1 and 6 of 6, 2 and 9 of 10."""
    assert median_ranks(count) == ranks
