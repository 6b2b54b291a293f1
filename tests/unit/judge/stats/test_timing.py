"""Percentiles of a run, the few-samples rule, and medians over runs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from weighbridge.judge.stats.timing import few_samples, merge_runs, ordinal, timing
from weighbridge.record.figures import PERCENTILES, Absent, Interval, Timing

# What the order of the requests has a say in: rounding, and how much neighbours share their luck.
UNORDERED = {"mean", "interval"}
times = hnp.arrays(np.float64, st.integers(1, 400), elements=st.floats(0, 100, allow_subnormal=False))


@given(times)
def test_percentiles_are_measured_values_that_enough_samples_do_not_exceed(values: np.ndarray) -> None:
    """Each percentile is one of the values; at least its share lies at or below it, and less without its ties."""
    found = timing(values)
    for share, value in ((0.5, found.p50), (0.95, found.p95), (0.99, found.p99)):
        if value is None:
            continue
        milliseconds = values * 1000
        assert value in milliseconds
        assert np.mean(milliseconds <= value) >= share - 1e-9
        assert np.mean(milliseconds < value) < share


@given(times)
def test_percentiles_rise_and_do_not_depend_on_order(values: np.ndarray) -> None:
    """p50 ≤ p95 ≤ p99 where they exist, whatever order the samples came in."""
    found = timing(values)
    known = [value for value in (found.p50, found.p95, found.p99) if value is not None]
    assert known == sorted(known)
    assert timing(values[::-1].copy()).model_dump(exclude=UNORDERED) == found.model_dump(exclude=UNORDERED)


@pytest.mark.parametrize(
    ("count", "p95", "p99"),
    [(19, "absent", "absent"), (20, "few", "absent"), (100, "few", "few"), (199, "few", "few"),
     (200, "full", "few"), (250, "full", "few"), (999, "full", "few"), (1000, "full", "full")],
)  # fmt: skip
def test_a_percentile_needs_ten_samples_beyond_it(count: int, p95: str, p99: str) -> None:
    """p95 is a figure from 200 samples on and p99 from 1,000; below they are grey, and absent with none beyond."""
    found = timing(np.arange(count, dtype=float))
    for name, expected in (("p95", p95), ("p99", p99)):
        state = "absent" if getattr(found, name) is None else "few" if name in found.few_samples else "full"
        assert state == expected, name


def test_a_grey_percentile_says_its_rank() -> None:
    """The p99 of 250 samples is the 248th of them and says so."""
    found = timing(np.arange(1, 251) / 1000)
    assert found.p99 == pytest.approx(248.0)
    assert found.few_samples == {"p99": "248th of 250"}


def test_no_sample_gives_nulls_and_an_endless_one_is_refused() -> None:
    """An empty run has no percentile and no mean; NaN and infinity never become a figure."""
    found = timing(np.empty(0))
    assert (found.p50, found.mean, found.n) == (None, None, 0)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="not finite"):
            timing(np.array([1.0, bad]))


def test_ordinals() -> None:
    """English ordinals, the teens included."""
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 12, 13, 21, 111, 248)] == [
        "1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st", "111th", "248th",
    ]  # fmt: skip


def _run(p50: float, p99: float | None = 9.0, n: int = 1000) -> Timing:
    few = {name: text for name, text in few_samples(n).items() if name == "p99" and p99 is not None}
    return Timing(p50=p50, p95=p50 + 1, p99=p99, mean=p50, n=n, few_samples=few)


def test_merging_takes_the_median_run_not_the_mean_of_runs() -> None:
    """One wild run of three moves no percentile; n is the smallest."""
    merged = merge_runs([_run(3.0), _run(5.0, n=1200), _run(500.0)])
    assert isinstance(merged, Timing)
    assert (merged.p50, merged.n) == (5.0, 1000)
    assert merged.interval is not None
    assert merged.interval.p50 is not None


def test_a_grey_or_missing_percentile_of_one_run_stays_so_and_gets_no_interval() -> None:
    """Few samples in one of three runs grey the merged p99, without interval; a null in one makes it null."""
    merged = merge_runs([_run(3.0), _run(4.0, n=250), _run(5.0, n=300)])
    assert isinstance(merged, Timing)
    assert merged.few_samples == {"p99": "248th of 250"}
    assert merged.interval is not None
    assert merged.interval.p99 is None
    missing = merge_runs([_run(3.0), _run(4.0, p99=None, n=50), _run(5.0, n=250)])
    assert isinstance(missing, Timing)
    assert missing.p99 is None
    assert missing.few_samples == {}


def test_one_run_has_its_own_interval_and_none_is_absent() -> None:
    """Two runs have their range, a single one its own interval by ranks; without a run the figure is absent."""
    merged = merge_runs([_run(3.0), _run(4.0)])
    assert isinstance(merged, Timing)
    assert merged.interval is not None
    assert merged.interval.p50 == Interval(low=3.0, high=4.0, kind="range")
    alone = timing(np.random.default_rng(1).normal(3.0, 0.1, size=400))
    assert merge_runs([alone]) == alone
    assert alone.interval is not None
    assert [alone.interval.of(name) is None for name in PERCENTILES] == [False, False, True]
    assert alone.interval.p50 is not None
    assert alone.interval.p50.kind == "batches"
    assert isinstance(merge_runs([]), Absent)


@given(st.lists(st.floats(0.01, 1000), min_size=1, max_size=9))
def test_a_merged_percentile_lies_between_the_runs(values: list[float]) -> None:
    """The median over runs is never outside the runs, and merging one run gives that run."""
    merged = merge_runs([_run(value) for value in values])
    assert isinstance(merged, Timing)
    assert merged.p50 is not None
    assert min(values) <= merged.p50 <= max(values)
