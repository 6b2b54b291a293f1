"""Matrices, recipes and cells that the tests of the matrix room share."""

from __future__ import annotations

from pathlib import Path

from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.catalogue import Catalogue, read_catalogue
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import LoadedMatrix, read_matrix

DATA = Path(__file__).resolve().parents[1] / "data"
ROOT = DATA.parent.parent

SMALL = """\
schema: weighbridge.matrix/1
title: A small matrix
seed: 7
subject: alpha
gateways: [alpha, beta]
chains: [none, starter]
disks: {work: {}}
modes: [plain, stream]
payloads: {1k: {system: 256B, user: 1KiB}}
answers: {20ms: {delay: 20ms, chunks: 16, gap: 5ms}}
loads:
  rate: {per_second: [50], duration: 30s}
  clients: {counts: [1, 10], requests: 1000}
runs: 3
"""


def catalogue() -> Catalogue:
    """The three recipes of the tests: direct, alpha (plain only, two chains), beta (chain none, settings)."""
    return read_catalogue([DATA / "recipes" / "good"])


def loaded(folder: Path, *changes: tuple[str, str], quick: bool = False) -> LoadedMatrix:
    """The small matrix with texts replaced, read from a file in `folder`."""
    text = SMALL
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    file = folder / "matrix.yaml"
    file.write_text(text)
    return read_matrix(file, TRAITS, quick=quick)


def cells(folder: Path, *changes: tuple[str, str]) -> tuple[Cell, ...]:
    """Cells of the small matrix with texts replaced."""
    return expand(loaded(folder, *changes), catalogue())
