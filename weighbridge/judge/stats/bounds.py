"""Percentiles that are known between two bounds only, and how far apart bounds may lie (METHOD sections 5 and 8).

The measured value stays the figure. Where its bounds lie further apart than the limit of a calibration it is named in
`between`: shown as "between a and b", and kept out of intervals, sentences, comparisons and gates.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from weighbridge.record.figures import PERCENTILES, Percentile, PercentileIntervals, Timing

RELATIVE_LIMIT: Mapping[Percentile, float] = {"p50": 0.02, "p95": 0.05, "p99": 0.05}
ABSOLUTE_LIMIT_MS: Mapping[Percentile, float] = {"p50": 0.020, "p95": 0.100, "p99": 0.100}

Bounds = Mapping[Percentile, tuple[float, float]]


def limit_ms(name: Percentile, of_ms: float) -> float:
    """Return what a percentile of this size may be off by, ms: 2 % or 20 µs at p50, 5 % or 100 µs above."""
    return max(RELATIVE_LIMIT[name] * abs(of_ms), ABSOLUTE_LIMIT_MS[name])


def bounded(one: Timing, bounds: Bounds) -> Timing:
    """Return a timing with the bounds of those of its percentiles that they leave open."""
    told, between = dict[Percentile, tuple[float, float]](), list[Percentile]()
    for name, (low, high) in bounds.items():
        value = one.percentile(name)
        if value is None or low == value == high:
            continue
        told[name] = (low, high)
        if high - low > limit_ms(name, value):
            between.append(name)
    if not told:
        return one
    return one.changed(bounds_ms=told, between=tuple(between), interval=_without(one.interval, between))


def _without(intervals: PercentileIntervals | None, names: Sequence[Percentile]) -> PercentileIntervals | None:
    """Return the intervals of the other percentiles; None where none is left."""
    left = None if intervals is None else intervals.changed(**dict.fromkeys(names))
    return None if left is None or not any(left.of(name) for name in PERCENTILES) else left


def bounds_at(one: Timing, name: Percentile) -> tuple[float, float] | None:
    """Return the bounds of a percentile, which are its value twice where nothing leaves it open; None without one."""
    value = one.percentile(name)
    return None if value is None else one.bounds_ms.get(name, (value, value))


def merged_bounds(timings: Sequence[Timing]) -> Bounds:
    """Return the medians over runs of lower and of upper bounds; none where a run lacks the percentile."""
    found = dict[Percentile, tuple[float, float]]()
    for name in PERCENTILES:
        pairs = [pair for one in timings if (pair := bounds_at(one, name)) is not None]
        if len(pairs) == len(timings):
            found[name] = (statistics.median(low for low, _ in pairs), statistics.median(high for _, high in pairs))
    return found


def difference_bounds(one: Timing, less: Timing) -> Bounds:
    """Return the bounds of a difference of percentiles: each end against the other's far end."""
    found = dict[Percentile, tuple[float, float]]()
    for name in PERCENTILES:
        mine, other = bounds_at(one, name), bounds_at(less, name)
        if mine is not None and other is not None:
            found[name] = (mine[0] - other[1], mine[1] - other[0])
    return found
