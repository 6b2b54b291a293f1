"""Histograms of a run, one a metric: HdrHistogram V2 blobs, readable by its Java, C and Go editions.

Kept as `histograms.json` beside `run.json`. Runs are merged by adding the histograms, never by averaging
percentiles. Values are nanoseconds with three digits (0.1 %). This is the only module that knows the library.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from hdrh import codec  # type: ignore[import-untyped]  # it ships no types
from hdrh.histogram import HdrHistogram  # type: ignore[import-untyped]
from pydantic import Field

from weighbridge import quantiles
from weighbridge.errors import StoreError
from weighbridge.record.base import Count, Document, Versioned

LOWEST_NS = 1
HIGHEST_NS = 3_600 * 1_000_000_000
DIGITS = 3
# Three digits need 2,048 sub-buckets: a value keeps its 11 leading bits.
_MANTISSA_BITS = 11
# Values are gathered in pieces, so that a million of them need no copies of that size.
_BATCH_COUNT = 100_000
_DAMAGE = (
    codec.HdrCookieException,
    codec.HdrLengthException,
    codec.HdrHistogramSettingsException,
    ValueError,
    IndexError,
    OverflowError,
    MemoryError,
    zlib.error,
)


class MetricHistogram(Document):
    """One metric of one run."""

    count: Count = Field(description="Values recorded.")
    below_zero_count: Count = Field(default=0, description="Values below zero, recorded as zero.")
    blob: str = Field(description="HdrHistogram V2, compressed, base64; nanoseconds.")


class Histograms(Versioned):
    """Every metric of one run by name, such as `added_ns`."""

    schema_: Literal["weighbridge.histograms/1"] = Field(
        default="weighbridge.histograms/1", alias="schema", description="Kind and version of this document."
    )
    metrics: dict[str, MetricHistogram] = Field(description="Histogram by metric.")


def encode(values_ns: npt.NDArray[np.int64]) -> MetricHistogram:
    """Return the histogram of times in nanoseconds; ValueError for one above an hour.

    Values are first gathered to what the histogram can tell apart, so that a million take a few thousand calls.
    """
    if len(values_ns) and int(values_ns.max()) > HIGHEST_NS:
        raise ValueError("a time above an hour is no time of a request")
    histogram = _empty()
    for begin in range(0, len(values_ns), _BATCH_COUNT):
        kept = np.maximum(values_ns[begin : begin + _BATCH_COUNT], 0)
        exponents = np.frexp(kept.astype(np.float64))[1]
        shifts = np.maximum(exponents - _MANTISSA_BITS, 0)
        for value, count in zip(*np.unique((kept >> shifts) << shifts, return_counts=True), strict=True):
            histogram.record_value(int(value), int(count))
    return _document(histogram, int(np.count_nonzero(values_ns < 0)))


def merge(parts: Iterable[MetricHistogram]) -> MetricHistogram:
    """Return the histograms added; of none, an empty one. StoreError for a damaged blob."""
    total, below_zero_count = _empty(), 0
    for part in parts:
        total.add(_decoded(part))
        below_zero_count += part.below_zero_count
    return _document(total, below_zero_count)


def merge_runs(runs: Iterable[Histograms]) -> Histograms:
    """Add the metrics of several runs by name."""
    found: dict[str, list[MetricHistogram]] = {}
    for run in runs:
        for name, metric in run.metrics.items():
            found.setdefault(name, []).append(metric)
    return Histograms(metrics={name: merge(parts) for name, parts in found.items()})


def encode_all(metrics: Mapping[str, npt.NDArray[np.int64]]) -> Histograms:
    """Return the histograms of several metrics by name; metrics without a value are left out."""
    return Histograms(metrics={name: encode(values) for name, values in metrics.items() if len(values)})


def percentile_ns(metric: MetricHistogram, share: float) -> int | None:
    """Return the value at `share`'s nearest rank (the lowest the histogram cannot tell from it); None of nothing."""
    if not metric.count:
        return None
    histogram = _decoded(metric)
    # The library's own iterators walk every bucket in Python; the counts themselves are an array.
    seen = np.cumsum(np.ctypeslib.as_array(histogram.counts))
    index = np.searchsorted(seen, quantiles.rank(metric.count, share), side="left")
    return int(histogram.get_value_from_index(int(index)))


def _empty() -> Any:
    return HdrHistogram(LOWEST_NS, HIGHEST_NS, DIGITS)


def _decoded(metric: MetricHistogram) -> Any:
    try:
        histogram = HdrHistogram.decode(metric.blob.encode("ascii"))
    except _DAMAGE as error:
        raise StoreError(f"a histogram cannot be read ({error}); the file is damaged") from error
    if int(histogram.get_total_count()) != metric.count:
        raise StoreError("a histogram holds another number of values than it says; the file is damaged")
    return histogram


def _document(histogram: Any, below_zero_count: int) -> MetricHistogram:
    return MetricHistogram(
        count=int(histogram.get_total_count()),
        below_zero_count=below_zero_count,
        blob=histogram.encode().decode("ascii"),
    )
