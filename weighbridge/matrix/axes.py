"""The axes of a matrix as one list: what cells differ in, from which ids, baselines and families are computed.

Whatever has these attributes can be read: cells of a matrix and the documents of a campaign alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeVar

from weighbridge.matrix.cells import BASELINE, with_settings
from weighbridge.matrix.model import Matrix


class Named(Protocol):
    """A payload, an answer or a load."""

    @property
    def name(self) -> str:
        """Name in cell ids."""
        ...


class HasAxes(Protocol):
    """One combination of the matrix; payload and answer are named or stand there whole."""

    @property
    def gateway(self) -> str:
        """Recipe id."""
        ...

    @property
    def settings(self) -> Mapping[str, str] | Iterable[tuple[str, str]]:
        """Settings of the gateway that the matrix changes."""
        ...

    @property
    def chain(self) -> str:
        """Policy chain."""
        ...

    @property
    def disk(self) -> str:
        """Disk of its state."""
        ...

    @property
    def mode(self) -> str:
        """Mode."""
        ...

    @property
    def load(self) -> Named:
        """Load."""
        ...

    @property
    def payload(self) -> Named | str:
        """Payload."""
        ...

    @property
    def answer(self) -> Named | str:
        """Answer."""
        ...


@dataclass(frozen=True)
class Axis:
    """One thing in which cells differ; `of` says whether another value needs another start of the gateway.

    `baseline` is its value on the lane without a gateway (None: that of the cell that is compared). `listed` gives
    the names that a matrix has, where the axis is named in ids only if there are several of them.
    """

    name: str
    of: Literal["lane", "window"]
    read: Callable[[HasAxes], str]
    baseline: str | None = None
    listed: Callable[[Matrix], Sequence[str]] | None = None


AXES: tuple[Axis, ...] = (
    Axis("gateway", "lane", lambda cell: with_settings(cell.gateway, _pairs(cell.settings)), baseline=BASELINE),
    Axis("chain", "lane", lambda cell: cell.chain, baseline="none"),
    Axis("disk", "lane", lambda cell: cell.disk),
    Axis("mode", "window", lambda cell: cell.mode),
    Axis("load", "window", lambda cell: cell.load.name),
    Axis("payload", "window", lambda cell: _name(cell.payload), listed=lambda matrix: tuple(matrix.payloads)),
    Axis("answer", "window", lambda cell: _name(cell.answer), listed=lambda matrix: tuple(matrix.answers)),
)

HasAxesType = TypeVar("HasAxesType", bound=HasAxes)


def named_in(matrix: Matrix) -> frozenset[str]:
    """Return the axes that are named in the cell ids of a matrix though not in all ids: those that it varies."""
    return frozenset(axis.name for axis in AXES if axis.listed is not None and len(axis.listed(matrix)) > 1)


def cell_id(cell: HasAxes, named: frozenset[str]) -> str:
    """Return `litellm@workers=2.none.work.plain.rate-50+payload=1k`, with the axes of `named` behind the plus."""
    return _id({axis.name: axis.read(cell) for axis in AXES}, named)


def baseline_id(cell: HasAxes, named: frozenset[str]) -> str:
    """Return the id of the cell without a gateway that `cell` is compared with; a baseline cell's is its own."""
    return _id({axis.name: axis.baseline or axis.read(cell) for axis in AXES}, named)


def varied(cells: Iterable[HasAxes]) -> frozenset[str]:
    """Return the names of the axes in which the cells differ."""
    known = list(cells)
    return frozenset(axis.name for axis in AXES if len({axis.read(cell) for cell in known}) > 1)


def others(cell: HasAxes, *but: str) -> tuple[str, ...]:
    """Return the values of all axes but the given ones: cells with the same are alike but for those."""
    return tuple(axis.read(cell) for axis in AXES if axis.name not in but)


def window_of(cell: HasAxes) -> tuple[str, ...]:
    """Return what cells have in common that differ in their lane only."""
    return tuple(axis.read(cell) for axis in AXES if axis.of == "window")


def families(cells: Iterable[HasAxesType], *axes: str) -> tuple[tuple[HasAxesType, ...], ...]:
    """Return the cells in groups that are alike but for the given axes, in their order."""
    found: dict[tuple[str, ...], list[HasAxesType]] = {}
    for cell in cells:
        found.setdefault(others(cell, *axes), []).append(cell)
    return tuple(tuple(members) for members in found.values())


def _id(values: Mapping[str, str], named: frozenset[str]) -> str:
    always = ".".join(values[axis.name] for axis in AXES if axis.listed is None)
    return always + "".join(f"+{axis.name}={values[axis.name]}" for axis in AXES if axis.name in named)


def _name(value: Named | str) -> str:
    return value if isinstance(value, str) else value.name


def _pairs(settings: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(dict(settings).items()))
