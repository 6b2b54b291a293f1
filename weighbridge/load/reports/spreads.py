"""From a tool's spread to the percentiles of the load report: milliseconds, and null where losses hide them.

Used for oha and wrk. A request that timed out or was cut off took longer than was seen: once more than 1 − p of all
are lost that way, the percentile p lies among them and is not known, whatever the tool prints.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weighbridge import quantiles
from weighbridge.record.arrays import Floats
from weighbridge.record.figures import Absent
from weighbridge.record.load_report import Percentiles, PercentilesOrAbsent


@dataclass(frozen=True)
class Spread:
    """Percentiles of a time in seconds, None where the output has none; `count` None: it does not say of how many."""

    p50_s: float | None
    p95_s: float | None
    p99_s: float | None
    max_s: float | None
    count: int | None


def spread_of(values_s: Floats) -> Spread | str:
    """Spread of measured times by the house's percentile rule, `no_response` for none."""
    if not len(values_s):
        return "no_response"
    ordered: list[float] = np.sort(values_s).tolist()
    p50, p95, p99 = (quantiles.percentile(ordered, share) for share in (0.5, 0.95, 0.99))
    return Spread(p50, p95, p99, ordered[-1], len(ordered))


@dataclass(frozen=True)
class LostRequests:
    """How many requests were answered, and how many were lost whose time is only known to be long."""

    answered_count: int
    lost_count: int

    def hides(self, share: float) -> bool:
        """Whether the percentile `share` lies among the lost."""
        total = self.answered_count + self.lost_count
        return total > 0 and self.lost_count > round((1 - share) * total, 9)


def reported(spread: Spread | str, lost: LostRequests) -> PercentilesOrAbsent:
    """Percentiles in milliseconds, or the reason why there are none."""
    if isinstance(spread, str):
        return Absent(absent=spread)

    def shown(value_s: float | None, share: float) -> float | None:
        return None if value_s is None or lost.hides(share) else round(value_s * 1e3, 6)

    return Percentiles(
        p50=shown(spread.p50_s, 0.50),
        p95=shown(spread.p95_s, 0.95),
        p99=shown(spread.p99_s, 0.99),
        max=shown(spread.max_s, 1.0),
        n=spread.count,
    )


def flags_of(spread: Spread | str, lost: LostRequests) -> tuple[str, ...]:
    """`percentile_undefined` where losses hide one, `small_n` where not even the median is a figure."""
    hidden = not isinstance(spread, str) and any(lost.hides(share) for share in (0.5, 0.95, 0.99))
    small = not isinstance(spread, str) and spread.count is not None and spread.count < quantiles.needed(0.5)
    return (*(("percentile_undefined",) if hidden else ()), *(("small_n",) if small else ()))
