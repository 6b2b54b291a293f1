"""More mixed blocks where a percentile is off: when they are run, and that all of them count."""

from __future__ import annotations

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.unit.calibration_examples import MS, constant, lane
from weighbridge.campaign.calibration.lanes import TWINS
from weighbridge.campaign.calibration.mixed import Kind, MixedBlock, MixedBlocks, blocks_of
from weighbridge.judge.weighed import WeighedLane
from weighbridge.matrix.calibration import MixedLoad

KIND = Kind("plain", "busy")
SPEC: Any = SimpleNamespace(weights=("weight-3ms",), two_valued=())


class Planned:
    """Stands for the runner: block `n` is off by the n-th of the errors; says which numbers were asked for."""

    spec = SPEC

    def __init__(self, *errors_us: int, gap: str = "") -> None:
        self._errors_us, self._gap = errors_us, gap
        self.asked: list[list[int]] = []
        self.announced = 0

    def blocks(self, kind: Kind, load: MixedLoad, numbers: Iterable[int]) -> MixedBlocks:
        self.asked.append(list(numbers))
        made = tuple(self._block(kind, number) for number in self.asked[-1])
        return MixedBlocks(made, (self._gap,) if self._gap else ())

    def announce(self, kind: Kind, load: MixedLoad) -> None:
        self.announced += 1

    def _block(self, kind: Kind, number: int) -> MixedBlock:
        error_ns = self._errors_us[number - 1] * 1000
        mine = WeighedLane(lane(number, slept_ns=3 * MS, error_ns=error_ns), constant(700, 3 * MS))
        twins = {name: WeighedLane(lane(number + seed), constant(700, 0)) for seed, name in enumerate(TWINS, 50)}
        return MixedBlock(kind, number, {"weight-3ms": mine, **twins})


def load(more: int) -> MixedLoad:
    """Three blocks, and so many more where something is off."""
    return MixedLoad.model_validate({"per_second": 100, "blocks": 3, "more_if_off": more})


@pytest.mark.parametrize(
    ("errors_us", "more", "asked"),
    [
        ((0, 0, 0), 2, [[1, 2, 3]]),
        ((0, 0, 900), 2, [[1, 2, 3]]),
        ((0, 900, 900, 0, 0), 2, [[1, 2, 3], [4, 5]]),
        ((0, 900, 900), 0, [[1, 2, 3]]),
    ],
)
def test_more_blocks_are_run_where_the_median_block_is_off(
    errors_us: tuple[int, ...], more: int, asked: list[list[int]]
) -> None:
    """Neither a clean kind nor a single bad block asks for more; all blocks that were run count."""
    runner: Any = Planned(*errors_us)
    made = blocks_of(runner, KIND, load(more))

    assert runner.asked == asked
    assert [block.number for block in made.blocks] == [number for part in asked for number in part]
    assert runner.announced == len(asked) - 1


def test_a_kind_with_a_gap_has_failed_already() -> None:
    """Blocks that could not be had are no reason for more of them."""
    runner: Any = Planned(900, 900, 900, gap="block 2 was not accepted")
    made = blocks_of(runner, KIND, load(2))

    assert (runner.asked, made.gaps) == ([[1, 2, 3]], ("block 2 was not accepted",))
    assert np.all(made.blocks[0].lanes["weight-3ms"].sleeps.ns == 3 * MS)
