"""Histogram blobs: within their three digits, merged exactly by adding, readable by the library itself."""

from __future__ import annotations

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbridge.errors import StoreError
from weighbridge.quantiles import rank
from weighbridge.record.histogram import (
    HIGHEST_NS,
    Histograms,
    MetricHistogram,
    encode,
    encode_all,
    merge,
    merge_runs,
    percentile_ns,
)

VALUES = st.lists(st.integers(0, 10**11), min_size=1, max_size=60)


def array(values: list[int]) -> np.ndarray:
    """Nanoseconds."""
    return np.array(values, dtype=np.int64)


@settings(deadline=None, max_examples=30)
@given(VALUES)
def test_gathering_records_what_one_call_a_value_records(values: list[int]) -> None:
    """The blob is the one that the library makes of the values one by one."""
    direct = HdrHistogram(1, HIGHEST_NS, 3)
    for value in values:
        direct.record_value(value)
    decoded = HdrHistogram.decode(encode(array(values)).blob)

    kept = np.ctypeslib.as_array(decoded.counts)
    assert (kept == np.ctypeslib.as_array(direct.counts)[: len(kept)]).all()
    assert decoded.get_total_count() == direct.get_total_count() == len(values)


@settings(deadline=None, max_examples=50)
@given(VALUES, VALUES)
def test_merging_is_adding(one: list[int], other: list[int]) -> None:
    """Two runs merged give every percentile of their requests together."""
    both = encode(array(one + other))
    added = merge([encode(array(one)), encode(array(other))])

    assert added.count == both.count
    assert all(percentile_ns(added, share) == percentile_ns(both, share) for share in (0.01, 0.5, 0.95, 0.99, 1.0))


@settings(deadline=None, max_examples=50)
@given(VALUES, st.sampled_from([0.5, 0.95, 0.99, 1.0]))
def test_percentiles_keep_three_digits(values: list[int], share: float) -> None:
    """The percentile is the nearest rank's value to 0.1 %, from below."""
    exact = sorted(values)[rank(len(values), share) - 1]
    found = percentile_ns(encode(array(values)), share)

    assert found is not None
    assert exact * 0.999 - 1 <= found <= exact


def test_nothing_and_below_zero() -> None:
    """No values merge to no percentile; values below zero are counted where they were cut to zero."""
    assert percentile_ns(merge([]), 0.5) is None
    assert encode(array([-5, -1, 7])).below_zero_count == 2
    assert merge([encode(array([-5])), encode(array([-5]))]).below_zero_count == 2
    with pytest.raises(ValueError, match="hour"):
        encode(array([HIGHEST_NS + 1]))


@pytest.mark.parametrize("blob", ["", "AAAA", "HISTFAAAAC", "é", "x" * 50])
def test_damaged_blobs_are_refused(blob: str) -> None:
    """A blob that is not whole, or holds another number of values than it says, is a store error."""
    with pytest.raises(StoreError):
        percentile_ns(MetricHistogram(count=1, blob=blob), 0.5)
    with pytest.raises(StoreError, match="another number"):
        merge([encode(array([1, 2])).model_copy(update={"count": 3})])


def test_the_document_reads_back() -> None:
    """Metrics of several runs are merged by name and survive their file; empty metrics are left out."""
    one = encode_all({"added_ns": array([1_000, 2_000]), "gap_ns": array([])})
    two = encode_all({"added_ns": array([3_000]), "ttft_ns": array([9])})
    read = Histograms.from_json(merge_runs([one, two]).to_json(), origin="histograms.json")

    assert set(read.metrics) == {"added_ns", "ttft_ns"}
    assert read.metrics["added_ns"].count == 3
