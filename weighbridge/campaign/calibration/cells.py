"""Weights that the walk measured as cells of their own: the same arithmetic on one lane after the other.

Called by `calibrate` after the walk. The tare of a block are all its cells of the weight of nothing together; where
there are two, they are the A/A pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.campaign.calibration.kept import inband_of, weights_of
from weighbridge.campaign.calibration.lanes import weight_of
from weighbridge.campaign.calibration.windows import folder_of
from weighbridge.campaign.stage import Stage
from weighbridge.judge.calibration import LaneSamples, Weight, WeightBlock
from weighbridge.judge.weighed import WeighedLane, timed_rows, weighed_lane, weight_block
from weighbridge.load.drivers import STAMP_READER
from weighbridge.matrix.axes import window_of
from weighbridge.matrix.calibration import TARE, Calibration
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.requests import Mode

Pair = tuple[LaneSamples, LaneSamples]
_Window = tuple[str, ...]


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
    def window(self) -> tuple[str, ...]:
        """Return what the cells that are compared have in common."""
        return window_of(self.cell)


@dataclass(frozen=True)
class CellWeights:
    """Weights in cells of their own, and A/A pairs by mode."""

    weights: tuple[Weight, ...]
    pairs: Mapping[Mode, tuple[Pair, ...]]


def weights_of_cells(stage: Stage, spec: Calibration) -> CellWeights:
    """Every weight that the walk measured beside a tare of the same block."""
    runs = _runs(stage, spec)
    tares: dict[tuple[_Window, int], list[_Run]] = defaultdict(list)
    for run in runs:
        if run.weight == TARE:
            tares[run.window, run.block].append(run)
    pairs: dict[Mode, list[Pair]] = defaultdict(list)
    for twins in tares.values():
        if len(twins) > 1:
            pairs[twins[0].cell.mode].append((twins[0].weighed.net, twins[1].weighed.net))
    return CellWeights(_weights(runs, tares, spec), {mode: tuple(found) for mode, found in pairs.items()})


def _runs(stage: Stage, spec: Calibration) -> list[_Run]:
    cells = {cell.id: cell for cell in stage.request.cells if cell.lane.gateway == spec.recipe}
    found = []
    for record in stage.store.runs():
        cell = cells.get(record.cell)
        if cell is None or not record.accepted or cell.driver != STAMP_READER:
            continue
        folder = folder_of(stage.store, record)
        facts = inband_of(folder, cell.mode, cell.answer)
        rows = timed_rows(facts, cell.load.connections)
        found.append(_Run(cell, record.block, weighed_lane(facts, rows, weights_of(folder))))
    return found


def _weights(
    runs: Sequence[_Run], tares: Mapping[tuple[_Window, int], Sequence[_Run]], spec: Calibration
) -> tuple[Weight, ...]:
    blocks: dict[tuple[str, _Window], list[WeightBlock]] = defaultdict(list)
    modes: dict[_Window, Mode] = {}
    for run in runs:
        tare = tares.get((run.window, run.block))
        if run.weight not in spec.weights or not tare:
            continue
        modes[run.window] = run.cell.mode
        block = weight_block(run.block, run.weighed, [one.weighed for one in tare])
        blocks[run.weight, run.window].append(block)
    several = len(modes) > len(set(modes.values()))
    return tuple(
        Weight(
            name=f"{weight} {'.'.join(window)}" if several else weight,
            mode=modes[window],
            arrangement="cell",
            surroundings="quiet",
            blocks=tuple(found),
            two_valued=weight in spec.two_valued,
        )
        for (weight, window), found in sorted(blocks.items(), key=lambda one: _place(spec, one[0]))
    )


def _place(spec: Calibration, key: tuple[str, _Window]) -> tuple[_Window, int]:
    return key[1], spec.weights.index(key[0])
