"""The order of a campaign."""

from __future__ import annotations

import statistics
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples.matrix_samples import cells
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.matrix.estimate import visit_s, window_s
from weighbridge.matrix.order import BASELINE_EVERY_S, order_blocks, visits

with tempfile.TemporaryDirectory() as _folder:
    CELLS = cells(Path(_folder), ("[alpha, beta]", "[alpha, beta, {id: beta, settings: {workers: 2}}]"))

SUPPORTED = {cell.id for cell in CELLS if cell.not_supported is None}
_some_cells = st.lists(st.sampled_from(CELLS), unique_by=lambda cell: cell.id)


@settings(max_examples=60, deadline=None)
@given(_some_cells, st.integers(1, 5), st.integers(0, 2**53))
def test_each_block_holds_every_supported_cell_and_those_of_gateways_once(
    some: list[Cell], runs: int, seed: int
) -> None:
    """Cells of gateways are there once, those of the baseline as often as each other."""
    wanted = {cell.id: cell.is_baseline for cell in some if cell.id in SUPPORTED}
    blocks = order_blocks(some, runs, seed)

    assert len(blocks) == runs
    for block in blocks:
        counted = Counter(cell.id for cell in block)
        assert counted.keys() == wanted.keys()
        assert {counted[name] for name, is_baseline in wanted.items() if not is_baseline} <= {1}
        assert len({counted[name] for name, is_baseline in wanted.items() if is_baseline}) <= 1


@settings(max_examples=60, deadline=None)
@given(_some_cells, st.integers(0, 2**53))
def test_a_gateway_is_started_once_in_a_block(some: list[Cell], seed: int) -> None:
    """The cells of a lane stand together; neighbours of one lane are one visit."""
    for block in order_blocks(some, 2, seed):
        lanes = [lane for lane, _ in groupby(block, key=lambda cell: cell.lane)]
        gateways = [lane for lane in lanes if lane.gateway != "direct"]
        assert len(gateways) == len(set(gateways))
        assert [lane for lane, _ in visits(block)] == lanes


@settings(max_examples=60, deadline=None)
@given(_some_cells, st.integers(0, 2**53))
def test_all_lanes_have_their_cells_in_one_order(some: list[Cell], seed: int) -> None:
    """So that equal cells lie one visit apart: what two lanes have in common stands in both alike."""
    for block in order_blocks(some, 2, seed):
        kinds = [[(cell.mode, cell.load.name) for cell in members] for _, members in visits(block)]
        for mine in kinds:
            for other in kinds:
                assert [one for one in mine if one in other] == [one for one in other if one in mine]


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

    assert [lane.name for lane, _ in visits(first)] == [
        "beta.none.work",
        "alpha.starter.work",
        "direct.none.work",
        "beta@workers=2.none.work",
        "alpha.none.work",
        "direct.none.work",
    ]


def test_lanes_and_cells_move_from_block_to_block() -> None:
    """Over forty blocks each gateway is first once, and cells change their order."""
    blocks = order_blocks(CELLS, 40, 1)

    firsts = {visits(block)[0][0].name for block in blocks}
    assert firsts >= {cell.lane.name for cell in CELLS if cell.id in SUPPORTED and not cell.is_baseline}
    assert len({tuple(cell.load.name for cell in block if cell.is_baseline) for block in blocks}) > 5


def _lanes(count: int, visit_minutes: float) -> list[Cell]:
    """Cells of a baseline and of so many gateways whose visits take so long."""
    (model,) = [cell for cell in CELLS if cell.is_baseline and cell.load.kind == "rate" and cell.mode == "plain"]
    made = [model]
    for number in range(count):
        lane = LaneKey(f"gateway-{number}", (), "none", "work")
        load = replace(model.load, request_count=round(50 * 60 * visit_minutes))
        made.append(replace(model, id=f"{number}", lane=lane, load=load))
    return made


def _middles(block: Sequence[Cell]) -> tuple[list[float], float]:
    """Where in a block the middles of its baselines lie, in seconds, and how long it is."""
    at, found = 0.0, []
    for lane, members in visits(block):
        length = visit_s(members)
        if lane.gateway == "direct":
            found.append(at + length / 2)
        at += length
    return found, at


@pytest.mark.parametrize("count", [2, 5, 12])
def test_the_baseline_of_a_short_block_stands_once_in_its_middle_third(count: int) -> None:
    """Where gateways are many enough to have a place there: of each of forty blocks, and not always the same."""
    places = []
    for block in order_blocks(_lanes(count, 0.5), 40, 3):
        middles, length = _middles(block)
        (share,) = [at / length for at in middles]
        assert 1 / 3 <= share <= 2 / 3
        places.append(share)
    assert count == 2 or len(set(places)) > 1


def test_a_single_gateway_has_the_baseline_before_or_behind_it() -> None:
    """A gateway is not stopped for it; the seed says which."""
    blocks = order_blocks(_lanes(1, 0.5), 20, 3)

    assert {visits(block)[0][0].gateway for block in blocks} == {"direct", "gateway-0"}


@pytest.mark.parametrize(("count", "visit_minutes"), [(6, 4.0), (8, 5.0), (12, 5.0), (10, 9.0)])
def test_a_long_block_has_the_baseline_once_more_for_each_quarter_of_an_hour(
    count: int, visit_minutes: float
) -> None:
    """24 to 90 minutes: so many baselines, one in the middle third, and none is far from any window."""
    for block in order_blocks(_lanes(count, visit_minutes), 10, 5):
        middles, length = _middles(block)
        again = [members for lane, members in visits(block) if lane.gateway == "direct"][1:]
        assert len(middles) - 1 == int((length - sum(map(visit_s, again))) / BASELINE_EVERY_S)
        assert any(1 / 3 <= at / length <= 2 / 3 for at in middles)
        farthest = max(min(abs(at - other) for other in middles) for at in range(int(length)))
        assert farthest < BASELINE_EVERY_S


def test_equal_cells_of_gateway_and_baseline_lie_near_each_other() -> None:
    """Over twenty blocks of four gateways the median distance is below two visits, each below three."""
    distances, visit_length = [], 0.0
    for block in order_blocks(CELLS, 20, 9):
        began: list[tuple[Cell, float]] = []
        at = 0.0
        for _, members in visits(block):
            at += visit_s(members) - sum(map(window_s, members))
            for cell in members:
                began.append((cell, at))
                at += window_s(cell)
            visit_length = max(visit_length, visit_s(members))
        distances += [
            min(abs(when - other) for direct, other in began if direct.id == cell.baseline)
            for cell, when in began
            if not cell.is_baseline
        ]
    assert statistics.median(distances) < 2 * visit_length
    assert max(distances) < 3 * visit_length
