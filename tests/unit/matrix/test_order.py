"""The order of a campaign."""

from __future__ import annotations

import tempfile
from itertools import groupby
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples.matrix_samples import cells
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.order import lanes, order_blocks

with tempfile.TemporaryDirectory() as _folder:
    CELLS = cells(Path(_folder), ("[alpha, beta]", "[alpha, beta, {id: beta, settings: {workers: 2}}]"))

SUPPORTED = {cell.id for cell in CELLS if cell.not_supported is None}
_some_cells = st.lists(st.sampled_from(CELLS), unique_by=lambda cell: cell.id)


@settings(max_examples=60, deadline=None)
@given(_some_cells, st.integers(1, 5), st.integers(0, 2**53))
def test_each_block_holds_every_supported_cell_once(some: list[Cell], runs: int, seed: int) -> None:
    """A block is a permutation of the supported cells."""
    wanted = sorted(cell.id for cell in some if cell.id in SUPPORTED)
    blocks = order_blocks(some, runs, seed)

    assert len(blocks) == runs
    assert all(sorted(cell.id for cell in block) == wanted for block in blocks)


@settings(max_examples=60, deadline=None)
@given(_some_cells, st.integers(0, 2**53))
def test_a_lane_is_started_once_in_a_block(some: list[Cell], seed: int) -> None:
    """The cells of a lane stand together."""
    for block in order_blocks(some, 2, seed):
        runs_of_lanes = [lane for lane, _ in groupby(block, key=lambda cell: cell.lane)]
        assert len(runs_of_lanes) == len(set(runs_of_lanes))
        assert [lane for lane, _ in lanes(block)] == runs_of_lanes


@settings(max_examples=60, deadline=None)
@given(st.permutations(CELLS), st.integers(1, 4), st.integers(0, 2**53))
def test_the_order_depends_on_the_seed_alone(shuffled: list[Cell], more: int, seed: int) -> None:
    """The order of the input does not matter, and more runs leave the earlier blocks as they were."""
    blocks = order_blocks(CELLS, 2, seed)

    assert order_blocks(shuffled, 2, seed) == blocks
    assert order_blocks(CELLS, 2 + more, seed)[:2] == blocks


def test_the_order_is_the_same_on_every_machine() -> None:
    """One seed gives one order, written down here."""
    first = order_blocks(CELLS, 1, 20261023)[0]

    assert [lane.name for lane, _ in lanes(first)] == [
        "alpha.starter.work",
        "direct.none.work",
        "beta.none.work",
        "alpha.none.work",
        "beta@workers=2.none.work",
    ]


def test_the_baseline_stands_anywhere_and_blocks_differ() -> None:
    """Over forty blocks the baseline is first and last at least once, and cells move in their lane."""
    blocks = order_blocks(CELLS, 40, 1)
    places = {[lane.gateway for lane, _ in lanes(block)].index("direct") for block in blocks}

    assert places == {0, 1, 2, 3, 4}
    assert len({tuple(cell.id for cell in block) for block in blocks}) > 30
    baselines = {tuple(cell.id for cell in block if cell.is_baseline) for block in blocks}
    assert len(baselines) > 20
