"""How late a mock was against its own due times.

Filled by whoever serves due times, read by the admin ports. Nearest-rank percentiles, in seconds.
"""

from __future__ import annotations

import math
from array import array

from mocks.clock import NS_PER_S


class Lateness:
    """Times between due and done. At most `limit_count` are kept; the maximum covers all."""

    def __init__(self, limit_count: int = 1_000_000) -> None:
        self._late_ns = array("q")
        self._limit_count = limit_count
        self._max_ns: int | None = None
        self.count = 0

    def add(self, late_ns: int) -> None:
        """One more."""
        self.count += 1
        if self._max_ns is None or late_ns > self._max_ns:
            self._max_ns = late_ns
        if self.count <= self._limit_count:
            self._late_ns.append(late_ns)

    def figures(self) -> dict[str, float | None]:
        """p50, p99 and maximum in seconds; null without any."""
        ordered = sorted(self._late_ns)
        return {
            "lateness_p50_s": _at(ordered, 0.5),
            "lateness_p99_s": _at(ordered, 0.99),
            "lateness_max_s": None if self._max_ns is None else self._max_ns / NS_PER_S,
        }


def _at(ordered: list[int], share: float) -> float | None:
    return ordered[math.ceil(share * len(ordered)) - 1] / NS_PER_S if ordered else None
