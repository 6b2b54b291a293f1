"""Drift within windows: what a queue's own luck makes of it, and what of a real one is found."""

from __future__ import annotations

import functools
from collections.abc import Callable

import numpy as np
import pytest

from weighbridge.judge.stats.drift import Moved, Times, drift_of_runs, first_and_last_third, moved

SERVICE_MS = 5.0
BEFORE = 500  # requests before a window, so that the queue has forgotten its begin


def queue(drawn: np.random.Generator, load: float, count: int, *, is_random: bool) -> Times:
    """Time in a single server with Poisson arrivals in ms, service fixed (M/D/1) or exponential (M/M/1)."""
    total = count + BEFORE
    arrivals = drawn.exponential(1 / load, total)
    service = drawn.exponential(1.0, total) if is_random else np.ones(total)
    walk = np.concatenate([[0.0], np.cumsum(service[:-1] - arrivals[1:])])
    wait = walk - np.minimum.accumulate(walk)
    return np.asarray((wait + service)[BEFORE:] * SERVICE_MS)


def falling(share: float, make: Callable[[int], Times], count: int) -> Times:
    """Times that have fallen by a share when the window ends."""
    return np.asarray(make(count) * (1 - share * np.arange(count) / count))


def flagged(make: Callable[[], Times], runs: int, trials: int) -> float:
    """Share of cells of so many runs that are called drifting."""
    found = [drift_of_runs([first_and_last_third(make()) for _ in range(runs)]) for _ in range(trials)]
    return float(np.mean([one != 0 for one in found]))


@pytest.mark.parametrize("is_random", [False, True], ids=["M/D/1", "M/M/1"])
@pytest.mark.parametrize(
    ("load", "count"), [(0.2, 160), (0.45, 160), (0.5, 240), (0.6, 500), (0.7, 500), (0.7, 1500), (0.8, 1500)]
)
def test_a_queue_that_does_not_drift_is_rarely_called_so(load: float, count: int, is_random: bool) -> None:
    """Where runs are judged, at most 1 % of single runs, 5 % of three and 1 % of six are false alarms.

    At 0.8 no run is judged (busier than 70 %): there 1,500 requests would do.
    """
    drawn = np.random.default_rng(8)
    make = functools.partial(queue, drawn, load, count, is_random=is_random)
    assert flagged(make, 1, 200) <= 0.01
    assert flagged(make, 3, 120) <= 0.05
    assert flagged(make, 6, 50) <= 0.01


def test_a_short_busy_queue_would_be_called_drifting() -> None:
    """160 requests at a load of 0.8: one run in ten and one cell in six of three runs, hence they are not judged."""
    drawn = np.random.default_rng(8)
    make = functools.partial(queue, drawn, 0.8, 160, is_random=True)
    assert flagged(make, 1, 400) > 0.05
    assert flagged(make, 3, 200) > 0.10


@pytest.mark.parametrize(
    ("load", "count", "share", "runs", "least"),
    [(0.1, 240, 0.15, 1, 0.9), (0.3, 240, 0.3, 3, 0.8), (0.3, 500, 0.15, 3, 0.8), (0.5, 1500, 0.6, 1, 0.7)],
)
def test_a_fall_is_found(load: float, count: int, share: float, runs: int, least: float) -> None:
    """A lane with fixed service whose times fall by this share within each window is called drifting."""
    drawn = np.random.default_rng(11)
    make = functools.partial(queue, drawn, load, is_random=False)
    assert flagged(lambda: falling(share, lambda n: make(count=n), count), runs, 150) >= least


def test_the_window_that_showed_nothing_is_found() -> None:
    """Added time from 9.5 to 4.5 ms within one window of 240, as a real lane had it: all of 200 are found."""
    drawn = np.random.default_rng(12)
    noise = lambda n: 9.5 * drawn.lognormal(0, 0.1, n)  # noqa: E731 - a lane without a queue
    assert flagged(lambda: falling(0.53, noise, 240), 1, 200) == 1.0


def test_the_floor_and_the_share_must_be_passed() -> None:
    """0.05 ms of 0.7 are the lane's own wander, 4 % of 10 ms are no drift, whatever t says."""
    sure = 50.0
    assert Moved(0.71, 0.66, -sure).direction(4.5) == 0
    assert Moved(10.0, 9.6, -sure).direction(4.5) == 0
    assert Moved(0.71, 0.60, -sure).direction(4.5) == -1
    assert Moved(10.0, 10.6, sure).direction(4.5) == 1
    assert Moved(10.0, 10.6, 4.4).direction(4.5) == 0


def test_two_thirds_of_the_runs_drift_the_same_way() -> None:
    """Two of three and four of six do, one of two and three of six do not; opposite ways do not add up."""
    up, down, still = Moved(10, 12, 3.0), Moved(10, 8, -3.0), Moved(10, 10, 0.0)
    assert drift_of_runs([up, up, still]) == 1
    assert drift_of_runs([down, down, None]) == -1
    assert drift_of_runs([up] * 4 + [still] * 2) == 1
    assert drift_of_runs([up] * 3 + [still] * 3) == 0
    assert drift_of_runs([up, down, still]) == 0
    assert drift_of_runs([up, still]) == 0
    assert drift_of_runs([up, up]) == 1
    assert drift_of_runs([up]) == 0  # of one run t must be above 4.5
    assert drift_of_runs([Moved(10, 12, 4.6)]) == 1
    assert drift_of_runs([None]) == 0
    assert drift_of_runs([]) == 0


def test_a_third_needs_a_value_for_each_batch() -> None:
    """Below 24 values nothing is said; batches that do not scatter at all have no infinite t."""
    assert first_and_last_third(np.arange(23.0)) is None
    found = moved(np.full(8, 5.0), np.full(8, 7.0))
    assert found is not None
    assert (found.first_ms, found.last_ms, found.t) == (5.0, 7.0, 1000.0)
