"""How much of an offered rate a probe takes that rides along beside oha or wrk, or why none does.

Called by `expand`. Pure. The rule, for a rate R and windows of T seconds:

- r = (220 + c) ÷ T, at least 1/s, so that 200 samples are left (p50 and p95) when a tenth is left out because the
  probe itself was late; never more than R ÷ 4. Rounded down to two digits behind the point.
- c, its own connections beside the main driver's cap C, is its share of that cap, C × r ÷ R, at least 4.
- A ride that would leave fewer than 20 samples (no p50), or the main driver less than half of the requests, is none.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal

from weighbridge import quantiles
from weighbridge.matrix.cells import DriverName, LoadSpec, RideSpec

# What a matrix may say: by the rule above, not at all, or requests a second.
RideAlong = Literal["auto", "off"] | float

# The driver that needs no probe beside it.
SELF_SEEING: DriverName = "probe"
OFF = "off: the matrix wants no probe beside the driver (ride_along)"

WANTED_COUNT = quantiles.needed(0.95)
SPARE_SHARE = 0.10
USEFUL_COUNT = quantiles.needed(0.50)
MOST_SHARE = 0.25
LEAST_RPS = 1.0
LEAST_CONNECTIONS = 4
# No lane needs more a second for 200 samples in a window worth its name.
MOST_RPS = 100.0


def with_ride(load: LoadSpec, driver: DriverName, asked: RideAlong) -> LoadSpec:
    """The load with the probe that rides along, or with the reason why none does."""
    if load.rate_rps is None or load.duration_s is None or driver == SELF_SEEING:
        return load
    if asked == "off":
        return load.alone(OFF)
    rate_rps = _auto_rps(load.rate_rps, load.duration_s, load.connections) if asked == "auto" else float(asked)
    riding = replace(load, ride=RideSpec(rate_rps, _connections(load, rate_rps))) if rate_rps > 0 else load
    rider = riding.rider
    count = 0 if rider is None else rider.request_count
    if count < USEFUL_COUNT:
        return load.alone(
            f"a probe beside the driver would have {max(0, count)} samples in a window at a share of {rate_rps:g}/s; "
            f"{USEFUL_COUNT} are the least that give a median"
        )
    if 2 * riding.main.request_count < load.request_count:
        return load.alone("a probe beside the driver would leave it less than half of the requests")
    return riding


def most_rps(rate_rps: float) -> float:
    """Largest part of a rate that a probe may take."""
    return MOST_SHARE * rate_rps


def _auto_rps(rate_rps: float, duration_s: float, connections: int) -> float:
    wanted = math.ceil(round(WANTED_COUNT * (1 + SPARE_SHARE), 6))
    share = wanted / duration_s / rate_rps
    own = max(LEAST_CONNECTIONS, math.ceil(connections * min(share, MOST_SHARE)))
    found = min(max((wanted + own) / duration_s, LEAST_RPS), most_rps(rate_rps), MOST_RPS)
    return math.floor(round(100 * found, 6)) / 100


def _connections(load: LoadSpec, rate_rps: float) -> int:
    share = rate_rps / (load.rate_rps or rate_rps)
    return max(LEAST_CONNECTIONS, math.ceil(round(load.connections * share, 6)))
