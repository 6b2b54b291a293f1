"""Axes as one list: ids, baselines and families come from it, and from documents as from cells of the matrix."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.examples.matrix_samples import cells
from weighbridge.matrix.axes import AXES, baseline_id, cell_id, families, others, varied, window_of
from weighbridge.matrix.cells import Cell
from weighbridge.record.cell import planned

TWO_ANSWERS = ("answers: {", "answers: {fast: {delay: 1ms, chunks: 4, gap: 1ms}, ")


def _read(cell: Cell) -> dict[str, str]:
    return {axis.name: axis.read(cell) for axis in AXES}


def test_no_two_cells_have_the_same_values_on_all_axes(tmp_path: Path) -> None:
    """The axes are complete: what tells two cells apart is on one of them."""
    found = cells(tmp_path, TWO_ANSWERS)

    assert len({tuple(_read(cell).values()) for cell in found}) == len(found)


def test_an_axis_of_the_lane_tells_lanes_apart_and_no_other_does(tmp_path: Path) -> None:
    """Cells with the same values on the axes of the lane are of one start of a gateway."""
    found = cells(tmp_path, TWO_ANSWERS)
    of_lane = {tuple(axis.read(cell) for axis in AXES if axis.of == "lane"): cell.lane for cell in found}

    assert len(of_lane) == len({cell.lane for cell in found})
    assert all(others(cell, *[axis.name for axis in AXES if axis.of == "lane"]) == window_of(cell) for cell in found)


def test_the_baseline_differs_by_lane_only_and_is_there(tmp_path: Path) -> None:
    """Every cell names an existing cell without a gateway, with the same window on the same disk."""
    found = cells(tmp_path, TWO_ANSWERS)
    by_id = {cell.id: cell for cell in found}

    for cell in found:
        baseline = by_id[cell.baseline]
        assert baseline.is_baseline
        assert baseline.baseline == baseline.id
        assert (window_of(baseline), baseline.disk) == (window_of(cell), cell.disk)


@pytest.mark.parametrize("named", [frozenset[str](), frozenset({"answer"}), frozenset({"payload", "answer"})])
def test_documents_are_read_as_cells_are(tmp_path: Path, named: frozenset[str]) -> None:
    """A recorded cell has the id and the baseline's id of the matrix's cell."""
    for cell in cells(tmp_path, TWO_ANSWERS):
        kept = planned(cell)
        assert (cell_id(kept, named), baseline_id(kept, named)) == (cell_id(cell, named), baseline_id(cell, named))


def test_an_axis_is_in_the_id_only_if_it_varies(tmp_path: Path) -> None:
    """One response is in no id, two are in each; the parts of an id never run into each other."""
    one, two = cells(tmp_path), cells(tmp_path, TWO_ANSWERS)

    assert not any("+" in cell.id for cell in one)
    assert {cell.id.partition("+")[2] for cell in two} == {"answer=20ms", "answer=fast"}


def test_families_are_alike_but_for_the_axis(tmp_path: Path) -> None:
    """Of two responses each family has one cell with each; without the axis each cell is alone."""
    found = cells(tmp_path, TWO_ANSWERS)

    assert {len(family) for family in families(found, "answer")} == {2}
    assert all(varied(family) == {"answer"} for family in families(found, "answer"))
    assert {len(family) for family in families(found)} == {1}


def test_settings_are_a_part_of_the_gateway(tmp_path: Path) -> None:
    """Two settings of one gateway are two values of its axis, in whichever order they are written."""
    cell = cells(tmp_path)[0]
    lanes = [replace(cell.lane, settings=pairs) for pairs in ((("a", "1"), ("b", "2")), (("b", "2"), ("a", "1")), ())]
    first, turned, bare = (cell_id(replace(cell, lane=lane), frozenset()) for lane in lanes)

    assert first == turned != bare
