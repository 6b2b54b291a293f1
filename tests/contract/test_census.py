"""The census: every YAML file of the project is read by the loader that users meet, or says why not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from tests.contract.texts import CHECKOUT, assert_none, files
from weighbridge import resources
from weighbridge.errors import InputError
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.catalogue import Catalogue, read_catalogue, read_recipe
from weighbridge.matrix.estimate import estimate_order
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import read_matrix
from weighbridge.matrix.order import order_blocks

# Files that no loader of ours reads, with the reason.
EXEMPT: dict[str, str] = {}

DATA = CHECKOUT / "tests" / "data"
BAD = DATA / "matrices" / "bad"
SHIPPED = [CHECKOUT / "matrix.yaml", *sorted((CHECKOUT / "examples").glob("*.yaml"))]


def name_of(path: Path) -> str:
    """Path of a file in the checkout."""
    return str(path.relative_to(CHECKOUT))


def catalogue_of(path: Path) -> Catalogue:
    """The recipes that a matrix means: those of the tests for test matrices, else the shipped ones."""
    return read_catalogue([DATA / "recipes" / "good" if path.is_relative_to(DATA) else resources.gateways()])


def unread(paths: Iterable[Path]) -> Iterator[str]:
    """Yield YAML files that their loader takes when it must not, or does not take when it must."""
    for path in paths:
        try:
            _read(path)
        except InputError as error:
            if not path.is_relative_to(BAD):
                yield f"{name_of(path)}: {error}"
        else:
            if path.is_relative_to(BAD):
                yield f"{name_of(path)}: read without an error"


def _read(path: Path) -> None:
    if path.name != "gateway.yaml" or path.is_relative_to(BAD):
        if not expand(read_matrix(path, TRAITS), catalogue_of(path)):
            raise InputError(f"{path.name} has no cell")
    elif read_recipe(path.parent).id != path.parent.name:
        raise InputError(f"{path.parent.name} is not the recipe's id")


def test_every_yaml_file_is_read_by_its_loader() -> None:
    """Recipes and matrices are good input; those in the folder of bad ones are refused."""
    read = [path for path in files(".yaml", ".yml") if name_of(path) not in EXEMPT]

    assert any(path.is_relative_to(BAD) for path in read)
    assert_none(unread(read))


def test_an_unread_file_is_found(tmp_path: Path) -> None:
    """A file that its loader refuses is named with the loader's sentence."""
    injected = tmp_path / "matrix.yaml"
    injected.write_text("schema: weighbridge.matrix/1\nloadz: {}\n")

    with pytest.raises(InputError):
        _read(injected)


def test_exempt_files_exist() -> None:
    """No exemption outlives its file, and each has a reason."""
    assert all((CHECKOUT / name).is_file() and reason for name, reason in EXEMPT.items())


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
def test_every_shipped_matrix_can_be_planned(quick: bool) -> None:
    """Each wanted run of each supported cell is in the order, of gateways once, and the plan takes time and room."""
    for path in SHIPPED:
        loaded = read_matrix(path, TRAITS, quick=quick)
        cells = expand(loaded, catalogue_of(path))
        supported = sorted(cell.id for cell in cells if cell.not_supported is None)
        blocks = order_blocks(cells, loaded.matrix.runs, loaded.matrix.seed)

        assert len(blocks) == loaded.matrix.runs, path
        assert all(sorted({cell.id for cell in block}) == supported for block in blocks), path
        gateways = [cell.id for block in blocks for cell in block if not cell.is_baseline]
        assert len(gateways) == len(blocks) * len(set(gateways)), path
        planned = estimate_order(blocks, loaded.waits)
        assert planned.window_count == sum(map(len, blocks)), path


def test_the_default_matrix_compares_baseline_reference_and_a_product() -> None:
    """A bare `invoke bench` measures a product beside reference and baseline, both modes, both kinds of load."""
    cells = expand(read_matrix(CHECKOUT / "matrix.yaml", TRAITS), catalogue_of(CHECKOUT / "matrix.yaml"))

    assert {"direct", "reference", "litellm"} <= {cell.lane.gateway for cell in cells}
    assert {"plain", "stream"} <= {cell.mode for cell in cells}
    assert {"rate", "clients"} <= {cell.load.kind for cell in cells}
    assert any(cell.not_supported for cell in cells)
