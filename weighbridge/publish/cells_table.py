"""The main tables: chain × mode × load × disk with shift, response time and rate of every gateway, floor first.

Shift and response time are column groups of their own; added time gets its own groups where a driver gave it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from weighbridge.judge.flags import FLAGS
from weighbridge.publish import numbers
from weighbridge.publish.clean import Code, plain
from weighbridge.publish.figures import Notes, number_cell, rate_cell, timing_cells
from weighbridge.publish.layout import RowMaker, head_columns, sections
from weighbridge.publish.model import Cell, Column, Group, Table
from weighbridge.publish.names import Names, answer_text, is_floor, load_text
from weighbridge.publish.words import BOUND_TEXT, PERCENTILE_WORDS, VERDICTS, spoken
from weighbridge.record.figures import Timing, TimingOrAbsent
from weighbridge.record.summary import CellSummary, Summary

# Remarks that the page makes in another place: rank beside the figure, warning above every table.
_SAID_ELSEWHERE = frozenset({"few_samples", "loaded_machine"})

_KINDS = {"rate": "At a rate", "clients": "With clients that wait for their answer"}
_KIND_TEXTS = {
    "rate": "Open loop: requests arrive at a fixed rate whether or not earlier ones are answered. "
    "Response time counts from the intended start.",
    "clients": f"Closed loop: each client sends its next request when it has its answer. {BOUND_TEXT}",
}


@dataclass(frozen=True)
class TimingGroup:
    """Three columns of one kind of time."""

    title: str
    get: Callable[[CellSummary], TimingOrAbsent]
    css: str = ""


_SHIFT = TimingGroup("Shift", lambda cell: cell.shift_ms, "shift")
_RESPONSE = TimingGroup("Response time", lambda cell: cell.response_ms)
_ADDED = (
    TimingGroup("Added time", lambda cell: cell.added_ms, "added"),
    TimingGroup("Added, first content", lambda cell: cell.added_first_ms, "added"),
    TimingGroup("Added, end", lambda cell: cell.added_total_ms, "added"),
)


def load_tables(summary: Summary, names: Names, anchor: str) -> tuple[Table, ...]:
    """One table for each kind of load that the campaign has."""
    tables = []
    for kind in ("rate", "clients"):
        cells = [cell for cell in summary.cells if cell.load.kind == kind]
        if cells:
            tables.append(_table(summary, names, cells, f"{anchor}-{kind}"))
    return tuple(tables)


def _table(summary: Summary, names: Names, cells: list[CellSummary], table_id: str) -> Table:
    notes = Notes()
    kind = cells[0].load.kind
    groups = (*(g for g in _ADDED if any(isinstance(g.get(c), Timing) for c in cells)), _SHIFT, _RESPONSE)
    maker = RowMaker(lambda cell: _cells(cell, groups, notes), lambda cell: flag_marks(cell, notes))
    rows = sections(names, cells, maker)
    heads = head_columns(names)
    return Table(
        id=table_id,
        title=_KINDS[kind],
        caption=(_KIND_TEXTS[kind], setting_text(summary, names, cells)),
        columns=(*heads, *_timing_columns(groups), *_rate_columns(kind)),
        groups=(
            Group("", len(heads)),
            *(Group(f"{group.title}, ms", 3, group.css) for group in groups),
            Group("Requests per second", 2),
            Group("", 2),
        ),
        sections=rows,
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        css="main",
    )


def setting_text(summary: Summary, names: Names, cells: list[CellSummary]) -> str:
    """Provider delay, connections, cores and runs behind a table, for its heading."""
    used = dict.fromkeys((cell.answer, cell.mode) for cell in sorted(cells, key=names.order))
    provider = []
    for answer, mode in used:
        if answer in names.answers:
            name = f" {plain(answer, limit=40)}" if names.varies_answer else ""
            provider.append(f"{answer_text(names.answers[answer], mode)} ({mode}{name})")
    cores = numbers.plural(summary.host.cpu_count, "logical CPU")
    runs = numbers.plural(summary.provenance.runs, "accepted run")
    many = summary.provenance.runs > 1
    middle = f"each value is the median of {runs}" if many else "each value is that of one run"
    return (
        f"The mock provider {' and '.join(provider) or 'answers by its own schedule'}. "
        f"{_connections_text(cells)}. {cores} shared by gateway, mocks and load generator; {middle}."
    )


def _connections_text(cells: list[CellSummary]) -> str:
    caps = sorted({cell.load.connections for cell in cells})
    if len(caps) == 1:
        return f"Connections: at most {numbers.count(caps[0])}"
    by_load: dict[str, set[int]] = {}
    for cell in sorted(cells, key=lambda cell: cell.load.rate_rps or cell.load.clients or 0):
        by_load.setdefault(load_text(cell.load), set()).add(cell.load.connections)
    parts = [f"{' or '.join(map(numbers.count, sorted(caps)))} at {load}" for load, caps in by_load.items()]
    return f"Connections: at most {numbers.listed(parts)}"


def loaded_warning(summary: Summary) -> str:
    """Words that stand on every page, table and chart when other work loaded the machine; else empty."""
    return "Other work loaded the machine during accepted runs" if summary.loaded_machine else ""


def loaded_detail(summary: Summary) -> str:
    """The same with what was seen of it, for the head of a page."""
    seen = plain(summary.loaded_text or "", limit=300).rstrip(".")
    return f"{loaded_warning(summary)}: {seen}" if summary.loaded_machine and seen else loaded_warning(summary)


def flag_marks(cell: CellSummary, notes: Notes) -> str:
    """Footnote marks of a cell's remarks."""
    shown = [flag for flag in cell.flags if flag not in _SAID_ELSEWHERE]
    marks = [notes.mark(spoken(flag, FLAGS)) for flag in shown]
    if cell.verdict == "incomplete" and cell.reason:
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


