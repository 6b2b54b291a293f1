"""The table of cells for a terminal: headline first, at most 130 columns where names are ordinary.

Columns are as narrow as what stands in them: tabulate pads headings, so this sets its own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from weighbridge.matrix.loads import Load
from weighbridge.publish.text import numbers
from weighbridge.publish.text.load_wording import LOAD_WORDS
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.views.columns import BUSY, Show, shown, terminal_head, terminal_text
from weighbridge.publish.views.conditions import cores_text, drivers_text
from weighbridge.publish.views.headline import BY_MODE, measures_added
from weighbridge.publish.views.labels import Names, settings_text
from weighbridge.publish.views.rows import grouped, ordered, title
from weighbridge.publish.views.shared import has_figures, loaded_warning, message
from weighbridge.record.figures import PERCENTILES, Percentile
from weighbridge.record.summary import CellSummary, Summary

_GAP = "  "


@dataclass(frozen=True)
class _TerminalColumn:
    """A column: heading of two lines, text of a cell, and whether it stands at the right."""

    head: tuple[str, str]
    text: Callable[[CellSummary], str]
    is_number: bool = True


def cells_text(summary: Summary, names: Names, cells: Sequence[CellSummary]) -> str:
    """Return a table for each chain and mode of the cells of one kind of load."""
    load = cells[0].load
    how = LOAD_WORDS[load.kind].terminal
    warning = f". {loaded_warning(summary)}" if summary.loaded_machine else ""
    parts = []
    for group in grouped(names, cells):
        columns = _columns(names, group, load)
        rows = ordered(names, group)
        heading = f"{title(names, group[-1])}, {how}, ms\n{drivers_text(group)}\n{cores_text(summary)}{warning}"
        parts.append(f"{heading}\n\n{_set(columns, rows)}")
    return "\n\n".join(parts)


def label(names: Names, cell: CellSummary) -> str:
    """Return the label of a mock behind its name."""
    reported = names.label(cell.gateway)
    return f" ({reported})" if reported else ""


def _columns(names: Names, group: Sequence[CellSummary], load: Load) -> list[_TerminalColumn]:
    disk = [_TerminalColumn(("", "disk"), lambda cell: plain(cell.disk, limit=40), is_number=False)]
    return [
        _TerminalColumn(("", "gateway"), lambda cell: _gateway(names, cell), is_number=False),
        *(disk if names.varies_disk else []),
        *_load_columns(load),
        *_times(group),
        *(_figure(one) for one in shown([Show("cpu_ms_per_request"), BUSY], group)),
        _TerminalColumn(("", "runs"), lambda cell: f"{cell.runs_accepted}/{cell.runs_attempted}"),
        _TerminalColumn(("", "outcome"), _outcome, is_number=False),
    ]


def _times(group: Sequence[CellSummary]) -> Iterator[_TerminalColumn]:
    """Yield the columns of times: added time first where it was measured."""
    shift, response = Show("shift_ms"), Show("response_ms")
    pair: tuple[Percentile, ...] = ("p50", "p95")
    if not measures_added(group):
        wanted = [(one, PERCENTILES) for one in (shift, response)]
    elif group[-1].mode == "plain":
        wanted = [(one, pair) for one in (Show("added_ms"), shift, response)]
    else:
        first, end = map(Show, BY_MODE["stream"])
        wanted = [(first, pair), (end, pair), (shift, pair[:1]), (response, pair[:1])]
    yield from (_figure(one, name) for one, names in wanted for name in names)


def _figure(one: Show, name: Percentile | None = None) -> _TerminalColumn:
    # Percentiles of a cell without figures say nothing of its gateway.
    def text(cell: CellSummary) -> str:
        return numbers.ABSENT if name and not has_figures(cell) else terminal_text(cell, one, name)

    return _TerminalColumn(terminal_head(one, name), text)


def _load_columns(load: Load) -> tuple[_TerminalColumn, ...]:
    words = LOAD_WORDS[load.kind]
    own = _TerminalColumn(words.head, lambda cell: words.size(cell.load))
    bound = () if load.has_schedule else (_figure(Show("littles_rps")),)
    return (own, _figure(Show("achieved_rps")), *bound)


def _gateway(names: Names, cell: CellSummary) -> str:
    settings = f" [{settings_text(cell.settings)}]" if cell.settings else ""
    return f"{plain(cell.gateway, limit=40)}{settings}{label(names, cell)}"


def _outcome(cell: CellSummary) -> str:
    return cell.verdict if has_figures(cell) else message(cell).replace(" per second", "/s")


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
