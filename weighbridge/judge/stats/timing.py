"""Timings: percentiles of one run with the few-samples rule, and their medians over runs.

Leaves no sample out: what is not measured is filtered before.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from weighbridge import quantiles
from weighbridge.judge.stats.bounds import Bounds, bounded, merged_bounds
from weighbridge.judge.stats.intervals import interval, interval_of_run
from weighbridge.record.arrays import Floats
from weighbridge.record.figures import Absent, Interval, Percentile, PercentileIntervals, Timing, TimingOrAbsent

SHARES: Mapping[Percentile, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
NO_RUN = Absent(absent="no_accepted_run")


def timing(values_s: Floats, bounds_s: tuple[Floats, Floats] | None = None) -> Timing:
    """Return the percentiles in ms of times in seconds, in the order of their start, with METHOD 5's rules.

    With 10 samples or more beyond a percentile it is a figure, with the interval of a single run; with 1–9 it keeps
    its value and is named in `few_samples` with its rank; with none it is null. `bounds_s` is the least and the most
    that each value can be. Raises ValueError for a value that is not finite.
    """
    if not np.isfinite(values_s).all():
        raise ValueError("a time that is not finite is no sample")
    made = _timing(values_s * 1000.0)
    return made if bounds_s is None else bounded(made, _bounds(*bounds_s))


def _bounds(least_s: Floats, most_s: Floats) -> Bounds:
    """Return the percentiles of the least and of the most, in ms."""
    low, high = np.sort(least_s) * 1000.0, np.sort(most_s) * 1000.0
    ends = {name: (percentile_or_none(low, share), percentile_or_none(high, share)) for name, share in SHARES.items()}
    return {name: (a, b) for name, (a, b) in ends.items() if a is not None and b is not None}


def _timing(values_ms: Floats) -> Timing:
    ordered = np.sort(values_ms)
    count = len(ordered)
    few = few_samples(count)
    firm = [name for name, share in SHARES.items() if name not in few and quantiles.beyond(count, share)]
    return Timing(
        p50=percentile_or_none(ordered, SHARES["p50"]),
        p95=percentile_or_none(ordered, SHARES["p95"]),
        p99=percentile_or_none(ordered, SHARES["p99"]),
        mean=float(ordered.mean()) if count else None,
        n=count,
        interval=intervals_of({name: interval_of_run(values_ms, SHARES[name]) for name in firm}),
        few_samples=few,
    )


def timing_or_absent(values_s: Floats, absent: Absent, late_s: Floats | None = None) -> TimingOrAbsent:
    """Return the timing of the finite values, or `absent` when there is none: the driver could not tell.

    `late_s` is by how much each value can be too large.
    """
    is_told = np.isfinite(values_s)
    finite = values_s[is_told]
    if not len(finite):
        return absent
    return timing(finite, None if late_s is None else (finite - late_s[is_told], finite))


def percentile_or_none(ordered: npt.NDArray[np.float64], share: float) -> float | None:
    """Return the value at the nearest rank of sorted values; None when no value lies beyond it."""
    if not quantiles.beyond(len(ordered), share):
        return None
    return float(ordered[quantiles.rank(len(ordered), share) - 1])


def intervals_of(found: Mapping[Percentile, Interval | None]) -> PercentileIntervals | None:
    """Return the intervals of percentiles as they are kept; None where none has one."""
    if not any(found.values()):
        return None
    return PercentileIntervals(p50=found.get("p50"), p95=found.get("p95"), p99=found.get("p99"))


def few_samples(count: int) -> dict[Percentile, str]:
    """Return the percentiles of `count` values with 1–9 values beyond them, each with its rank: `248th of 250`."""
    return {
        name: f"{ordinal(quantiles.rank(count, share))} of {count}"
        for name, share in SHARES.items()
        if 0 < quantiles.beyond(count, share) < quantiles.SAMPLES_BEYOND
    }


def ordinal(number: int) -> str:
    """Return a number as `1st`, `2nd`, `3rd`, `4th`, `11th`, `248th`."""
    if number % 100 in {11, 12, 13}:
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def merge_runs(timings: Sequence[Timing], missing_count: int = 0) -> TimingOrAbsent:
    """Return the median over the runs of each percentile and of the mean; `n` is that of the smallest run.

    `missing_count` is how many other runs lack the figure: whether that is too many is for the caller to say.
    A percentile that is null in one run is null, one that has few samples in one run has few samples (with
    the rank of the smallest such run). Intervals are of full percentiles only; of a single run they are its own.
    Bounds are medians over the runs like the figure; whether they lie too far apart is judged of these.
    """
    if not timings:
        return NO_RUN
    smallest = min(timings, key=lambda one: one.n)
    few = _merge_few(timings)
    values = {name: [one.percentile(name) for one in timings] for name in SHARES}
    firm = [name for name in SHARES if name not in few]
    alone = timings[0].interval if len(timings) == 1 else None
    intervals = {name: _interval(values[name]) if alone is None else alone.of(name) for name in firm}
    middle = {name: median_or_none(runs) for name, runs in values.items()}
    made = Timing(
        p50=middle["p50"],
        p95=middle["p95"],
        p99=middle["p99"],
        mean=median_or_none([one.mean for one in timings]),
        n=smallest.n,
        interval=intervals_of(intervals),
        run_count=len(timings),
        missing_run_count=missing_count,
        few_samples={name: text for name, text in few.items() if not _has_none(values[name])},
        absent={name: why for one in reversed(timings) for name, why in one.absent.items()},
    )
    return bounded(made, merged_bounds(timings))


def without(one: Timing, reasons: Mapping[Percentile, Absent]) -> Timing:
    """Return the timing without these percentiles, each with the reason why it is no figure."""
    intervals = (
        {} if one.interval is None else {name: one.interval.of(name) for name in SHARES if name not in reasons}
    )
    return one.changed(
        **dict.fromkeys(reasons),
        interval=intervals_of(intervals),
        few_samples={name: text for name, text in one.few_samples.items() if name not in reasons},
        bounds_ms={name: pair for name, pair in one.bounds_ms.items() if name not in reasons},
        between=tuple(name for name in one.between if name not in reasons),
        absent={**one.absent, **reasons},
    )


def median_or_none(values: Sequence[float | None]) -> float | None:
    """Return the median of the values; None when one of them does not exist or there are none."""
    known = [value for value in values if value is not None and math.isfinite(value)]
    return statistics.median(known) if known and len(known) == len(values) else None


def _interval(values: Sequence[float | None]) -> Interval | None:
    known = [value for value in values if value is not None]
    return interval(known) if len(known) == len(values) else None


def _merge_few(timings: Sequence[Timing]) -> dict[Percentile, str]:
    merged: dict[Percentile, str] = {}
    for one in sorted(timings, key=lambda item: item.n):
        merged = {**one.few_samples, **merged}
    return merged


def _has_none(values: Sequence[float | None]) -> bool:
    return any(value is None for value in values)
