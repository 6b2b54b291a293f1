"""The table of cells for a terminal: headline first, at most 130 columns where names are ordinary.

Called by `terminal`. Columns are as narrow as what stands in them: tabulate pads headings, so this sets its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weighbridge.publish import numbers
from weighbridge.publish.cells_table import has_figures, loaded_warning, message
from weighbridge.publish.clean import plain
from weighbridge.publish.figures import percentile
from weighbridge.publish.headline import RESPONSE, SHIFT, measures_added
from weighbridge.publish.layout import grouped, ordered, title
from weighbridge.publish.load_words import LOAD_WORDS
from weighbridge.publish.names import Names, settings_text
from weighbridge.publish.setting import cores_text, drivers_text
from weighbridge.publish.words import PERCENTILE_WORDS
from weighbridge.record.figures import Absent, Figure, Timing, TimingOrAbsent
from weighbridge.record.summary import CellSummary, Summary

GREY = "?"
_GAP = "  "


@dataclass(frozen=True)
class _Column:
    """A column: heading of two lines, text of a cell, and whether it stands at the right."""

    head: tuple[str, str]
    text: Callable[[CellSummary], str]
    is_number: bool = True


def cells_text(summary: Summary, names: Names, cells: Sequence[CellSummary]) -> str:
    """A table for each chain and mode of the cells of one kind of load."""
    load = cells[0].load
    how = LOAD_WORDS[load.kind].terminal
    warning = f". {loaded_warning(summary)}" if summary.loaded_machine else ""
    parts = []
    for group in grouped(names, cells):
        columns = _columns(names, group, rate=load.has_schedule)
        rows = ordered(names, group)
        heading = f"{title(names, group[-1])}, {how}, ms\n{drivers_text(group)}\n{cores_text(summary)}{warning}"
        parts.append(f"{heading}\n\n{_set(columns, rows)}")
    return "\n\n".join(parts)


def label(names: Names, cell: CellSummary) -> str:
    """The label of a mock behind its name."""
    told = names.label(cell.gateway)
    return f" ({told})" if told else ""


def _columns(names: Names, group: Sequence[CellSummary], *, rate: bool) -> list[_Column]:
    disk = [_Column(("", "disk"), lambda cell: plain(cell.disk, limit=40), is_number=False)]
    return [
        _Column(("", "gateway"), lambda cell: _gateway(names, cell), is_number=False),
        *(disk if names.varies_disk else []),
        *(_rate_columns() if rate else _client_columns()),
        *(_times(head, get, name) for head, get, name in _timings(group)),
        *([_Column(("CPU", "ms"), _cpu)] if any(isinstance(c.cpu_ms_per_request, Figure) for c in group) else []),
        _Column(("", "runs"), lambda cell: f"{cell.runs_accepted}/{cell.runs_attempted}"),
        _Column(("", "outcome"), _outcome, is_number=False),
    ]


_Get = Callable[[CellSummary], TimingOrAbsent]


def _timings(group: Sequence[CellSummary]) -> list[tuple[str, _Get, str]]:
    """Heading, figure and percentile of each column of times: added time first where it was measured."""
    if not measures_added(group):
        every = (("shift", SHIFT.get), ("resp.", RESPONSE.get))
        return [(head, get, name) for head, get in every for name in PERCENTILE_WORDS]
    if group[-1].mode == "plain":
        some: list[tuple[str, _Get]] = [
            ("added", lambda c: c.added_ms),
            ("shift", SHIFT.get),
            ("resp.", RESPONSE.get),
        ]
        return [(head, get, name) for head, get in some for name in ("p50", "p95")]
    first: list[tuple[str, _Get]] = [("first", lambda c: c.added_first_ms), ("end", lambda c: c.added_total_ms)]
    added = [(f"+{head}", get, name) for head, get in first for name in ("p50", "p95")]
    return [*added, ("shift", SHIFT.get, "p50"), ("resp.", RESPONSE.get, "p50")]


def _times(head: str, get: _Get, name: str) -> _Column:
    return _Column((head, name), lambda cell: _percentile(get(cell), name) if has_figures(cell) else numbers.ABSENT)


def _percentile(timing: TimingOrAbsent, name: str) -> str:
    value = percentile(timing, name) if isinstance(timing, Timing) else None
    if value is None or not isinstance(timing, Timing):
        return numbers.ABSENT
    return numbers.ms(value) + (GREY if name in timing.few_samples else "")


def _rate_columns() -> tuple[_Column, ...]:
    return (
        _Column(("offered", "/s"), lambda cell: numbers.short(cell.load.size)),
        _Column(("achieved", "/s"), _achieved),
    )


def _client_columns() -> tuple[_Column, ...]:
    return (
        _Column(("", "clients"), lambda cell: numbers.count(cell.load.concurrency)),
        _Column(("achieved", "/s"), _achieved),
        _Column(
            ("N ÷ mean", "/s"), lambda c: numbers.ABSENT if c.littles_rps is None else numbers.rps(c.littles_rps)
        ),
    )


def _achieved(cell: CellSummary) -> str:
    return numbers.ABSENT if isinstance(cell.achieved_rps, Absent) else numbers.rps(cell.achieved_rps.value)


def _cpu(cell: CellSummary) -> str:
    found = cell.cpu_ms_per_request
    return numbers.ABSENT if isinstance(found, Absent) else numbers.per_request(found.value)


def _gateway(names: Names, cell: CellSummary) -> str:
    settings = f" [{settings_text(cell.settings)}]" if cell.settings else ""
    return f"{plain(cell.gateway, limit=40)}{settings}{label(names, cell)}"


def _outcome(cell: CellSummary) -> str:
    return cell.verdict if has_figures(cell) else message(cell).replace(" per second", "/s")


def _set(columns: Sequence[_Column], cells: Sequence[CellSummary]) -> str:
    texts = [[column.text(cell) for cell in cells] for column in columns]
    widths = [
        max(map(len, (*column.head, *text))) for column, text in zip(columns, texts, strict=True)
    ]  # fmt: skip
    heads = [[column.head[line] for column in columns] for line in (0, 1)]
    rows = [*heads, ["-" * width for width in widths], *map(list, zip(*texts, strict=True))]
    return "\n".join(_line(columns, widths, row) for row in rows)


def _line(columns: Sequence[_Column], widths: Sequence[int], row: Sequence[str]) -> str:
    parts = [
        text.rjust(width) if column.is_number else text.ljust(width)
        for column, width, text in zip(columns, widths, row, strict=True)
    ]
    return _GAP.join(parts).rstrip()
