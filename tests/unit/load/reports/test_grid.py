"""The schedule rebuilt from release instants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weighbridge.load.reports.grid import rebuild


@given(
    rate=st.sampled_from([2.5, 20.0, 50.0, 150.0, 300.0, 1000.0]),
    late=st.lists(st.floats(0, 0.05), min_size=1, max_size=200),
    base=st.floats(0, 0.001),
)
def test_without_failures_every_release_finds_its_slot(rate: float, late: list[float], base: float) -> None:
    """However late the pacer was, the k-th release is slot k, and no release lies before its slot."""
    scheduled = base + np.arange(len(late)) / rate
    released = np.maximum.accumulate(scheduled + np.array(late))
    grid = rebuild(released, rate, len(released))
    assert grid is not None
    assert grid.slots.tolist() == list(range(len(late)))
    assert (released - grid.intended_s >= -1e-9).all()
    assert not len(grid.untaken)


@given(
    rate=st.sampled_from([20.0, 50.0, 150.0]),
    taken=st.lists(st.booleans(), min_size=3, max_size=200),
    share=st.floats(0, 0.9),
    seed=st.integers(0, 1000),
)
def test_failures_are_named_while_lateness_stays_below_a_gap(
    rate: float, taken: list[bool], share: float, seed: int
) -> None:
    """The slots without a release are exactly those that were left out, at their scheduled times."""
    taken = [True, *taken]
    random = np.random.default_rng(seed)
    scheduled = 0.0005 + np.arange(len(taken)) / rate
    late = random.uniform(0, share / rate, len(taken))
    late[0] = 0.0
    kept = np.array(taken)
    grid = rebuild((scheduled + late)[kept], rate, len(taken))
    assert grid is not None
    assert grid.untaken.tolist() == np.flatnonzero(~kept).tolist()
    assert grid.untaken_s == pytest.approx(scheduled[~kept], abs=1e-6)


def test_a_starved_pacer_does_not_push_releases_into_later_slots() -> None:
    """Three releases in one burst, two gaps late, are slots 3, 4, 5; rounding would call them 5, 5, 5."""
    rate = 100.0
    released = np.array([0.0, 0.01, 0.02, 0.0551, 0.0552, 0.0553, 0.06, 0.09])
    grid = rebuild(released, rate, 10)
    assert grid is not None
    assert grid.slots.tolist() == [0, 1, 2, 3, 4, 5, 6, 9]
    assert grid.untaken.tolist() == [7, 8]


def test_the_order_of_rows_does_not_matter() -> None:
    """Rows come in order of completion; each keeps its own slot."""
    grid = rebuild(np.array([0.2, 0.0, 0.1]), 10.0, 3)
    assert grid is not None
    assert grid.slots.tolist() == [2, 0, 1]


def test_what_does_not_fit_has_no_grid() -> None:
    """More releases than arrivals, or none at all, rebuild nothing."""
    assert rebuild(np.array([0.0, 0.1]), 10.0, 1) is None
    assert rebuild(np.empty(0), 10.0, 5) is None


@pytest.mark.parametrize("rate", [30.0, 49.0, 150.0, 290.0])
def test_releases_exactly_on_the_grid_keep_their_slots(rate: float) -> None:
    """A punctual release is not pushed into the slot before by the rounding of a division."""
    kept = np.array([k for k in range(400) if k % 7 != 5])
    grid = rebuild(0.0005 + kept / rate, rate, 400)
    assert grid is not None
    assert grid.slots.tolist() == kept.tolist()
