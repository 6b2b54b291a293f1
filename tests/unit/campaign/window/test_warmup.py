"""When a warm-up is over: lanes whose added time falls are not called steady before it has fallen."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.examples.matrix_samples import cells
from weighbridge.campaign.window.warmup import Warmed, until_steady
from weighbridge.judge.figures.steadiness import is_steady
from weighbridge.judge.stats.drift import Times
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.warmup import LaneWarmup, expected_rps

ASKED = LaneWarmup()


@pytest.fixture(scope="module")
def cell(tmp_path_factory: pytest.TempPathFactory) -> Cell:
    """A cell at 50/s."""
    return next(one for one in cells(tmp_path_factory.mktemp("cells")) if one.load.offered_rps == 50)


class FakeLane:
    """Added time in ms of each request of a lane, in the order of its requests; time goes on at the cell's rate."""

    def __init__(self, times: Times, cell: Cell) -> None:
        self._times = times
        self._rate_rps = expected_rps(cell)
        self.counts: list[int] = []

    def drive(self, count: int) -> Times | None:
        """The next requests."""
        at = sum(self.counts)
        self.counts.append(count)
        return np.asarray(self._times[at : at + count])

    def now(self) -> float:
        """Seconds since the begin."""
        return sum(self.counts) / self._rate_rps


def warmed(times: Times, cell: Cell, asked: LaneWarmup = ASKED) -> tuple[Warmed, list[int]]:
    """How a warm-up of this lane ends, and its rounds."""
    lane = FakeLane(times, cell)
    return until_steady(lane.drive, cell, asked, now=lane.now), lane.counts


@pytest.mark.parametrize(
    ("first_ms", "last_ms", "decay"), [(5, 3, 60), (4, 2, 100), (9, 3, 60), (6, 3, 200), (12, 3, 80)]
)
def test_a_lane_that_warms_up_is_steady_when_it_is_warm(
    cell: Cell, first_ms: float, last_ms: float, decay: float
) -> None:
    """Of 100 seeded lanes 85 are within 10 % of their end when it is over, or are called not steady.

    By the total time, in which 20 or 95 ms are the provider's, each of them was called steady after 20 requests, at
    1.5 to 3.4 times its end.
    """
    drawn = np.random.default_rng(8)
    places = np.arange(400)
    falling = last_ms + (first_ms - last_ms) * np.exp(-places / decay)
    found = [warmed(falling * drawn.lognormal(0, 0.05, 400), cell)[0] for _ in range(100)]
    good = [one.is_steady is False or falling[one.request_count - 1] <= 1.1 * last_ms for one in found]
    assert sum(good) >= 85


def test_a_lane_that_never_settles_is_not_steady(cell: Cell) -> None:
    """9 ms that are gone after 500 requests are still falling after 400: not steady, after four rounds."""
    drawn = np.random.default_rng(7)
    found, rounds = warmed((0.5 + 9 * (1 - np.arange(400) / 500)) * drawn.lognormal(0, 0.02, 400), cell)
    assert found == Warmed(is_steady=False, request_count=400)
    assert rounds == [50, 50, 100, 200]


def test_a_steady_lane_takes_one_round(cell: Cell) -> None:
    """Of 400 seeded lanes that only scatter as a queue does, 6 in 10 need 50 requests, 1 in 40 is not steady."""
    drawn = np.random.default_rng(9)
    found = [warmed(drawn.gamma(2.0, 1.0, 400), cell)[0] for _ in range(400)]
    assert sum(one.request_count == 50 for one in found) >= 240
    assert sum(one.is_steady is False for one in found) <= 10


def test_the_first_round_is_fifty_requests_or_ten_seconds(cell: Cell) -> None:
    """At 2/s 10 s are 20 requests, too few to judge: they go on for 20 s; what cannot be told is no remark."""
    slow = replace(cell, load=replace(cell.load, rate_rps=2.0))
    found, rounds = warmed(np.ones(400), slow)
    assert rounds == [20, 20]
    assert found == Warmed(is_steady=True, request_count=40)
    slower = replace(cell, load=replace(cell.load, rate_rps=0.5))
    assert warmed(np.ones(400), slower) == (Warmed(is_steady=None, request_count=5), [5])
    assert math.isclose(ASKED.first_s(slow), 10.0)


def test_a_lane_that_leaves_nothing_is_no_remark(cell: Cell) -> None:
    """A probe without a report says nothing of steadiness: the window itself is judged."""
    assert until_steady(lambda _: None, cell, ASKED) == Warmed(is_steady=None, request_count=0)


def test_every_client_has_its_part_of_a_round(tmp_path: Path) -> None:
    """A round has one request of each client at least, and as many in all as was asked for."""
    for one in cells(tmp_path):
        count = ASKED.first_count(one)
        load = one.load.warm_up(count)
        assert count >= one.load.concurrency
        assert load.window_count == max(2, count)
        assert load.concurrency in (one.load.concurrency, count - 1, 1)


def test_thirds_need_a_value_for_each_batch() -> None:
    """23 times are too few to tell, 24 that agree are steady, 24 that fall are not."""
    assert is_steady(np.full(23, 2.0)) is None
    assert is_steady(np.full(24, 2.0)) is True
    assert is_steady(np.linspace(5.0, 1.0, 24)) is False
