"""Weights that the matrix measured as cells of their own: the same arithmetic on one lane after the other.

The tare of a block are all its cells of the weight of nothing together; where there are two, they are the A/A pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.campaign.calibration.setting import Setting, weight_of
from weighbridge.judge.calibration.known_delays import LaneSamples, Weight, WeightBlock
from weighbridge.judge.calibration.lane_samples import WeighedLane, timed_rows, weighed_lane, weight_block
from weighbridge.load.drivers import STAMP_READER
from weighbridge.matrix import axes
from weighbridge.matrix.calibration import TARE, Calibration
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.requests import Mode

Pair = tuple[LaneSamples, LaneSamples]
# What cells have in common that are compared: the values of all axes of their window.
Compared = tuple[str, ...]


@dataclass(frozen=True)
class _Run:
    """One accepted run of one cell."""

    cell: Cell
    block: int
    weighed: WeighedLane

    @property
    def weight(self) -> str:
        """Weight of its lane."""
        return weight_of(self.cell.lane)

    @property
    def window(self) -> Compared:
        """What the cells that are compared have in common: all but the gateway and its settings."""
        return axes.others(self.cell, "gateway")


@dataclass(frozen=True)
class CellWeights:
    """Weights in cells of their own, and A/A pairs by mode."""

    weights: tuple[Weight, ...]
    pairs: Mapping[Mode, tuple[Pair, ...]]


def weights_of_cells(setting: Setting) -> CellWeights:
    """Return every weight that the matrix measured beside a tare of the same block."""
    runs = _runs(setting)
    tares: dict[tuple[Compared, int], list[_Run]] = defaultdict(list)
    for run in runs:
        if run.weight == TARE:
            tares[run.window, run.block].append(run)
    pairs: dict[Mode, list[Pair]] = defaultdict(list)
    for twins in tares.values():
        if len(twins) > 1:
            pairs[twins[0].cell.mode].append((twins[0].weighed.net, twins[1].weighed.net))
    return CellWeights(_weights(runs, tares, setting.spec), {mode: tuple(found) for mode, found in pairs.items()})


def _runs(setting: Setting) -> list[_Run]:
    cells = {cell.id: cell for cell in setting.request.cells if cell.lane.gateway == setting.spec.recipe}
    found = []
    for record in setting.store.runs():
        cell = cells.get(record.cell)
        if cell is None or not record.accepted or cell.driver != STAMP_READER:
            continue
        stored = setting.stored(record, "")
        trace = stored.trace(cell.mode, cell.answer, cell.load.connections)
        found.append(_Run(cell, record.block, weighed_lane(trace, timed_rows(trace), stored.truth())))
    return found


def _weights(
    runs: Sequence[_Run], tares: Mapping[tuple[Compared, int], Sequence[_Run]], spec: Calibration
) -> tuple[Weight, ...]:
    blocks: dict[tuple[str, Compared], list[WeightBlock]] = defaultdict(list)
    cells: dict[Compared, Cell] = {}
    for run in runs:
        tare = tares.get((run.window, run.block))
        if run.weight not in spec.weights or not tare:
            continue
        cells[run.window] = run.cell
        blocks[run.weight, run.window].append(weight_block(run.block, run.weighed, [one.weighed for one in tare]))
    several = len(cells) > len({cell.mode for cell in cells.values()})
    ordered = sorted(blocks.items(), key=lambda one: (one[0][1], spec.weights.index(one[0][0])))
    return tuple(
        Weight(
            name=weight,
            mode=cells[window].mode,
            arrangement="cell",
            surroundings="quiet",
            blocks=tuple(found),
            two_valued=weight in spec.two_valued,
            window=".".join(axes.window_of(cells[window])) if several else "",
        )
        for (weight, window), found in ordered
    )
