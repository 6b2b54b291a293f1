"""The identity of a cell as a document: it comes back as it was, and its text changes with whatever matters."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.examples.matrix_samples import cells
from weighbridge.matrix.cells import Cell
from weighbridge.record.canonical import canonical
from weighbridge.record.cell import CellIdentity, PlannedCell, identity_of, planned

STREAMS = ("  clients:", "  streams: {held: [0, 20, 50]}\n  clients:")


def test_each_kind_of_load_comes_back_as_it_was(tmp_path: Path) -> None:
    """Written and read again, a planned cell is equal, whatever its load is."""
    found = cells(tmp_path, STREAMS)

    assert {cell.load.kind for cell in found} == {"rate", "clients", "streams"}
    for cell in found:
        assert PlannedCell.model_validate_json(planned(cell).to_json()) == planned(cell)


def _changes(cell: Cell) -> list[Cell]:
    lane, load, answer = cell.lane, cell.load, cell.answer
    return [
        replace(cell, lane=replace(lane, settings=(("workers", "2"),))),
        replace(cell, lane=replace(lane, disk="other")),
        replace(cell, mode="stream"),
        replace(cell, payload=replace(cell.payload, user_bytes=cell.payload.user_bytes + 1)),
        replace(cell, answer=replace(answer, gap_s=answer.gap_s + 0.001)),
        replace(cell, load=load.with_connections(2) or load),
        replace(cell, load=load.without_companion("off")),
        replace(cell, driver="wrk"),
    ]


def test_the_identity_changes_with_whatever_makes_another_cell(tmp_path: Path) -> None:
    """Settings, disk, mode, payload, response, connections, companion and driver each give another digest."""
    cell = next(cell for cell in cells(tmp_path) if cell.load.has_schedule)
    digests = {identity_of(one).sha256 for one in (cell, *_changes(cell))}

    assert len(digests) == 1 + len(_changes(cell))


def test_the_identity_is_the_same_for_another_order_of_settings(tmp_path: Path) -> None:
    """The canonical text has sorted keys and no blanks between them."""
    cell = cells(tmp_path)[0]
    pairs = (("a", "1"), ("b", "2"))
    one, other = (replace(cell, lane=replace(cell.lane, settings=which)) for which in (pairs, pairs[::-1]))

    assert canonical(identity_of(one)) == canonical(identity_of(other))
    assert json.loads(canonical(identity_of(one))) == identity_of(one).model_dump(mode="json")


@pytest.mark.parametrize(
    "change", [{"kind": "ramp"}, {"rate_rps": "50"}, {"more": 1}], ids=["kind", "text", "key"]
)  # fmt: skip
def test_a_load_is_read_strictly(tmp_path: Path, change: dict[str, Any]) -> None:
    """An unknown kind, text for a number and an unknown key are refused."""
    cell = next(cell for cell in cells(tmp_path) if cell.load.has_schedule)
    raw = identity_of(cell).model_dump(mode="json")
    raw["load"] |= change

    with pytest.raises(ValidationError):
        CellIdentity.model_validate_json(json.dumps(raw))
