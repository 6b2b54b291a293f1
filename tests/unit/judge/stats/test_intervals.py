"""The interval over run values: its quantiles, its coverage, and when there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.judge.stats.intervals import interval, t_quantile


@pytest.mark.parametrize("degrees", [*range(1, 31), 31, 40, 60, 200])
def test_each_quantile_leaves_two_and_a_half_per_cent_beyond_it(degrees: int) -> None:
    """Integrating Student's density from 0 to the quantile gives 47.5 %, for every entry and beyond the table."""
    scale = math.exp(math.lgamma((degrees + 1) / 2) - math.lgamma(degrees / 2)) / math.sqrt(degrees * math.pi)
    x = np.linspace(0.0, t_quantile(degrees), 20_001)
    density = scale * (1 + x**2 / degrees) ** (-(degrees + 1) / 2)
    area = float(np.sum((density[1:] + density[:-1]) / 2) * (x[1] - x[0]))
    assert area == pytest.approx(0.475, abs=5e-5)


def test_no_interval_below_three_runs() -> None:
    """Two runs have no interval, three have one."""
    assert interval([1.0, 2.0]) is None
    assert interval([1.0, 2.0, 3.0]) is not None


def test_on_logs_the_interval_stays_positive_and_a_shift_around_zero_gets_plain_t() -> None:
    """Times of wild runs never get a negative bound; a value of zero or below switches to plain t."""
    low, high = interval([0.1, 5.0, 40.0]) or (0.0, 0.0)
    assert 0 < low < 5.0 < high
    low, high = interval([-1.0, 0.0, 1.0]) or (0.0, 0.0)
    assert (low, high) == pytest.approx((-4.303 / math.sqrt(3), 4.303 / math.sqrt(3)))


@given(st.lists(st.floats(0.01, 1e4), min_size=3, max_size=12), st.floats(0.1, 10.0))
def test_the_interval_scales_with_the_unit(values: list[float], factor: float) -> None:
    """Measuring in another unit scales both bounds; the interval holds the geometric mean."""
    low, high = interval(values) or (0.0, 0.0)
    scaled = interval([value * factor for value in values]) or (0.0, 0.0)
    centre = math.exp(sum(math.log(value) for value in values) / len(values))
    assert low * 0.999999 <= centre <= high * 1.000001
    assert scaled == pytest.approx((low * factor, high * factor), rel=1e-6)


def test_three_runs_cover_the_median_of_log_normal_runs_nineteen_times_in_twenty() -> None:
    """Of 2,000 simulated campaigns of three runs, 95 % (±1.5) have an interval that holds the true median."""
    rng = np.random.default_rng(7)
    runs = np.exp(rng.normal(math.log(3.0), 0.1, size=(2000, 3)))
    bounds = [interval(list(row)) or (0.0, 0.0) for row in runs]
    held = sum(low <= 3.0 <= high for low, high in bounds)
    assert held / 2000 == pytest.approx(0.95, abs=0.015)
