"""The main tables: one for each kind of load and mode, chain × load × disk, every gateway, the baseline first.

Where the probe measured it, added time leads, with its own figures in the baseline's row; shift and response time are
column groups of their own, and the gateway's self-reported overhead stands as a third figure with its difference.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from weighbridge.matrix.loads import Load
from weighbridge.publish.text import numbers
from weighbridge.publish.text.load_wording import LOAD_WORDS, arrivals_sentences, by_arrivals, by_kind
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import (
    ADDED_BASELINE_TEXT,
    DISTANCE_TEXT,
    SELF_REPORTED_TEXT,
    goodput_text,
    reason_text,
)
from weighbridge.publish.views.cells import Notes, absent_cell, reliable
from weighbridge.publish.views.columns import (
    BOUND,
    RESPONSE_COLUMNS,
    SHIFT_COLUMNS,
    Show,
    cells_of,
    columns_of,
    groups_of,
    number_column,
    shown,
)
from weighbridge.publish.views.conditions import setting_text
from weighbridge.publish.views.headline import BY_MODE
from weighbridge.publish.views.labels import Names, is_baseline
from weighbridge.publish.views.rows import RowMaker, head_columns, sections
from weighbridge.publish.views.shared import (
    BASELINE_ABSENT,
    NO_REQUEST,
    errors_text,
    flag_marks,
    has_figures,
    loaded_warning,
    message,
)
from weighbridge.publish.views.views import Table, TableCell, TableColumn, TableGroup
from weighbridge.record.summary import CellSummary, Summary

_MODE_HEADINGS = {"plain": "non-streaming responses", "stream": "streams"}


@dataclass(frozen=True)
class _Layout:
    """Column groups of one table, and how far its campaign came."""

    groups: tuple[Show, ...]
    claims: bool
    status: str
    goodput: bool

    @property
    def width(self) -> int:
        """Columns of times."""
        return 3 * len(self.groups) + int(self.claims)


def load_tables(summary: Summary, names: Names, anchor: str) -> tuple[Table, ...]:
    """Return one table for each kind of load and each mode that the campaign has."""
    tables = []
    for kind, of_kind in by_kind(summary.cells).items():
        for mode in _MODE_HEADINGS:
            for number, cells in enumerate(by_arrivals([cell for cell in of_kind if cell.mode == mode])):
                more = f"-{number + 1}" if number else ""
                tables.append(_table(summary, names, cells, f"{anchor}-{kind}-{mode}{more}"))
    return tuple(tables)


def _layout(cells: list[CellSummary], summary: Summary) -> _Layout:
    added = shown(map(Show, BY_MODE[cells[0].mode]), cells)
    # The headline is set apart; with two added times the response time stands in the table of streams.
    lead = [replace(group, css=f"lead {group.css}".strip()) for group in (added or [SHIFT_COLUMNS])]
    groups = [*lead, *([SHIFT_COLUMNS] if added else []), *([RESPONSE_COLUMNS] if len(added) < 2 else [])]
    claims, goodput = bool(shown([_SELF_REPORTED], cells)), summary.provenance.goodput is not None
    return _Layout(tuple(groups), claims, summary.status, goodput)


def _table(summary: Summary, names: Names, cells: list[CellSummary], table_id: str) -> Table:
    notes = Notes(names.digits)
    kind, layout = cells[0].load.kind, _layout(cells, summary)
    maker = RowMaker(lambda cell: _cells(cell, layout, notes), lambda cell: _marks(cell, layout, notes))
    rows = sections(names, cells, maker)
    heads = head_columns(names)
    return Table(
        id=table_id,
        title=f"{LOAD_WORDS[kind].heading}: {_MODE_HEADINGS[cells[0].mode]}",
        caption=(
            " ".join(_caption(cells, layout)),
            *filter(None, (goodput_text(summary.provenance.goodput),)),
            setting_text(summary, names, cells),
        ),
        columns=(*heads, *_timing_columns(layout), *_rate_columns(cells[0].load, layout)),
        groups=(
            TableGroup("", len(heads)),
            *groups_of((*layout.groups, *((_SELF_REPORTED,) if layout.claims else ()))),
            TableGroup("Requests per second", 2 + int(layout.goodput)),
            TableGroup("", 3),
        ),
        sections=rows,
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        css="main",
    )


def _caption(cells: list[CellSummary], layout: _Layout) -> Iterator[str]:
    yield LOAD_WORDS[cells[0].load.kind].caption
    yield from arrivals_sentences([cell.load for cell in cells])
    yield DISTANCE_TEXT
    if layout.groups[0].key != "shift_ms":
        yield ADDED_BASELINE_TEXT
    if layout.claims:
        yield f"{SELF_REPORTED_TEXT} Below it stands by how much the measured added time exceeds it."


def _marks(cell: CellSummary, layout: _Layout, notes: Notes) -> str:
    """Return the marks of all remarks, and of why a cell that has figures is incomplete."""
    marks = flag_marks(cell, notes)
    if cell.verdict != "incomplete":
        return marks
    return f"{marks} {notes.mark(f'incomplete: {reason_text(cell, layout.status)}')}".strip()


def _cells(cell: CellSummary, layout: _Layout, notes: Notes) -> tuple[TableCell, ...]:
    runs = TableCell(
        f"{cell.runs_accepted} of {cell.runs_attempted}", label="Runs accepted", small=_distance(cell), css="n"
    )
    if has_figures(cell):
        timings = [made for group in layout.groups for made in _timings(cell, group, notes)]
        claim = (self_reported_cell(cell, notes),) if layout.claims else ()
        return (*timings, *claim, *_rates(cell, layout, notes), runs, _errors(cell, notes))
    if cell.verdict == "saturated":
        said = _message_cell(cell, layout, layout.width, notes)
        return (said, *_rates(cell, layout, notes), runs, _errors(cell, notes))
    return (_message_cell(cell, layout, layout.width + 3 + int(layout.goodput), notes), runs, _errors(cell, notes))


def _errors(cell: CellSummary, notes: Notes) -> TableCell:
    if not cell.runs_attempted:
        return absent_cell(NO_REQUEST, notes, label="Errors")
    return TableCell(errors_text(cell), label="Errors", css="n")


def _distance(cell: CellSummary) -> str:
    """Return how far in time the baseline's nearest run lay: `direct 4 min away`; empty where it was not measured."""
    away_s = cell.known("baseline_distance_s")
    return "" if away_s is None else f"direct {numbers.rough_duration(away_s)} away"


