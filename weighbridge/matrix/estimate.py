"""How long a campaign will take and how much it will keep, before anything is started.

Pure. The times are those of lanes that keep up; retries, installation and lanes that saturate come on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

from weighbridge.matrix.cells import BASELINE, Cell, LaneKey
from weighbridge.matrix.model import IDLE_LOOK_S, QUIET_S
from weighbridge.matrix.warmup import LaneWarmup

# Start, readiness that holds for two seconds, preflight and stop; Python gateways take longer than the baseline.
LANE_S = 12.0
BASELINE_LANE_S = 2.0
# Start and end of the probe that warms a lane up.
WARM_UP_S = 0.5
# Start and end of the driver, event drain, counters and writing of one window.
WINDOW_S = 3.0
# Start and writing of the probe in a pass.
PASS_WRITING_S = 1.5
# What a gateway is supposed to add to a request of a closed loop.
ADDED_S = 0.005
# What is kept of one request (a row of the driver and a compressed sample) and of one window besides.
REQUEST_BYTES = 180
WINDOW_BYTES = 120_000


@dataclass(frozen=True)
class Estimate:
    """Time, size and number of windows of a campaign."""

    seconds: float
    bytes: int
    window_count: int


@dataclass(frozen=True)
class Waits:
    """What is waited for beside windows: an idle machine, looks at a gateway's idle use, steady times."""

    quiet_s: float = QUIET_S
    idle_look_s: float = IDLE_LOOK_S
    warmup: LaneWarmup = field(default_factory=LaneWarmup)


_WAITS = Waits()


def estimate(cells: Sequence[Cell], runs: int, waits: Waits = _WAITS) -> Estimate:
    """Estimate what `runs` blocks of the supported cells take; cells that no recipe claims take nothing.

    Neighbours of one lane are one visit.
    """
    supported = [cell for cell in cells if cell.not_supported is None]
    if not supported:
        return Estimate(0.0, 0, 0)
    each = groupby(supported, key=lambda cell: cell.lane)
    block_s = waits.quiet_s + sum(visit_s(tuple(visit), waits) for _, visit in each)
    kept = sum(WINDOW_BYTES + REQUEST_BYTES * cell.load.window_count for cell in supported)
    return Estimate(runs * block_s, runs * kept, runs * len(supported))


def estimate_order(blocks: Sequence[Sequence[Cell]], waits: Waits = _WAITS) -> Estimate:
    """Estimate what blocks of cells in their order take, in which a lane may be visited more than once."""
    each = [estimate(block, 1, waits) for block in blocks]
    return Estimate(
        sum(one.seconds for one in each), sum(one.bytes for one in each), sum(one.window_count for one in each)
    )


def visit_s(cells: Sequence[Cell], waits: Waits = _WAITS) -> float:
    """Return the expected seconds of one visit: start of its lane, windows of these cells, stop."""
    return start_s(cells[0].lane, cells, waits) + sum(window_s(cell) for cell in cells)


def start_s(lane: LaneKey, cells: Sequence[Cell], waits: Waits) -> float:
    """Return the expected seconds that a start of a lane takes beside its windows: warm-up and idle looks included.

    Each mode is warmed up once, at the load of its first cell.
    """
    first = {cell.mode: cell for cell in reversed(cells)}.values()
    warm_s = sum(WARM_UP_S + waits.warmup.first_s(cell) for cell in first)
    return warm_s + (BASELINE_LANE_S if lane.gateway == BASELINE else LANE_S + 2 * waits.idle_look_s)


def window_s(cell: Cell) -> float:
    """Return the expected seconds of one window of `cell`: warm-up, load and what stands around them."""
    added_s = 0.0 if cell.is_baseline else ADDED_S
    answer_s = cell.answer.provider_time_s(cell.mode) + added_s
    warmup_s = -(-cell.load.warmup_before_count // cell.load.connections) * answer_s
    expected_s = cell.load.expected_s(cell.answer, cell.mode, added_s=added_s)
    return WINDOW_S + warmup_s + expected_s + _pass_s(cell, added_s)


def _pass_s(cell: Cell, added_s: float) -> float:
    """Return the expected seconds of the probe that follows a closed loop whose driver reads no stamps."""
    load = cell.pass_load
    return 0.0 if load is None else PASS_WRITING_S + load.expected_s(cell.answer, cell.mode, added_s=added_s)
