"""In which order a campaign visits its cells: blocks, in them lanes, in them cells.

Pure: the same cells and seed give the same order on every machine, and the order of a block depends on its number
alone, so that more runs never change the earlier ones.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from weighbridge.matrix.cells import Cell, LaneKey


def order_blocks(cells: Sequence[Cell], runs: int, seed: int) -> tuple[tuple[Cell, ...], ...]:
    """Draw `runs` blocks, each with every supported cell once: whole lanes in fresh order, and cells within them."""
    supported = sorted((cell for cell in cells if cell.not_supported is None), key=lambda cell: cell.id)
    return tuple(_block(supported, f"{seed}/{number}") for number in range(1, runs + 1))


def lanes(block: Sequence[Cell]) -> tuple[tuple[LaneKey, tuple[Cell, ...]], ...]:
    """Return the lanes of a block in its order, each with its cells."""
    grouped: dict[LaneKey, list[Cell]] = {}
    for cell in block:
        grouped.setdefault(cell.lane, []).append(cell)
    return tuple((lane, tuple(members)) for lane, members in grouped.items())


def _block(cells: Sequence[Cell], seed: str) -> tuple[Cell, ...]:
    # A shuffle that can be repeated is the aim; nothing here is a secret.
    chance = random.Random(seed)  # noqa: S311
    grouped = [list(members) for _, members in lanes(cells)]
    chance.shuffle(grouped)
    for members in grouped:
        chance.shuffle(members)
    return tuple(cell for members in grouped for cell in members)
