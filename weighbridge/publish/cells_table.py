"""The main tables: one for each kind of load and mode, chain × load × disk, every gateway, the floor first.

Where the probe measured it, added time leads, with its own figures in the floor's row; shift and response time are
column groups of their own, and the gateway's own claim stands as a third figure with its difference.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from weighbridge.judge.flags import FLAGS
from weighbridge.matrix.loads import Load
from weighbridge.publish import numbers
from weighbridge.publish.clean import Code, plain
from weighbridge.publish.figures import Notes, absent_cell, number_cell, percentile, rate_cell, timing_cells
from weighbridge.publish.headline import BY_MODE, RESPONSE, SHIFT, TimingGroup
from weighbridge.publish.layout import RowMaker, head_columns, sections
from weighbridge.publish.load_words import LOAD_WORDS, by_kind
from weighbridge.publish.model import Cell, Column, Group, Table
from weighbridge.publish.names import Names, is_floor
from weighbridge.publish.setting import setting_text
from weighbridge.publish.words import ADDED_FLOOR_TEXT, CLAIM_TEXT, PERCENTILE_WORDS, VERDICTS, spoken
from weighbridge.record.figures import Absent, Timing
from weighbridge.record.summary import CellSummary, Summary

# Remarks that the page makes in another place: rank beside the figure, warning above every table.
_SAID_ELSEWHERE = frozenset({"few_samples", "loaded_machine"})

_MODES = {"plain": "plain answers", "stream": "streams"}


@dataclass(frozen=True)
class _Layout:
    """Column groups of one table."""

    groups: tuple[TimingGroup, ...]
    claims: bool

    @property
    def width(self) -> int:
        """Columns of times."""
        return 3 * len(self.groups) + int(self.claims)


def load_tables(summary: Summary, names: Names, anchor: str) -> tuple[Table, ...]:
    """One table for each kind of load and each mode that the campaign has."""
    tables = []
    for kind, of_kind in by_kind(summary.cells).items():
        for mode in _MODES:
            cells = [cell for cell in of_kind if cell.mode == mode]
            if cells:
                tables.append(_table(summary, names, cells, f"{anchor}-{kind}-{mode}"))
    return tuple(tables)


def _layout(cells: list[CellSummary]) -> _Layout:
    added = [g for g in BY_MODE[cells[0].mode] if any(isinstance(g.get(cell), Timing) for cell in cells)]
    # The headline is set apart; with two added times the response time stands in the table of streams.
    lead = [replace(group, css="lead") for group in (added or [SHIFT])]
    groups = [*lead, *([SHIFT] if added else []), *([RESPONSE] if len(added) < 2 else [])]
    return _Layout(tuple(groups), any(isinstance(cell.claimed_overhead_ms, Timing) for cell in cells))


def _table(summary: Summary, names: Names, cells: list[CellSummary], table_id: str) -> Table:
    notes = Notes()
    kind, layout = cells[0].load.kind, _layout(cells)
    maker = RowMaker(lambda cell: _cells(cell, layout, notes), lambda cell: flag_marks(cell, notes))
    rows = sections(names, cells, maker)
    heads = head_columns(names)
    return Table(
        id=table_id,
        title=f"{LOAD_WORDS[kind].heading}: {_MODES[cells[0].mode]}",
        caption=(
            " ".join(_caption(kind, layout)),
            setting_text(summary, names, cells),
        ),
        columns=(*heads, *_timing_columns(layout), *_rate_columns(cells[0].load)),
        groups=(
            Group("", len(heads)),
            *(Group(f"{group.title}, ms", 3, group.css) for group in layout.groups),
            *((Group("Own claim, ms", 1),) if layout.claims else ()),
            Group("Requests per second", 2),
            Group("", 2),
        ),
        sections=rows,
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        css="main",
    )


def _caption(kind: str, layout: _Layout) -> Iterator[str]:
    yield LOAD_WORDS[kind].caption
    if layout.groups[0].title != SHIFT.title:
        yield ADDED_FLOOR_TEXT
    if layout.claims:
        yield f"{CLAIM_TEXT} Below it stands by how much the measured added time exceeds it."


def loaded_warning(summary: Summary) -> str:
    """Words that stand on every page, table and chart when other work loaded the machine; else empty."""
    return "Other work loaded the machine during accepted runs" if summary.loaded_machine else ""


def loaded_detail(summary: Summary) -> str:
    """The same with what was seen of it, for the head of a page."""
    seen = plain(summary.loaded_text or "", limit=300).rstrip(".")
    return f"{loaded_warning(summary)}: {seen}" if summary.loaded_machine and seen else loaded_warning(summary)


def flag_marks(cell: CellSummary, notes: Notes, only: Collection[str] | None = None) -> str:
    """Footnote marks of a cell's remarks; `only` those that concern a side table, the main tables show all."""
    shown = [flag for flag in cell.flags if flag not in _SAID_ELSEWHERE and (only is None or flag in only)]
    marks = [notes.mark(spoken(flag, FLAGS)) for flag in shown]
    if only is None and cell.verdict == "incomplete" and cell.reason:
        marks.append(notes.mark(f"incomplete: {plain(cell.reason)}"))
    return " ".join(dict.fromkeys(marks))


