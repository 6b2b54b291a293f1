"""Interval over run values: how far the figure of another run of this campaign may lie.

Works on one value a run, never on pooled requests: requests of one run share its luck, so that pooling makes
intervals far too narrow.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

# Fewer runs than this have no interval: two values leave one degree of freedom and a factor of 12.7.
MIN_RUNS = 3

# 97.5 % quantile of Student's t for 1 to 30 degrees of freedom (NIST/SEMATECH e-Handbook of Statistical
# Methods, table 1.3.6.7.2). tests/unit/judge/stats/test_intervals.py integrates the density to check each.
_T975 = (
    12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
    2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    2.080, 2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042,
)  # fmt: skip
_Z975 = 1.959964


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t; above 30 degrees the normal one with two corrections.

    Abramowitz and Stegun 26.7.5: z + (z³ + z) ÷ 4ν + (5z⁵ + 16z³ + 3z) ÷ 96ν².
    """
    if degrees < 1:
        raise ValueError("Student's t needs one degree of freedom at least")
    if degrees <= len(_T975):
        return _T975[degrees - 1]
    first = (_Z975**3 + _Z975) / (4 * degrees)
    second = (5 * _Z975**5 + 16 * _Z975**3 + 3 * _Z975) / (96 * degrees**2)
    return _Z975 + first + second


def interval(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the 95 % interval of run values by t on logs; by plain t where one is not positive; None below 3 runs.

    On logs it is an interval of the geometric mean, for times of one lane close to their median.
    """
    if len(values) < MIN_RUNS:
        return None
    if min(values) <= 0:
        return _plain(values)
    low, high = _plain([math.log(value) for value in values])
    return math.exp(low), math.exp(high)


def _plain(values: Sequence[float]) -> tuple[float, float]:
    centre = statistics.fmean(values)
    half = t_quantile(len(values) - 1) * statistics.stdev(values) / math.sqrt(len(values))
    return centre - half, centre + half
