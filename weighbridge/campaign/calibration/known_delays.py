"""Delays that the matrix measured as cells of their own: the same arithmetic on one lane after the other.

The control of a block is all its cells without a delay together; where there are two, they are the A/A pair.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from weighbridge.campaign.calibration.setting import CalibrationContext, delay_of
from weighbridge.judge.calibration.known_delays import DelayBlock, KnownDelay, LaneSamples
from weighbridge.judge.calibration.lane_samples import MeasuredLane, delay_block, measured_lane, timed_rows
from weighbridge.load.drivers import STAMP_READER
from weighbridge.matrix import axes
from weighbridge.matrix.calibration import CONTROL, Calibration
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.requests import Mode

SamplesPair = tuple[LaneSamples, LaneSamples]
# What cells have in common that are compared: the values of all axes of their window.
Compared = tuple[str, ...]


@dataclass(frozen=True)
class _Run:
    """One accepted run of one cell."""

    cell: Cell
    block: int
    measured: MeasuredLane

    @property
    def delay(self) -> str:
        """Delay of its lane."""
        return delay_of(self.cell.lane)

    @property
    def window(self) -> Compared:
        """What the cells that are compared have in common: all but the gateway and its settings."""
        return axes.others(self.cell, "gateway")


@dataclass(frozen=True)
class CellDelays:
    """Delays in cells of their own, and A/A pairs by mode."""

    delays: tuple[KnownDelay, ...]
    pairs: Mapping[Mode, tuple[SamplesPair, ...]]


def delays_of_cells(setting: CalibrationContext) -> CellDelays:
    """Return every delay that the matrix measured beside a control of the same block."""
    runs = _runs(setting)
    controls: dict[tuple[Compared, int], list[_Run]] = defaultdict(list)
    for run in runs:
        if run.delay == CONTROL:
            controls[run.window, run.block].append(run)
    pairs: dict[Mode, list[SamplesPair]] = defaultdict(list)
    for twins in controls.values():
        if len(twins) > 1:
            pairs[twins[0].cell.mode].append((twins[0].measured.net, twins[1].measured.net))
    return CellDelays(_delays(runs, controls, setting.spec), {mode: tuple(found) for mode, found in pairs.items()})


def _runs(setting: CalibrationContext) -> list[_Run]:
    cells = {cell.id: cell for cell in setting.request.cells if cell.lane.gateway == setting.spec.recipe}
    found = []
    for record in setting.store.runs():
        cell = cells.get(record.cell)
        if cell is None or not record.accepted or cell.driver != STAMP_READER:
            continue
        stored = setting.stored(record, "")
        trace = stored.trace(cell.mode, cell.answer, cell.load.left_out_count)
        found.append(_Run(cell, record.block, measured_lane(trace, timed_rows(trace), stored.truth())))
    return found


def _delays(
    runs: Sequence[_Run], controls: Mapping[tuple[Compared, int], Sequence[_Run]], spec: Calibration
) -> tuple[KnownDelay, ...]:
    blocks: dict[tuple[str, Compared], list[DelayBlock]] = defaultdict(list)
    cells: dict[Compared, Cell] = {}
    for run in runs:
        control = controls.get((run.window, run.block))
        if run.delay not in spec.known_delays or not control:
            continue
        cells[run.window] = run.cell
        blocks[run.delay, run.window].append(delay_block(run.block, run.measured, [one.measured for one in control]))
    several = len(cells) > len({cell.mode for cell in cells.values()})
    ordered = sorted(blocks.items(), key=lambda one: (one[0][1], spec.known_delays.index(one[0][0])))
    return tuple(
        KnownDelay(
            name=delay,
            mode=cells[window].mode,
            arrangement="cell",
            condition="quiet",
            blocks=tuple(found),
            two_valued=delay in spec.two_valued,
            window=".".join(axes.window_of(cells[window])) if several else "",
        )
        for (delay, window), found in ordered
    )
