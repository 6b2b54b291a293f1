"""In which order a campaign visits its cells: blocks, in them visits of lanes, in them cells.

Every lane of a block has its cells in the same order, so that equal cells of all lanes lie as near in time as one
start of each gateway allows. The baseline is visited in the middle third, and more often where a block is long.

Pure: the same cells and seed give the same order on every machine, and the order of a block depends on its number
alone, so that more runs never change the earlier ones.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from itertools import accumulate, groupby

from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.matrix.estimate import visit_s

# METHOD 5: the baseline once more for each so many seconds of a block that is longer.
BASELINE_EVERY_S = 15 * 60.0

_LaneVisit = tuple[Cell, ...]


def order_blocks(cells: Sequence[Cell], runs: int, seed: int) -> tuple[tuple[Cell, ...], ...]:
    """Draw `runs` blocks: every supported cell of a gateway once in each, those of the baseline once or more.

    Lanes stand in a fresh order, and cells in a fresh order that all lanes share.
    """
    supported = sorted((cell for cell in cells if cell.not_supported is None), key=lambda cell: cell.id)
    return tuple(_block(supported, f"{seed}/{number}") for number in range(1, runs + 1))


def visits(block: Sequence[Cell]) -> tuple[tuple[LaneKey, tuple[Cell, ...]], ...]:
    """Return the visits of a block in its order, each a lane with its cells."""
    return tuple((lane, tuple(members)) for lane, members in groupby(block, key=lambda cell: cell.lane))


def _block(cells: Sequence[Cell], seed: str) -> tuple[Cell, ...]:
    # A shuffle that can be repeated is the aim; nothing here is a secret.
    chance = random.Random(seed)  # noqa: S311
    grouped: dict[LaneKey, list[Cell]] = {}
    for cell in cells:
        grouped.setdefault(cell.lane, []).append(cell)
    kinds = sorted({_kind(cell) for cell in cells})
    chance.shuffle(kinds)
    made = [tuple(sorted(members, key=lambda cell: kinds.index(_kind(cell)))) for members in grouped.values()]
    chance.shuffle(made)
    baselines = [visit for visit in made if visit[0].is_baseline]
    gateways = [visit for visit in made if not visit[0].is_baseline]
    return tuple(cell for visit in _with_baselines(gateways, baselines, chance) for cell in visit)


def _kind(cell: Cell) -> tuple[str, ...]:
    """Return what cells of all lanes that are compared have in common."""
    return cell.mode, cell.payload.name, cell.answer.name, cell.load.name, cell.driver


def _with_baselines(
    gateways: Sequence[_LaneVisit], baselines: Sequence[_LaneVisit], chance: random.Random
) -> list[_LaneVisit]:
    """Put all baselines into the block, as often as its length asks for and where they are near to every visit."""
    lengths = [visit_s(visit) for visit in gateways]
    once_s = sum(map(visit_s, baselines))
    if not baselines or not gateways:
        return [*gateways, *baselines]
    count = max(1, math.ceil((sum(lengths) + once_s) / BASELINE_EVERY_S))
    total_s = sum(lengths) + count * once_s
    begun_s = list(accumulate(lengths, initial=0.0))
    # Where the middle of a baseline's visit lies before each visit and at the end, as a share of the block: at least,
    # with all others behind it, and at most, with all others before it.
    spans = [
        ((begun + once_s / 2) / total_s, (begun + (count - 0.5) * once_s) / total_s) for begun in begun_s
    ]  # fmt: skip
    chosen = _chosen(spans, _wanted(count, chance), chance)
    made: list[_LaneVisit] = []
    for place in range(len(begun_s)):
        made += [*(baselines if place in chosen else ()), *gateways[place : place + 1]]
    return made


def _wanted(count: int, chance: random.Random) -> list[float]:
    """Return where in the block the baseline shall stand, as shares of it; the first always in the middle third."""
    if count == 1:
        return [chance.uniform(1 / 3, 2 / 3)]
    if count == 2:
        return chance.choice([[0.375, 0.875], [0.625, 0.125]])
    return sorted(((2 * number + 1) / (2 * count) for number in range(count)), key=lambda share: abs(share - 0.5))


def _chosen(spans: Sequence[tuple[float, float]], wanted: Sequence[float], chance: random.Random) -> set[int]:
    """Return for each share the place that is nearest and still free, as long as there is one.

    The first is within the middle third wherever a place surely is.
    """
    free = list(range(len(spans)))
    chance.shuffle(free)
    middle = [place for place in free if spans[place][0] >= 1 / 3 and spans[place][1] <= 2 / 3]
    chosen: set[int] = set()
    for share in wanted:
        left = [place for place in (free if chosen else middle or free) if place not in chosen]
        if left:
            chosen.add(min(left, key=lambda place: abs(sum(spans[place]) / 2 - share)))
    return chosen
