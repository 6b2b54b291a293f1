"""Whether times drift: one part of a series against another one, each by the medians of eight batches (METHOD 5).

Requests of a queue share its luck, so their scatter one by one says nothing of a part's. Batch medians do, as long as
a batch outlasts the queue: hence the loads and lengths beyond which a lane is not judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Times = npt.NDArray[np.float64]

BATCHES_OF_A_THIRD = 8
# 97.5 % quantile of Student's t with 14 degrees of freedom, which two thirds of the runs must pass; of one run more.
T_OF_SOME = 2.14
T_OF_ONE = 4.5
MOVED_SHARE = 0.05
# Below this a lane's own wander is more than 5 % of what it adds.
LEAST_MOVED_MS = 0.1
# What stands for a t of batches that do not scatter at all.
_MOST_T = 1000.0


@dataclass(frozen=True)
class Moved:
    """Medians of two parts of a series in ms, and Student's t of their 16 batch medians; above 0 where times rose."""

    first_ms: float
    last_ms: float
    t: float

    def direction(self, t_limit: float) -> int:
        """Return 1 where times rose, −1 where they fell, 0 where that is no drift."""
        moved_ms = abs(self.last_ms - self.first_ms)
        is_drift = abs(self.t) > t_limit and moved_ms > max(LEAST_MOVED_MS, MOVED_SHARE * abs(self.first_ms))
        return int(np.sign(self.last_ms - self.first_ms)) if is_drift else 0


def moved(first: Times, last: Times) -> Moved | None:
    """Compare two parts of a series in ms, each in its order; None where one has fewer values than batches."""
    if min(len(first), len(last)) < BATCHES_OF_A_THIRD:
        return None
    before, after = _batch_medians(first), _batch_medians(last)
    error = float(np.sqrt((before.var(ddof=1) + after.var(ddof=1)) / BATCHES_OF_A_THIRD))
    difference = float(after.mean() - before.mean())
    t = difference / error if error > 0 else float(np.sign(difference)) * _MOST_T
    return Moved(float(np.median(first)), float(np.median(last)), float(np.clip(t, -_MOST_T, _MOST_T)))


def first_and_last_third(times: Times) -> Moved | None:
    """Compare the last third of a series with the first."""
    third = len(times) // 3
    return moved(times[:third], times[len(times) - third :])


def drift_of_runs(runs: Sequence[Moved | None]) -> int:
    """Return the direction in which two thirds of the runs (at least two) drift, of one run by more; 0 for none.

    A run that is not judged is None and does not drift.
    """
    limit = T_OF_ONE if len(runs) == 1 else T_OF_SOME
    directions = [0 if one is None else one.direction(limit) for one in runs]
    if len(runs) == 1:
        return directions[0]
    return next((way for way in (1, -1) if directions.count(way) >= max(2, -(-2 * len(runs) // 3))), 0)


def _batch_medians(values: Times) -> Times:
    return np.array([np.median(part) for part in np.array_split(values, BATCHES_OF_A_THIRD)])
