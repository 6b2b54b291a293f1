"""Order of rows: sections by chain and mode, in them loads and disks, in each the baseline, then the gateways."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from weighbridge.publish.text.load_wording import arrivals_text, load_text
from weighbridge.publish.views.labels import Names, is_baseline, settings_text
from weighbridge.publish.views.views import Section, TableCell, TableColumn, TableRow
from weighbridge.record.summary import CellSummary


@dataclass(frozen=True)
class RowMaker:
    """How a table makes its rows: the cells after the names, and the footnote marks beside the gateway's name."""

    cells: Callable[[CellSummary], tuple[TableCell, ...]]
    marks: Callable[[CellSummary], str] = lambda _: ""


def sections(
    names: Names, cells: Sequence[CellSummary], make: RowMaker, *, baselines: bool = True
) -> tuple[Section, ...]:
    """Return the rows of cells under the heading of their chain and mode; payloads and answers are rows of one table.

    The baseline of a load stands first in every section that is compared with it.
    """
    groups = grouped(names, cells, names.section_order, baselines=baselines)
    # The baselines stand in front and are of chain `none`: the last cell says what the section is about.
    return tuple(Section(title(names, group[-1]), _rows(names, group, make)) for group in groups)


def grouped(
    names: Names,
    cells: Sequence[CellSummary],
    key: Callable[[CellSummary], tuple[object, ...]],
    *,
    baselines: bool = True,
) -> list[list[CellSummary]]:
    """Return the cells of each key; with `baselines` the baselines that they are compared with stand in front."""
    measured = [cell for cell in cells if not is_baseline(cell)]
    by_id = {cell.cell: cell for cell in cells if is_baseline(cell)}
    used = {cell.baseline for cell in measured}
    alone = [cell for cell in by_id.values() if cell.cell not in used]
    shown = sorted([*measured, *alone] if baselines else measured, key=names.order)
    groups = [list(group) for _, group in groupby(shown, key=key)]
    if not baselines:
        return groups
    return [[*_baselines_of(group, by_id), *group] for group in groups]


def _baselines_of(group: list[CellSummary], by_id: dict[str, CellSummary]) -> list[CellSummary]:
    wanted = dict.fromkeys(cell.baseline for cell in group if not is_baseline(cell))
    return [by_id[name] for name in wanted if name in by_id]


def _rows(names: Names, group: list[CellSummary], make: RowMaker) -> tuple[TableRow, ...]:
    rows: list[TableRow] = []
    before = None
    for cell in ordered(names, group):
        place = names.place(cell)
        css = " ".join(name for name, holds in (("baseline", is_baseline(cell)), ("first", place != before)) if holds)
        heads = _heads(names, cell, again=place == before, mark=make.marks(cell))
        rows.append(TableRow((*heads, *make.cells(cell)), css=css))
        before = place
    return tuple(rows)


def ordered(names: Names, group: list[CellSummary]) -> list[CellSummary]:
    """Return the cells of a section by load, disk and payload, and there the baseline first."""
    return sorted(group, key=lambda cell: (names.place(cell), names.rank(cell)))


def _heads(names: Names, cell: CellSummary, *, again: bool, mark: str) -> tuple[TableCell, ...]:
    css = "again" if again else ""
    load = TableCell(load_text(cell.load), label="Load", small=arrivals_text(cell.load), css=f"load {css}".strip())
    beside = (TableCell(text, label=heading, css=css) for heading, text in names.beside_load(cell))
    return (load, *beside, gateway_cell(names, cell, mark))


def gateway_cell(names: Names, cell: CellSummary, mark: str = "") -> TableCell:
    """Return the name of a row's gateway, its settings and its label below."""
    small = ", ".join(part for part in (settings_text(cell.settings), names.label(cell.gateway)) if part)
    return TableCell(
        names.gateway(cell.gateway), label="Gateway", small=small, css="gateway", mark=mark, is_head=True
    )


def head_columns(names: Names) -> tuple[TableColumn, ...]:
    """Return the columns of a row's names."""
    return tuple(TableColumn(text, text) for text in ("Load", *names.headings_beside_load, "Gateway"))


def title(names: Names, cell: CellSummary) -> str:
    """Return the heading of the section that a cell stands in."""
    return names.section(cell)[:1].upper() + names.section(cell)[1:]
