"""The tables of cells for a terminal: headline first, at most 130 columns where names are ordinary.

Each section has two: what it costs and what became of it, then what the client saw beside it and what the gateway
used. Columns are as narrow as what stands in them: tabulate pads headings, so this sets its own.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from weighbridge.publish.text import numbers
from weighbridge.publish.text.load_wording import LOAD_WORDS
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.views.cells import Notes, terminal_absent, terminal_mean, terminal_number
from weighbridge.publish.views.columns import (
    BOUND,
    BUSY,
    RESPONSE_COLUMNS,
    SHIFT_COLUMNS,
    Show,
    shown,
    terminal_head,
    terminal_text,
)
from weighbridge.publish.views.conditions import cores_text, drivers_text
from weighbridge.publish.views.headline import BY_MODE, measures_added
from weighbridge.publish.views.labels import Names, settings_text
from weighbridge.publish.views.rows import grouped, ordered, title
from weighbridge.publish.views.shared import NO_REQUEST, errors_text, has_figures, loaded_warning, message
from weighbridge.record.figures import PERCENTILES, Absent, Percentile, Timing
from weighbridge.record.summary import CellSummary, Summary

_GAP = "  "
_NOTE_WIDTH = 116
_NO_FIGURES = "no figures of this gateway: the outcome says why"
# What of a response was the generator's own waiting: shown of a load with a schedule.
_OF_GENERATOR = (Show("service_ms"), Show("release_lateness_ms"))
_P50: tuple[Percentile, ...] = ("p50",)


@dataclass(frozen=True)
class _TerminalColumn:
    """A column: heading of two lines, text of a cell, and whether it stands at the right."""

    head: tuple[str, str]
    text: Callable[[CellSummary], str]
    is_number: bool = True


def cells_text(summary: Summary, names: Names, cells: Sequence[CellSummary]) -> str:
    """Return the tables of each chain and mode of the cells of one kind of load."""
    how = LOAD_WORDS[cells[0].load.kind].terminal
    warning = f". {loaded_warning(summary)}" if summary.loaded_machine else ""
    parts = []
    for group in grouped(names, cells, names.section_order):
        notes, rows = Notes(names.digits), ordered(names, group)
        heading = f"{title(names, group[-1])}, {how}, ms\n{drivers_text(group)}\n{cores_text(summary)}{warning}"
        heads = _heads(names, group)
        first = _set([*heads, *_leading(group, notes), *_outcome_columns(notes)], rows)
        goodput = [_number(Show("goodput_rps"), notes)] if summary.provenance.goodput is not None else []
        second = _set([*heads, *_beside(group, notes), *goodput], rows)
        parts.append("\n\n".join(part for part in (heading, first, second, _notes_text(notes)) if part))
    return "\n\n".join(parts)


def label(names: Names, cell: CellSummary) -> str:
    """Return the label of a mock behind its name."""
    reported = names.label(cell.gateway)
    return f" ({reported})" if reported else ""


def _heads(names: Names, group: Sequence[CellSummary]) -> list[_TerminalColumn]:
    words = LOAD_WORDS[group[0].load.kind]
    beside = [_beside_load(names, place, heading) for place, heading in enumerate(names.headings_beside_load)]
    return [
        _TerminalColumn(("", "gateway"), lambda cell: _gateway(names, cell), is_number=False),
        *beside,
        _TerminalColumn(words.head, lambda cell: words.size(cell.load)),
    ]


def _beside_load(names: Names, place: int, heading: str) -> _TerminalColumn:
    return _TerminalColumn(("", heading.lower()), lambda cell: names.beside_load(cell)[place][1], is_number=False)


def _leading(group: Sequence[CellSummary], notes: Notes) -> Iterator[_TerminalColumn]:
    """Yield the columns of the times that lead, with p99 and mean: a mean far above its p50 is the sign of a tail."""
    if measures_added(group):
        for one in map(Show, BY_MODE[group[-1].mode]):
            yield from _times(one, PERCENTILES, notes)
            yield _mean(one, notes)
    else:
        yield from _times(SHIFT_COLUMNS, PERCENTILES, notes)
        yield from _times(RESPONSE_COLUMNS, PERCENTILES, notes)
        yield _mean(RESPONSE_COLUMNS, notes)


def _beside(group: Sequence[CellSummary], notes: Notes) -> Iterator[_TerminalColumn]:
    """Yield the columns of the second table: rate, shift and response where they do not lead, and CPU."""
    load = group[0].load
    yield _number(Show("achieved_rps"), notes)
    if not load.has_schedule:
        yield _number(BOUND, notes)
    if measures_added(group):
        yield from _times(SHIFT_COLUMNS, PERCENTILES, notes)
        yield from _times(RESPONSE_COLUMNS, PERCENTILES, notes)
    if load.has_schedule:
        for one in shown(_OF_GENERATOR, group):
            yield from _times(one, _P50, notes)
    yield from (_number(one, notes) for one in shown([Show("cpu_ms_per_request"), BUSY], group))


def _outcome_columns(notes: Notes) -> tuple[_TerminalColumn, ...]:
    return (
        _TerminalColumn(("", "runs"), lambda cell: f"{cell.runs_accepted}/{cell.runs_attempted}"),
        _TerminalColumn(("", "errors"), lambda cell: _errors(cell, notes)),
        _TerminalColumn(("", "outcome"), _outcome, is_number=False),
    )


def _times(one: Show, names: Iterable[Percentile], notes: Notes) -> Iterator[_TerminalColumn]:
    yield from (_percentile(one, name, notes) for name in names)


def _percentile(one: Show, name: Percentile, notes: Notes) -> _TerminalColumn:
    return _time(one, name, lambda timing: terminal_number(timing, name, notes), notes)


def _mean(one: Show, notes: Notes) -> _TerminalColumn:
    return _time(one, "mean", lambda timing: terminal_mean(timing, notes), notes)


def _time(
    one: Show, head: str, write: Callable[[Timing | Absent], str], notes: Notes
) -> _TerminalColumn:  # fmt: skip
    # Percentiles of a cell without figures say nothing of its gateway.
    def text(cell: CellSummary) -> str:
        found = one.of(cell)
        if not has_figures(cell) or not isinstance(found, Timing | Absent):
            return f"{numbers.ABSENT} {notes.mark(_NO_FIGURES)}"
        return write(found)

    return _TerminalColumn(terminal_head(one, head), text)


def _number(one: Show, notes: Notes) -> _TerminalColumn:
    return _TerminalColumn(terminal_head(one), lambda cell: terminal_text(cell, one, notes))


def _gateway(names: Names, cell: CellSummary) -> str:
    settings = f" [{settings_text(cell.settings)}]" if cell.settings else ""
    return f"{plain(cell.gateway, limit=40)}{settings}{label(names, cell)}"


def _errors(cell: CellSummary, notes: Notes) -> str:
    """Return how many requests failed, in a word where a sentence says it."""
    if not cell.runs_attempted:
        return terminal_absent(NO_REQUEST, notes)
    text = errors_text(cell)
    return f"none {notes.mark(text)}" if text.startswith("none") else text


def _outcome(cell: CellSummary) -> str:
    text = cell.verdict if has_figures(cell) else message(cell).replace(" per second", "/s")
    return f"{text}, retried" if "retried" in cell.flags else text


def _notes_text(notes: Notes) -> str:
    return "\n".join(
        textwrap.fill(f"{note.mark}  {plain(note.text)}", _NOTE_WIDTH, subsequent_indent="   ")
        for note in notes.footnotes()
    )


def _set(columns: Sequence[_TerminalColumn], cells: Sequence[CellSummary]) -> str:
    texts = [[column.text(cell) for cell in cells] for column in columns]
    widths = [
        max(map(len, (*column.head, *text))) for column, text in zip(columns, texts, strict=True)
    ]  # fmt: skip
    heads = [[column.head[line] for column in columns] for line in (0, 1)]
    rows = [*heads, ["-" * width for width in widths], *map(list, zip(*texts, strict=True))]
    return "\n".join(_line(columns, widths, row) for row in rows)


def _line(columns: Sequence[_TerminalColumn], widths: Sequence[int], row: Sequence[str]) -> str:
    parts = [
        text.rjust(width) if column.is_number else text.ljust(width)
        for column, width, text in zip(columns, widths, row, strict=True)
    ]
    return _GAP.join(parts).rstrip()
