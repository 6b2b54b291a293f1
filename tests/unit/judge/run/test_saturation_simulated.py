"""How often a lane near its limit is called saturated, by the judge's own rule on queues that are simulated.

One server, random arrivals with an exact count, fixed (M/D/1) or exponential (M/M/1) service times, in the windows of
`--quick` (160 requests) and of the default matrix (1,500).
"""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from weighbridge.judge.figures.backlog import Backlog, backlog
from weighbridge.record.arrays import Floats

WINDOWS = 400
RATES = {160: 20.0, 1500: 50.0}
PROVIDER_S = 0.02


def _ends(intended_s: Floats, service_s: Floats) -> Floats:
    """When each request leaves a queue with one server."""
    done = np.cumsum(service_s)
    return done + np.maximum.accumulate(intended_s - done + service_s)


@cache
def _simulated(count: int, busy_ratio: float, service: str) -> tuple[Backlog, ...]:
    """Backlogs of many windows of so many requests at a lane which so busy a server makes."""
    drawn = np.random.default_rng([count, round(100 * busy_ratio), len(service)])
    rate = RATES[count]
    found = []
    for _ in range(WINDOWS):
        intended = np.sort(drawn.random(count)) * count / rate
        mean_s = busy_ratio / rate
        taken = np.full(count, mean_s) if service == "fixed" else drawn.exponential(mean_s, count)
        one = backlog(intended, _ends(intended, taken) + PROVIDER_S, rate)
        assert one is not None
        found.append(one)
    return tuple(found)


def _share(count: int, busy_ratio: float, service: str) -> float:
    return float(np.mean([one.is_saturated(RATES[count]) for one in _simulated(count, busy_ratio, service)]))


@pytest.mark.parametrize(
    ("count", "busy_ratio", "service", "most"),
    [
        (160, 0.6, "fixed", 0.0),
        (160, 0.6, "exponential", 0.005),
        (160, 0.8, "fixed", 0.005),
        (160, 0.8, "exponential", 0.06),
        (160, 0.9, "fixed", 0.02),
        (160, 0.9, "exponential", 0.16),
        (1500, 0.6, "exponential", 0.0),
        (1500, 0.8, "exponential", 0.0),
        (1500, 0.9, "fixed", 0.01),
        (1500, 0.9, "exponential", 0.01),
    ],
)
def test_a_lane_that_keeps_its_rate_is_rarely_called_saturated(
    count: int, busy_ratio: float, service: str, most: float
) -> None:
    """The limits are those of the method, with two standard errors of as many windows as are simulated."""
    scatter = 2 * (most * (1 - most) / WINDOWS) ** 0.5
    assert _share(count, busy_ratio, service) <= most + scatter


@pytest.mark.parametrize(
    ("count", "busy_ratio", "service", "least"),
    [
        (160, 1.1, "fixed", 0.90),
        (160, 1.2, "fixed", 0.98),
        (160, 1.2, "exponential", 0.91),
        (1500, 1.05, "fixed", 0.98),
        (1500, 1.05, "exponential", 0.90),
        (1500, 1.1, "exponential", 0.99),
        (1500, 1.2, "exponential", 1.0),
    ],
)
def test_a_lane_below_the_rate_is_called_saturated(count: int, busy_ratio: float, service: str, least: float) -> None:
    """A lane that lacks a tenth is found in nine of ten short windows, one that lacks a twentieth in long ones."""
    assert _share(count, busy_ratio, service) >= least


def test_achieved_is_the_capacity_of_a_saturated_lane() -> None:
    """With 120 % of what it can do a lane serves 83 % of the rate; the drain behind the schedule does not count."""
    shares = [one.answered_share for one in _simulated(1500, 1.2, "fixed")]
    assert np.median(shares) == pytest.approx(1 / 1.2, rel=0.01)


def test_a_backlog_alone_is_common_where_service_times_scatter() -> None:
    """At 90 % of the capacity every other short window ends with a backlog, and few of them never caught up."""
    seen = _simulated(160, 0.9, "exponential")
    backlogged = np.mean([one.is_large for one in seen])
    assert backlogged > 0.4
    assert _share(160, 0.9, "exponential") < backlogged / 2