def _cells(cell: CellSummary, groups: tuple[TimingGroup, ...], notes: Notes) -> tuple[Cell, ...]:
    runs = Cell(f"{cell.runs_accepted} of {cell.runs_attempted}", label="Runs accepted", css="n")
    width = 3 * len(groups)
    if has_figures(cell):
        timings = [made for group in groups for made in _timings(cell, group, notes)]
        return (*timings, *_rates(cell, notes), runs)
    if cell.verdict == "saturated":
        return (_said(cell, width, notes), *_rates(cell, notes), runs)
    return (_said(cell, width + 3, notes), runs)


def _timings(cell: CellSummary, group: TimingGroup, notes: Notes) -> tuple[Cell, ...]:
    if is_floor(cell) and group is not _RESPONSE:
        return (Cell("floor", label=group.title, css="said", span=3, fill=(numbers.ABSENT,) * 2),)
    cells = timing_cells(group.get(cell), notes, group.title)
    return tuple(replace(made, css=f"{made.css} {group.css}".strip()) for made in cells)


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
    if cell.load.kind == "rate":
        offered = numbers.ABSENT if cell.offered_rps is None else numbers.short(cell.offered_rps)
        return (Cell(offered, label="Offered/s", css="n"), achieved, flight)
    bound = number_cell(cell.littles_rps, "N ÷ mean", notes, _no_bound(cell))
    return (achieved, bound, flight)


def _no_bound(cell: CellSummary) -> str:
    return "told for more than one client" if cell.load.clients == 1 else "no mean service time"


def _timing_columns(groups: tuple[TimingGroup, ...]) -> tuple[Column, ...]:
    return tuple(
        number_column(name, f"{group.title} {name}, ms", group.css) for group in groups for name in PERCENTILE_WORDS
    )


def _rate_columns(kind: str) -> tuple[Column, ...]:
    pair = (
        (number_column("offered", "Offered/s"), number_column("achieved", "Achieved/s"))
        if kind == "rate"
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
