"""How long a campaign will take and how much it will keep, before anything is started.

Pure. The times are those of lanes that keep up; retries, installation and lanes that saturate come on top.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from weighbridge.matrix.cells import BASELINE, Cell, LaneKey
from weighbridge.matrix.model import IDLE_LOOK_S, QUIET_S

# Start, readiness that holds for two seconds, preflight and stop; Python gateways take longer than the baseline.
LANE_S = 12.0
BASELINE_LANE_S = 2.0
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


def estimate(
    cells: Sequence[Cell], runs: int, *, quiet_s: float = QUIET_S, idle_look_s: float = IDLE_LOOK_S
) -> Estimate:
    """Estimate what `runs` blocks of the supported cells take, each after `quiet_s` of an idle machine.

    Neighbours of one lane are one visit. Idle use of each gateway is looked at for `idle_look_s` before its windows
    and as long after them. Cells that no recipe claims take nothing.
    """
    supported = [cell for cell in cells if cell.not_supported is None]
    if not supported:
        return Estimate(0.0, 0, 0)
    each = groupby(supported, key=lambda cell: cell.lane)
    block_s = quiet_s + sum(visit_s(tuple(visit), idle_look_s) for _, visit in each)
    kept = sum(WINDOW_BYTES + REQUEST_BYTES * cell.load.window_count for cell in supported)
    return Estimate(runs * block_s, runs * kept, runs * len(supported))


def estimate_order(blocks: Sequence[Sequence[Cell]], *, quiet_s: float, idle_look_s: float) -> Estimate:
    """Estimate what blocks of cells in their order take, in which a lane may be visited more than once."""
    each = [estimate(block, 1, quiet_s=quiet_s, idle_look_s=idle_look_s) for block in blocks]
    return Estimate(
        sum(one.seconds for one in each), sum(one.bytes for one in each), sum(one.window_count for one in each)
    )


def visit_s(cells: Sequence[Cell], idle_look_s: float = IDLE_LOOK_S) -> float:
    """Return the expected seconds of one visit: start of its lane, windows of these cells, stop."""
    return start_s(cells[0].lane, idle_look_s) + sum(window_s(cell) for cell in cells)


def start_s(lane: LaneKey, idle_look_s: float) -> float:
    """Return the expected seconds that a start of a lane takes beside its windows, looks at idle use included."""
    return BASELINE_LANE_S if lane.gateway == BASELINE else LANE_S + 2 * idle_look_s


def window_s(cell: Cell) -> float:
    """Return the expected seconds of one window of `cell`: warm-up, load and what stands around them."""
    added_s = 0.0 if cell.is_baseline else ADDED_S
    answer_s = cell.answer.provider_time_s(cell.mode) + added_s
    warmup_s = -(-cell.load.warmup_count // cell.load.connections) * answer_s
    expected_s = cell.load.expected_s(cell.answer, cell.mode, added_s=added_s)
    return WINDOW_S + warmup_s + expected_s + _pass_s(cell, added_s)


def _pass_s(cell: Cell, added_s: float) -> float:
    """Return the expected seconds of the probe that follows a closed loop whose driver reads no stamps."""
    load = cell.pass_load
    return 0.0 if load is None else PASS_WRITING_S + load.expected_s(cell.answer, cell.mode, added_s=added_s)
