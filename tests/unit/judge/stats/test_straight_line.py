"""One line through points."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.judge.stats.straight_line import straight_line

NUMBERS = st.integers(-1000, 1000)


@given(NUMBERS, NUMBERS, st.lists(NUMBERS, min_size=2, max_size=9, unique=True))
def test_points_of_a_line_give_it_back(slope: int, intercept: int, at: list[int]) -> None:
    """Slope and intercept are those of the line, and no point lies off it."""
    line = straight_line(at, [slope * one + intercept for one in at])

    assert line is not None
    assert (line.slope, line.intercept) == (pytest.approx(slope, abs=1e-6), pytest.approx(intercept, abs=1e-3))
    assert line.residual == pytest.approx(0, abs=1e-3)


def test_the_residual_is_the_farthest_point_on_either_side() -> None:
    """A point below the line counts like one above it."""
    line = straight_line([0, 1, 2], [0, -3, 0])

    assert line is not None
    assert (line.slope, line.intercept, line.residual) == (0, -1, 2)


def test_points_at_one_place_have_no_line() -> None:
    """A slope between equal places does not exist."""
    assert straight_line([4, 4], [1, 2]) is None
