"""Which cells shell patterns pick, always with the baselines that they are compared with.

Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from weighbridge.errors import InputError, Place
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.suggest import listed, nearest, several

_SIGNS = frozenset("*?[")


def select(cells: Sequence[Cell], patterns: Sequence[str]) -> tuple[Cell, ...]:
    """Cells that match any of `patterns`, and their baselines, in the order of `cells`; all without patterns.

    Raises InputError, listing close ids, for a pattern that matches nothing.
    """
    if not patterns:
        return tuple(cells)
    for pattern in patterns:
        unmatched(cells, pattern)
    return with_baselines(cells, matching_cells(cells, patterns))


def matching_cells(cells: Iterable[Cell], patterns: Sequence[str]) -> tuple[Cell, ...]:
    """Cells whose id matches any of `patterns`; capital letters count."""
    return tuple(cell for cell in cells if any(fnmatchcase(cell.id, pattern) for pattern in patterns))


def with_baselines(cells: Sequence[Cell], picked: Iterable[Cell]) -> tuple[Cell, ...]:
    """Return `picked` and the cells that they are compared with, in the order of `cells`."""
    wanted = {name for cell in picked for name in (cell.id, cell.baseline)}
    return tuple(cell for cell in cells if cell.id in wanted)


def unmatched(cells: Sequence[Cell], pattern: str, *, place: Place | None = None) -> None:
    """Nothing when `pattern` matches a cell; InputError with what may have been meant otherwise."""
    ids = [cell.id for cell in cells]
    if any(fnmatchcase(name, pattern) for name in ids):
        return
    repaired = _repaired(pattern, ids)
    close = several(pattern.replace("*", ""), ids) or tuple(ids[:3])
    raise InputError(
        f"the pattern {pattern!r} matches no cell",
        place=place,
        expected=f"expected a shell pattern on cell ids such as {listed(close)}",
        suggestion=repaired,
    )


def _repaired(pattern: str, ids: Sequence[str]) -> str:
    """Return the pattern with each misspelt part replaced by the nearest that ids have there, empty when no use."""
    parts = pattern.split(".")
    for number, part in enumerate(parts):
        known = {pieces[number] for pieces in (name.split(".") for name in ids) if len(pieces) > number}
        if part not in known and not _SIGNS & set(part):
            parts[number] = nearest(part, known) or part
    for repaired in (".".join(parts), ".".join(parts) + ".*", f"*{pattern}*"):
        if repaired != pattern and any(fnmatchcase(name, repaired) for name in ids):
            return repaired
    return ""