def _timings(cell: CellSummary, group: Show, notes: Notes) -> tuple[TableCell, ...]:
    if is_baseline(cell) and group.key == "shift_ms":
        return (TableCell("baseline", label=group.heading, css="message start", span=3, fill=(numbers.ABSENT,) * 2),)
    cells = cells_of(cell, (group,), notes)
    starts = ("start", *("",) * (len(cells) - 1))
    return tuple(
        replace(made, css=" ".join(filter(None, (made.css, group.css, start))))
        for made, start in zip(cells, starts, strict=True)
    )


def self_reported_cell(cell: CellSummary, notes: Notes) -> TableCell:
    """Return the gateway's self-reported overhead, with what was measured above it in the second line."""
    if is_baseline(cell):
        return absent_cell(BASELINE_ABSENT, notes, label="Self-reported p50")
    made = cells_of(cell, (_SELF_REPORTED,), notes)[0]
    over = reliable(cell.timing("self_reported_difference_ms"), "p50")
    if over is None or not cell.has("self_reported_ms"):
        return made
    sign = "+" if over > 0 else ""
    return replace(made, small=f"added {sign}{notes.digits.ms(over)}", css=f"{made.css} claim")


def _message_cell(cell: CellSummary, layout: _Layout, span: int, notes: Notes) -> TableCell:
    reason = plain(reason_text(cell, layout.status), limit=300)
    fill = (numbers.ABSENT,) * (span - 1)
    if cell.verdict == "rig_limited":
        mark = notes.mark(f"limit of the rig, not of the gateway{': ' + reason if reason else ''}")
        return TableCell(message(cell), label="Outcome", css="message", span=span, mark=mark, fill=fill)
    return TableCell(
        message(cell), label="Outcome", small=reason, css=f"message {cell.verdict}", span=span, fill=fill
    )


def _rates(cell: CellSummary, layout: _Layout, notes: Notes) -> tuple[TableCell, ...]:
    achieved = cells_of(cell, (_ACHIEVED,), notes)
    goodput = cells_of(cell, (_GOODPUT,), notes) if layout.goodput else ()
    most = cell.count("in_flight_max_count")
    in_flight = numbers.ABSENT if most is None else numbers.count(most)
    flight = TableCell(
        f"{in_flight} of {numbers.count(cell.load.connections)}", label="Max in flight / limit", css="n"
    )
    if cell.load.has_schedule:
        offered = numbers.ABSENT if cell.offered_rps is None else numbers.short(cell.offered_rps)
        return (TableCell(offered, label="Offered/s", css="n"), *achieved, *goodput, flight)
    return (*achieved, *cells_of(cell, (BOUND,), notes), *goodput, flight)


def _timing_columns(layout: _Layout) -> Iterator[TableColumn]:
    for group in layout.groups:
        first, *rest = columns_of((group,))
        yield replace(first, css=f"{first.css} start")
        yield from rest
    if layout.claims:
        yield from columns_of((_SELF_REPORTED,))


def _rate_columns(load: Load, layout: _Layout) -> tuple[TableColumn, ...]:
    offered = number_column("offered", "Offered/s")
    pair = (offered, *columns_of((_ACHIEVED,))) if load.has_schedule else columns_of((_ACHIEVED, BOUND))
    return (
        *pair,
        *(columns_of((_GOODPUT,)) if layout.goodput else ()),
        number_column("max in flight / limit", "Max in flight / limit"),
        number_column("runs accepted", "Runs accepted"),
        number_column("errors", "Errors"),
    )


_SELF_REPORTED = Show("self_reported_ms", percentiles=("p50",))
_GOODPUT = Show("goodput_rps", title="Goodput/s")
_ACHIEVED = Show("achieved_rps", title="Achieved/s")
