"""The matrix that a command means: read, with its recipes, expanded and selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weighbridge import resources
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.catalogue import Catalogue, read_catalogue
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import LoadedMatrix, read_matrix
from weighbridge.matrix.select import select
from weighbridge.tasks import cli


@dataclass(frozen=True)
class Opened:
    """A matrix that was read, with its recipes and the cells that were selected."""

    loaded: LoadedMatrix
    catalogue: Catalogue
    cells: tuple[Cell, ...]
    only: tuple[str, ...]


@dataclass(frozen=True)
class Asked:
    """Flags that say which matrix is meant and how much of it."""

    matrix: str = ""
    recipes: str = ""
    quick: bool = False
    only: Sequence[str] = ()
    runs: int | None = None
    driver: str | None = None


def open_matrix(asked: Asked) -> Opened:
    """Open the matrix that the flags mean, expanded and selected; InputError when something does not fit."""
    path = Path(asked.matrix) if asked.matrix else _default_matrix()
    loaded = read_matrix(path, TRAITS, quick=asked.quick).override(runs=asked.runs, driver=asked.driver)
    extra = (Path(asked.recipes),) if asked.recipes else ()
    catalogue = read_catalogue((resources.gateways(), *loaded.recipe_folders(), *extra))
    return Opened(loaded, catalogue, select(expand(loaded, catalogue), list(asked.only)), tuple(asked.only))


def _default_matrix() -> Path:
    path = cli.project() / "matrix.yaml"
    try:
        return path.relative_to(Path.cwd())
    except ValueError:
        return path