def has_figures(cell: CellSummary) -> bool:
    """Whether the percentiles of a cell may be printed as figures of its gateway."""
    return cell.verdict in ("valid", "incomplete") and isinstance(cell.response_ms, Timing)


def message(cell: CellSummary) -> str:
    """Words that stand where a cell has no figures: `served 66 of 150 per second`, `not supported`."""
    if cell.verdict == "saturated":
        return plain(cell.served_text or VERDICTS["saturated"], limit=80)
    return VERDICTS[cell.verdict] if cell.verdict != "valid" else "no figure"


def _cells(cell: CellSummary, layout: _Layout, notes: Notes) -> tuple[Cell, ...]:
    runs = Cell(f"{cell.runs_accepted} of {cell.runs_attempted}", label="Runs accepted", css="n")
    if has_figures(cell):
        timings = [made for group in layout.groups for made in _timings(cell, group, notes)]
        claim = (claim_cell(cell, notes),) if layout.claims else ()
        return (*timings, *claim, *_rates(cell, notes), runs)
    if cell.verdict == "saturated":
        return (_said(cell, layout.width, notes), *_rates(cell, notes), runs)
    return (_said(cell, layout.width + 3, notes), runs)


def _timings(cell: CellSummary, group: TimingGroup, notes: Notes) -> tuple[Cell, ...]:
    if is_floor(cell) and group.title == SHIFT.title:
        return (Cell("floor", label=group.title, css="said start", span=3, fill=(numbers.ABSENT,) * 2),)
    cells = timing_cells(group.get(cell), notes, group.title)
    starts = ("start", *("",) * (len(cells) - 1))
    return tuple(
        replace(made, css=" ".join(filter(None, (made.css, group.css, start))))
        for made, start in zip(cells, starts, strict=True)
    )


def claim_cell(cell: CellSummary, notes: Notes) -> Cell:
    """The gateway's own claim, with what was measured above it in the second line."""
    if is_floor(cell):
        return absent_cell("is_floor", notes, label="Own claim p50")
    made = timing_cells(cell.claimed_overhead_ms, notes, "Own claim", ("p50",))[0]
    difference = cell.claimed_difference_ms
    if isinstance(difference, Absent) or isinstance(cell.claimed_overhead_ms, Absent):
        return made
    over = percentile(difference, "p50")
    if over is None:
        return made
    sign = "+" if over > 0 else ""
    return replace(made, small=f"added {sign}{numbers.ms(over)}", css=f"{made.css} claim")


def _said(cell: CellSummary, span: int, notes: Notes) -> Cell:
    # A saturated cell's reason begins with what stands in the cell already.
    reason = plain((cell.reason or "").removeprefix(cell.served_text or "").lstrip("; "), limit=300)
    fill = (numbers.ABSENT,) * (span - 1)
    if cell.verdict == "rig_limited":
        mark = notes.mark(f"limit of the rig, not of the gateway{': ' + reason if reason else ''}")
        return Cell(message(cell), label="Outcome", css="said", span=span, mark=mark, fill=fill)
    return Cell(message(cell), label="Outcome", small=reason, css=f"said {cell.verdict}", span=span, fill=fill)


def _rates(cell: CellSummary, notes: Notes) -> tuple[Cell, ...]:
    achieved = rate_cell(cell.achieved_rps, notes, "Achieved/s")
    in_flight = numbers.ABSENT if cell.in_flight_max_count is None else numbers.count(cell.in_flight_max_count)
    flight = Cell(f"{in_flight} of {numbers.count(cell.load.connections)}", label="In flight of cap", css="n")
    if cell.load.has_schedule:
        offered = numbers.ABSENT if cell.offered_rps is None else numbers.short(cell.offered_rps)
        return (Cell(offered, label="Offered/s", css="n"), achieved, flight)
    bound = number_cell(cell.littles_rps, "N ÷ mean", notes, _no_bound(cell))
    return (achieved, bound, flight)


def _no_bound(cell: CellSummary) -> str:
    return "told for more than one client" if cell.load.is_serial else "no mean service time"


def _timing_columns(layout: _Layout) -> tuple[Column, ...]:
    timings = [
        number_column(name, f"{group.title} {name}, ms", f"{group.css}{' start' if name == 'p50' else ''}".strip())
        for group in layout.groups
        for name in PERCENTILE_WORDS
    ]
    claim = [number_column("p50", "Own claim p50, ms")] if layout.claims else []
    return (*timings, *claim)


def _rate_columns(load: Load) -> tuple[Column, ...]:
    pair = (
        (number_column("offered", "Offered/s"), number_column("achieved", "Achieved/s"))
        if load.has_schedule
        else (number_column("achieved", "Achieved/s"), number_column("N ÷ mean", "N ÷ mean response time, per s"))
    )
    return (
        *pair,
        number_column("in flight of cap", "In flight of cap"),
        number_column("runs accepted", "Runs accepted"),
    )


def number_column(text: str, full: str, css: str = "") -> Column:
    """A column of numbers."""
    return Column(text, full, css=f"n {css}".strip(), is_number=True, rule=Code("---:"))
