"""How a cell's smallest difference stands beside what the rig did late, and beside the cell's own response time.

A difference (added time, shift) holds no provider's time, so a lateness that is nothing beside a response may be all
of it. These are flags: acceptance never looks at a difference (METHOD section 2).
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence

from weighbridge.judge.cell.verdict import CellAttempts
from weighbridge.judge.run.rig_limits import lag_ms
from weighbridge.matrix.cells import BASELINE
from weighbridge.record.figures import Timing
from weighbridge.record.measured import FigureValue
from weighbridge.record.metrics import MetricKey, TimeKey

# METHOD 2: a lag p99 above this share of the smallest difference shown is flagged.
LAG_SHARE = 0.10
_TO_THE_END: Mapping[str, TimeKey] = {"plain": "added_ms", "stream": "added_total_ms"}
_DIFFERENCES: tuple[TimeKey, ...] = ("added_ms", "added_first_ms", "added_total_ms", "shift_ms")


def flags(attempts: CellAttempts, figures: Mapping[MetricKey, FigureValue]) -> Iterator[str]:
    """Yield the flags of a cell whose differences are small beside a lateness, or contradict its response time."""
    plan = attempts.plan
    if _contradicts(_p50(figures, _TO_THE_END[plan.mode]), _p50(figures, "response_ms"), plan.provider_time_s * 1000):
        yield "added_above_response"
    smallest_ms = min((one for key in _DIFFERENCES if (one := _p50(figures, key)) is not None), default=None)
    # Of the baseline nothing is a difference: what it shows is the rig itself.
    if plan.gateway == BASELINE or smallest_ms is None:
        return
    limit_ms = LAG_SHARE * max(smallest_ms, 0.0)
    if _exceeds(_lags_ms(attempts), limit_ms):
        yield "generator_lag"
    if _exceeds(_mock_lateness_ms(attempts), limit_ms):
        yield "mock_late"


def _contradicts(added_ms: float | None, response_ms: float | None, provider_ms: float) -> bool:
    """Tell whether more was added than the response took beside the provider's planned time."""
    return added_ms is not None and response_ms is not None and added_ms > response_ms - provider_ms


def _p50(figures: Mapping[MetricKey, FigureValue], key: TimeKey) -> float | None:
    found = figures.get(key)
    return found.p50 if isinstance(found, Timing) and found.is_reliable("p50") else None


def _exceeds(values_ms: Sequence[float], limit_ms: float) -> bool:
    return bool(values_ms) and statistics.median(values_ms) > limit_ms


def _lags_ms(attempts: CellAttempts) -> list[float]:
    """Return the lag p99 of each accepted run that has one."""
    connections = attempts.plan.load.connections
    known = (lag_ms(run.figures, "p99", connections) for run in attempts.accepted if run.figures is not None)
    return [one for one in known if one is not None]


def _mock_lateness_ms(attempts: CellAttempts) -> list[float]:
    known = (run.resources.mock_lateness_p99_s for run in attempts.accepted)
    return [one * 1000 for one in known if one is not None]
