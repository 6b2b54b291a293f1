"""Columns of figures: a table is a list of keys, and the catalogue says how each is headed, written and set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import Code
from weighbridge.publish.views.cells import (
    Notes,
    absent_cell,
    has_spread,
    span_text,
    terminal_absent,
    timing_cells,
    with_runs,
)
from weighbridge.publish.views.headline import added_key
from weighbridge.publish.views.views import TableCell, TableColumn, TableGroup
from weighbridge.record.figures import NOT_MEASURED, PERCENTILES, Absent, Figure, Percentile, Timing
from weighbridge.record.measured import FigureValue
from weighbridge.record.metrics import METRICS, Metric, MetricKey
from weighbridge.record.summary import CellSummary

# Percentiles where a table has no room for three.
P50_P95: tuple[Percentile, ...] = ("p50", "p95")

Write = Callable[[numbers.Digits, float], str]

# How a number of each unit is written; those that a spread is worth a line of its own.
_WRITE: Mapping[str, Write] = {
    "ms": numbers.Digits.ms,
    "1/request": numbers.Digits.ms,
    "1/s": numbers.Digits.rps,
    "cores": numbers.Digits.ms,
    "bytes": numbers.Digits.size,
    "s": lambda _, value: numbers.duration(value),
    "ratio": numbers.Digits.share,
    "count": lambda _, value: numbers.short(value),
    "error": numbers.Digits.error,
}
_WITH_SPREAD = frozenset({"ms", "cores", "1/request", "1/s", "bytes", "s"})
_TERMINAL_UNITS: Mapping[str, str] = {"1/s": "/s", "ms": "ms"}


@dataclass(frozen=True)
class Show:
    """A figure as a column or a group of columns.

    `title` and `label` stand in the place of the catalogue's label. `by_mode`: the added time that leads in the mode
    of each cell. `small` is a second line, `make` a cell of its own kind, `absent` says why a number is null,
    `write` stands in the place of what its unit is written by.
    """

    key: MetricKey
    title: str = ""
    label: str = ""
    css: str = ""
    percentiles: tuple[Percentile, ...] = PERCENTILES
    by_mode: bool = False
    small: Callable[[CellSummary, numbers.Digits], str] = lambda *_: ""
    make: Callable[[CellSummary, Notes], TableCell] | None = None
    absent: Callable[[CellSummary], Absent] = lambda _: NOT_MEASURED
    write: Write | None = None

    @property
    def metric(self) -> Metric:
        """Its entry in the catalogue."""
        return METRICS[self.key]

    @property
    def heading(self) -> str:
        """Words above its columns, without the unit."""
        return self.title or self.metric.label

    @property
    def is_time(self) -> bool:
        """Whether it is a group of percentiles."""
        return self.metric.kind == "time"

    @property
    def width(self) -> int:
        """Number of its columns."""
        return len(self.percentiles) if self.is_time else 1

    def of(self, cell: CellSummary) -> FigureValue:
        """Return the figure of a cell."""
        return cell.figures[added_key(cell) if self.by_mode else self.key]


# How busy a lane was is known to a few per cent at best.
BUSY = Show("busy_ratio", write=lambda _, value: numbers.whole_share(value))


def _beside_response(cell: CellSummary, digits: numbers.Digits) -> str:
    """Return service time and release lateness at a rate: what of a response was the generator's own waiting."""
    service_ms, late_ms = (cell.percentile(key, "p50") for key in ("service_ms", "release_lateness_ms"))
    if service_ms is None or late_ms is None:
        return ""
    return f"service {digits.ms(service_ms)}, sent {digits.ms(late_ms)} late"


def _beside_shift(cell: CellSummary, digits: numbers.Digits) -> str:
    """Return the shift of service time, where a generator's own lateness stands in both lanes' response time."""
    moved_ms = cell.percentile("service_shift_ms", "p50")
    return f"of service {digits.ms(moved_ms)}" if cell.driver == "oha" and moved_ms is not None else ""


def _no_bound(cell: CellSummary) -> Absent:
    return Absent(absent="one_client") if cell.load.concurrency == 1 else Absent(absent="no_mean")


