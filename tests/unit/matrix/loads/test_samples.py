"""Percentiles that a number of requests cannot carry."""

from __future__ import annotations

import pytest

from weighbridge.matrix.loads.samples import few_samples


@pytest.mark.parametrize(
    ("count", "remark"),
    [
        (1000, None),
        (999, "p99 needs 1,000: shown grey with its rank"),
        (199, "p95 needs 200 and p99 needs 1,000: shown grey with its rank"),
        (99, "p95 needs 200 and p99 needs 1,000: p99 will be absent"),
        (19, "p95 needs 200 and p99 needs 1,000: p95 and p99 will be absent"),
    ],
)
def test_what_is_too_few_is_said_with_what_is_needed(count: int, remark: str | None) -> None:
    """Ten samples must lie beyond a percentile; with none beyond it there is no figure at all."""
    assert few_samples(count) == remark
