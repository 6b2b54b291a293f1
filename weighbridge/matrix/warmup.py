"""How long a lane is warmed up before its times count as steady (METHOD section 5), as the matrix asks for it."""

from __future__ import annotations

import math
from typing import Annotated

from pydantic import Field

from weighbridge.matrix.cells import Cell
from weighbridge.matrix.strict import Strict, duration, whole

# A first round lasts no longer than this, however few requests that are.
FIRST_S = 10.0
# Rounds double what was sent so far: three times at most.
MOST_ROUNDS = 4


class LaneWarmup(Strict):
    """Warm-up of a lane in each mode, at the load of the first cell, until its times are steady."""

    request_count: Annotated[int, whole(1, 10_000)] = Field(
        default=50, alias="requests", description="Requests of the first round, or 10 s; eight times as many at most."
    )
    within_s: Annotated[float, duration(0.1, 600)] = Field(
        default=20.0, alias="within", description="Longest time of all rounds, such as 20s."
    )

    def first_count(self, cell: Cell) -> int:
        """Return the requests of the first round at the load of a cell: one of each client at least."""
        return max(cell.load.concurrency, min(self.request_count, math.ceil(FIRST_S * expected_rps(cell))))

    def first_s(self, cell: Cell) -> float:
        """Return how long the first round takes; a steady lane has no other."""
        return self.first_count(cell) / expected_rps(cell)


def expected_rps(cell: Cell) -> float:
    """Return the requests a second of a cell's load on a lane that adds nothing."""
    return cell.load.offered_rps or cell.load.concurrency / max(cell.answer.provider_time_s(cell.mode), 0.001)
