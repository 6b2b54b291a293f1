"""The one percentile rule of the house: nearest rank, and how many samples a percentile needs.

Nearest rank (NIST/SEMATECH e-Handbook 7.2.6.2, first definition): the p-th percentile of n sorted values is
the value with rank ⌈p·n⌉. It is always a value that was measured. oha's own rule is one rank higher.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

# METHOD section 5: a percentile with this many samples beyond it is a figure; with fewer it is shown grey.
SAMPLES_BEYOND = 10


def rank(count: int, share: float) -> int:
    """1-based nearest rank of the percentile `share` (0 < share ≤ 1) among `count` values."""
    if count < 1:
        raise ValueError("a percentile of no values does not exist")
    if not 0 < share <= 1:
        raise ValueError(f"a share lies in (0, 1], not {share}")
    # The product is rounded first: 0.95 * 200 is 190.00000000000003 in binary floating point.
    return max(1, math.ceil(round(share * count, 9)))


def percentile(ordered: Sequence[float], share: float) -> float:
    """Value at the nearest rank of `share` in values that are sorted already."""
    return float(ordered[rank(len(ordered), share) - 1])


def beyond(count: int, share: float) -> int:
    """How many of `count` values lie beyond the percentile `share`."""
    return count - rank(count, share) if count else 0


def needed(share: float) -> int:
    """Smallest number of values that makes the percentile `share` a figure (p95: 200, p99: 1,000)."""
    return math.ceil(round(SAMPLES_BEYOND / (1 - share), 6))
