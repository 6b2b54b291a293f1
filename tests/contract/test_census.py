"""The census: every YAML file of the project is read by the loader that users meet, or says why not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.texts import CHECKOUT, files
from weighbridge import resources
from weighbridge.errors import InputError
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.catalogue import Catalogue, read_catalogue, read_recipe
from weighbridge.matrix.estimate import estimate
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


YAML = [path for path in files(".yaml", ".yml") if name_of(path) not in EXEMPT]


@pytest.mark.parametrize("path", YAML, ids=name_of)
def test_a_yaml_file_is_read_by_its_loader(path: Path) -> None:
    """Recipes and matrices are good input; those in the folder of bad ones are refused."""
    if path.is_relative_to(BAD):
        with pytest.raises(InputError):
            expand(read_matrix(path, TRAITS), catalogue_of(path))
    elif path.name == "gateway.yaml":
        assert read_recipe(path.parent).id == path.parent.name
    else:
        assert expand(read_matrix(path, TRAITS), catalogue_of(path))


def test_exempt_files_exist() -> None:
    """No exemption outlives its file, and each has a reason."""
    assert all((CHECKOUT / name).is_file() and reason for name, reason in EXEMPT.items())


@pytest.mark.parametrize("quick", [False, True], ids=["full", "quick"])
@pytest.mark.parametrize("path", SHIPPED, ids=name_of)
def test_a_shipped_matrix_can_be_planned(path: Path, quick: bool) -> None:
    """Each wanted run of each supported cell is in the order once, and the plan takes time and room."""
    loaded = read_matrix(path, TRAITS, quick=quick)
    cells = expand(loaded, catalogue_of(path))
    supported = sorted(cell.id for cell in cells if cell.not_supported is None)
    blocks = order_blocks(cells, loaded.matrix.runs, loaded.matrix.seed)

    assert len(blocks) == loaded.matrix.runs
    assert all(sorted(cell.id for cell in block) == supported for block in blocks)
    assert estimate(cells, loaded.matrix.runs).window_count == len(blocks) * len(supported)


def test_the_default_matrix_is_what_pages_say() -> None:
    """Both gateways, three chains, both modes, three rates and three numbers of clients; 84 cells with the floor."""
    cells = expand(read_matrix(CHECKOUT / "matrix.yaml", TRAITS), catalogue_of(CHECKOUT / "matrix.yaml"))

    assert {cell.lane.gateway for cell in cells} == {"direct", "reference", "litellm"}
    assert {cell.load.name for cell in cells} == {
        "rate-50", "rate-150", "rate-300", "clients-1", "clients-10", "clients-50",
    }  # fmt: skip
    assert len(cells) == 84
    assert {cell.lane.chain for cell in cells if cell.not_supported} == {"finance"}
