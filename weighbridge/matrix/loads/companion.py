"""How much of an offered rate the companion probe takes beside a driver that sees no stamps, or why none runs.

The rule, for a rate R and windows of T seconds:

- r = (220 + c) ÷ T, at least 1/s, so that 200 samples are left (p50 and p95) when a tenth of the stamps is lost;
  never more than R ÷ 4. Rounded down to two digits behind the point.
- c, its own connections beside the main driver's cap C, is its share of that cap, C × r ÷ R, at least 4.
- A companion that would have fewer than 20 samples (no p50), or leave the main driver less than half of the
  requests, is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from weighbridge import quantiles
from weighbridge.matrix.arrivals import Arrivals
from weighbridge.matrix.strict import STRICT, refused, shown

# What a matrix may say: by the rule above, not at all, or requests per second.
CompanionRate = Literal["auto", "off"] | float

OFF = "off: the matrix wants no probe beside the driver (companion)"

WANTED_COUNT = quantiles.needed(0.95)
SPARE_SHARE = 0.10
USEFUL_COUNT = quantiles.needed(0.50)
MOST_SHARE = 0.25
LEAST_RPS = 1.0
LEAST_CONNECTIONS = 4
# No lane needs more a second for 200 samples in a window worth its name.
MOST_RPS = 100.0


@dataclass(frozen=True)
class Companion:
    """A second load generator that takes a part of the offered rate, with connections of its own."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    driver: Annotated[str, Field(description="Name of its driver.")]
    rate_rps: Annotated[float, Field(description="Its part of the offered rate, requests/s.")]
    connections: Annotated[int, Field(description="Its own cap on connections, beside the driver's.")]
    arrivals: Annotated[Arrivals, Field(description="How its requests are spaced.")] = "poisson"

    def window_count(self, whole_count: int, whole_rps: float) -> int:
        """Return how many of a window's requests it sends, so that it lasts as long as the driver."""
        return round(self.rate_rps * whole_count / whole_rps)


@dataclass(frozen=True)
class Whole:
    """The load that is to be shared: its rate, length, measured and warm-up requests, and cap on connections."""

    rate_rps: float
    duration_s: float
    request_count: int
    connections: int
    warmup_count: int = 0


def companion_for(whole: Whole, driver: str, asked: CompanionRate, arrivals: Arrivals = "poisson") -> Companion | str:
    """Return the companion of a load by this driver with these arrivals, or the reason why it has none."""
    if asked == "off":
        return OFF
    rate_rps = _auto_rps(whole) if asked == "auto" else float(asked)
    own = Companion(driver, rate_rps, _connections(whole, rate_rps), arrivals)
    together = whole.request_count + whole.connections + own.connections + whole.warmup_count
    warmup_count = own.window_count(whole.warmup_count, whole.rate_rps)
    own_window = own.window_count(together, whole.rate_rps) if rate_rps > 0 else own.connections
    count = own_window - own.connections - warmup_count
    if count < USEFUL_COUNT:
        return (
            f"a probe beside the driver would have {max(0, count)} samples in a window at a share of {rate_rps:g}/s; "
            f"{USEFUL_COUNT} are the least that give a median"
        )
    rest = together - own_window - whole.connections - (whole.warmup_count - warmup_count)
    if 2 * rest < whole.request_count:
        return "a probe beside the driver would leave it less than half of the requests"
    return own


def most_rps(rate_rps: float) -> float:
    """Return the largest part of a rate that a companion may take."""
    return MOST_SHARE * rate_rps


def _auto_rps(whole: Whole) -> float:
    wanted = math.ceil(round(WANTED_COUNT * (1 + SPARE_SHARE), 6))
    share = wanted / whole.duration_s / whole.rate_rps
    own = max(LEAST_CONNECTIONS, math.ceil(whole.connections * min(share, MOST_SHARE)))
    found = min(max((wanted + own) / whole.duration_s, LEAST_RPS), most_rps(whole.rate_rps), MOST_RPS)
    return math.floor(round(100 * found, 6)) / 100


def _connections(whole: Whole, rate_rps: float) -> int:
    share = rate_rps / whole.rate_rps
    return max(LEAST_CONNECTIONS, math.ceil(round(whole.connections * share, 6)))


def _asked(value: Any) -> Any:
    if value in ("auto", "off"):
        return value
    expected = "expected auto, off or requests per second from 0.01 to 100"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refused(
            f"{shown(value)} is no part for the probe", expected, "off" if value in (False, None) else "auto"
        )
    if not 0.01 <= value <= MOST_RPS:
        raise refused(f"{value:,} is out of range", expected)
    return float(value)


AskedCompanion = Annotated[CompanionRate, BeforeValidator(_asked)]
