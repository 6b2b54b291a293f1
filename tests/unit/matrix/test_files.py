"""Whole matrix files: the good ones expand, each bad one is refused by the sentence that it names itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.examples.matrix_samples import DATA, ROOT, catalogue
from weighbridge.errors import InputError
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.catalogue import read_catalogue
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import read_matrix
from weighbridge.matrix.loads import LOADS
from weighbridge.matrix.model import Matrix
from weighbridge.matrix.suggest import listed

GOOD = sorted((DATA / "matrices" / "good").glob("*.yaml"))
BAD = sorted((DATA / "matrices" / "bad").glob("*.yaml"))
SHIPPED = [ROOT / "matrix.yaml", *sorted((ROOT / "examples").glob("*.yaml"))]


KEYS = [field.alias or name for name, field in Matrix.model_fields.items()]
# Lists that a sentence names, so that a new driver, kind of load or key changes no file.
LISTS = {
    "{drivers}": listed(TRAITS),
    "{loads}": listed(LOADS, last="and"),
    "{keys}": listed(KEYS),
    "{quick_keys}": listed(key for key in KEYS if key not in ("schema", "recipes", "quick")),
}


def _first_comment(file: Path) -> str:
    message = file.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    for word, text in LISTS.items():
        message = message.replace(word, text)
    return message


@pytest.mark.parametrize("file", BAD, ids=lambda file: file.stem)
def test_a_bad_matrix_is_refused_by_the_sentence_in_its_first_line(file: Path) -> None:
    """The sentence names file, line, column and key, says what was expected, and fits on one line."""
    with pytest.raises(InputError) as detected:
        expand(read_matrix(file, TRAITS), catalogue())

    sentence = str(detected.value)
    assert f"{file}:{_first_comment(file)}" == sentence
    assert "\n" not in sentence
    assert detected.value.exit_code == 2


def test_there_is_a_bad_matrix_for_every_kind_of_fault() -> None:
    """The folder of bad files was not emptied by accident."""
    assert len(BAD) >= 80


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.stem)
def test_a_good_matrix_expands_to_as_many_cells_as_it_says(file: Path) -> None:
    """The first comment of a good file says how many cells it has, and ids are unique."""
    cells = expand(read_matrix(file, TRAITS), catalogue())

    assert _first_comment(file) == f"cells: {len(cells)}"
    assert len({cell.id for cell in cells}) == len(cells)


@pytest.mark.parametrize("file", SHIPPED, ids=lambda file: file.name)
@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def test_what_is_shipped_expands_with_the_shipped_recipes(file: Path, quick: bool) -> None:
    """Default matrix and examples are good input, in full and quick."""
    cells = expand(read_matrix(file, TRAITS, quick=quick), read_catalogue([ROOT / "templates" / "gateways"]))

    assert any(cell.is_baseline for cell in cells)
    assert any(not cell.is_baseline for cell in cells)