BOUND = Show("littles_rps", title="N ÷ mean response time, per s", label="N ÷ mean", absent=_no_bound)
RESPONSE_COLUMNS = Show("response_ms", css="beside", small=_beside_response)
SHIFT_COLUMNS = Show("shift_ms", css="beside", small=_beside_shift)


def shown(columns: Iterable[Show], cells: Sequence[CellSummary]) -> tuple[Show, ...]:
    """Return the columns that some cell can fill."""
    return tuple(one for one in columns if any(_exists(one.of(cell)) for cell in cells))


def cells_of(cell: CellSummary, columns: Iterable[Show], notes: Notes) -> tuple[TableCell, ...]:
    """Return the cells of these columns for one row."""
    return tuple(made for one in columns for made in _cells(cell, one, notes))


def columns_of(columns: Iterable[Show]) -> tuple[TableColumn, ...]:
    """Return the headings of these columns."""
    return tuple(made for one in columns for made in _columns(one))


def groups_of(columns: Iterable[Show]) -> tuple[TableGroup, ...]:
    """Return what stands above times, each with its unit."""
    return tuple(TableGroup(f"{one.heading}, ms", one.width, one.css) for one in columns)


def number_column(text: str, full: str, css: str = "") -> TableColumn:
    """Return a column of numbers."""
    return TableColumn(text, full, css=f"n {css}".strip(), is_number=True, rule=Code("---:"))


def terminal_head(one: Show, name: str = "") -> tuple[str, str]:
    """Return a narrow heading of two lines."""
    return one.metric.short, name or _TERMINAL_UNITS.get(one.metric.unit, "")


def terminal_text(cell: CellSummary, one: Show, notes: Notes) -> str:
    """Return a figure that is one number as a terminal shows it, or a dash with the mark of its reason."""
    found = one.of(cell)
    number = found.value if isinstance(found, Figure) else found
    if isinstance(number, int | float):
        return _write(one)(notes.digits, number)
    return terminal_absent(found if isinstance(found, Absent) else one.absent(cell), notes)


def spread(found: Figure | Absent, write: Callable[[float], str]) -> str:
    """Return the interval over the runs; empty where there is none, or where the runs are alike."""
    return "" if isinstance(found, Absent) or not has_spread(found) else span_text(found.interval, write)


def _exists(found: FigureValue) -> bool:
    return found is not None and not isinstance(found, Absent)


def _write(one: Show) -> Write:
    return one.write or _WRITE[one.metric.unit]


def _cells(cell: CellSummary, one: Show, notes: Notes) -> tuple[TableCell, ...]:
    label = one.label or one.heading
    if one.make is not None:
        return (replace(one.make(cell, notes), label=label),)
    found = one.of(cell)
    if one.is_time:
        first, *rest = timing_cells(cast("Timing | Absent", found), notes, label, one.percentiles)
        return (replace(first, small=" · ".join(filter(None, (first.small, one.small(cell, notes.digits))))), *rest)
    return (_number_cell(cell, one, notes, label),)


def _number_cell(cell: CellSummary, one: Show, notes: Notes, label: str) -> TableCell:
    found, write = one.of(cell), partial(_write(one), notes.digits)
    if isinstance(found, Absent):
        return absent_cell(found, notes, label=label)
    if isinstance(found, Figure):
        small = one.small(cell, notes.digits) or (spread(found, write) if one.metric.unit in _WITH_SPREAD else "")
        return TableCell(write(found.value), label=label, small=with_runs(small, found), css=f"n {one.css}".strip())
    if isinstance(found, int | float):
        return TableCell(write(found), label=label, css="n")
    return absent_cell(one.absent(cell), notes, label=label)


def _columns(one: Show) -> tuple[TableColumn, ...]:
    if one.is_time:
        return tuple(number_column(name, f"{one.heading} {name}, ms", one.css) for name in one.percentiles)
    text = one.metric.short or one.heading
    if one.metric.kind in ("word", "fidelity"):
        return (TableColumn(text, one.heading),)
    return (number_column(text, one.heading, one.css),)
