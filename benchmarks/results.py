"""What a bench hands back, as text and as JSON: tables, targets with what was measured, raw numbers.

A target that is not met is a number to look at, never an error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from tabulate import tabulate


@dataclass(frozen=True)
class Target:
    """A limit beside the measured value. `met` is None when the run was too short to judge."""

    name: str
    limit: str
    measured: str
    met: bool | None

    @property
    def verdict(self) -> str:
        """`met`, `not met` or `not judged`."""
        return {True: "met", False: "not met", None: "not judged"}[self.met]


@dataclass(frozen=True)
class Table:
    """Rows of texts and numbers under headings."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | float | int]]

    def text(self) -> str:
        """Return the table for a terminal."""
        return f"{self.title}\n" + tabulate(self.rows, self.columns, floatfmt=".4g", disable_numparse=[0])


@dataclass(frozen=True)
class Outcome:
    """All of one bench; `remarks` are sentences: what could not be run and why, how busy the machine was."""

    name: str
    tables: tuple[Table, ...] = ()
    targets: tuple[Target, ...] = ()
    numbers: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    def text(self) -> str:
        """Return the outcome for a terminal."""
        parts = [table.text() for table in self.tables]
        if self.targets:
            rows = [(one.name, one.limit, one.measured, one.verdict) for one in self.targets]
            parts.append(Table("targets", ("target", "limit", "measured", "verdict"), rows).text())
        return "\n\n".join([f"== {self.name}", *parts, *self.remarks])

    def document(self) -> dict[str, Any]:
        """Return the outcome for JSON."""
        targets = [{**asdict(one), "verdict": one.verdict} for one in self.targets]
        return {"numbers": self.numbers, "targets": targets, "remarks": list(self.remarks)}
