"""The cost table: CPU per request (the second headline), memory, context switches, calls and flushes of each gateway.

Every figure stands beside its load, for a request costs more CPU at a low rate than at a high one. Columns that
nobody could fill are named in one sentence with their reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from weighbridge.publish import numbers
from weighbridge.publish.cells_table import flag_marks, loaded_warning, number_column
from weighbridge.publish.clean import plain
from weighbridge.publish.figures import Notes, absent_cell, has_spread
from weighbridge.publish.held import spread_text
from weighbridge.publish.layout import RowMaker, head_columns, sections
from weighbridge.publish.model import Cell, Group, Table
from weighbridge.publish.names import Names, holds_streams, is_floor
from weighbridge.publish.setting import heading
from weighbridge.publish.words import CPU_SOURCES, absence_text
from weighbridge.record.figures import Absent, Figure, FigureOrAbsent
from weighbridge.record.summary import CellSummary, Summary

_CPU_TEXT = (
    "CPU is that of the gateway's whole process tree for each request, less what it uses idle. Compare rows of one "
    "load only: a request costs more CPU at a low rate than at a high one, for cores sleep in between."
)
_DRAIN_TEXT = (
    "Throughput leaves the drain out: what a lane borrowed stands here as drain time and undelivered events at the "
    "end of the window."
)
_MEMORY_TEXT = (
    "RSS counts pages that processes share once for each of them, PSS shares them out. The peak is the sum of the "
    "processes' own peaks{since}."
)
_STREAM_TEXT = (
    "Memory per open stream is the slope of a line through the steps of held streams of each run: of PSS where the "
    "kernel tells it, else of RSS; beside it the 95 % interval over the blocks. Nothing is timed meanwhile."
)
_FLUSH_TEXT = "Flushes are those of the whole device under the state folder, whoever made them."


_FLAGS = frozenset({"backlog_growing", "memory_order", "retried"})


_EACH = "per request"


@dataclass(frozen=True)
class CostColumn:
    """A column of the cost table: group, heading, figure, and how its number is written."""

    group: str
    text: str
    get: Callable[[CellSummary], FigureOrAbsent]
    write: Callable[[float], str] = numbers.per_request
    small: Callable[[CellSummary], str] = lambda _: ""
    css: str = ""

    @property
    def name(self) -> str:
        """Name in a sentence."""
        return self.text if self.group in ("", _EACH) else f"{self.group} {self.text}"

    @property
    def full(self) -> str:
        """Heading where no group stands above it."""
        return self.text if self.group in ("", _EACH) else f"{self.group}, {self.text}"


def _undelivered(cell: CellSummary) -> str:
    if cell.undelivered_at_end_count is None:
        return ""
    return f"{numbers.count(cell.undelivered_at_end_count)} undelivered"


def _idle_flushes(cell: CellSummary) -> str:
    if isinstance(cell.flush_idle_rps, Absent):
        return ""
    return f"{numbers.per_request(cell.flush_idle_rps.value)}/s idle"


def _interval(cell: CellSummary) -> str:
    figure = cell.memory_per_stream_bytes
    return spread_text(figure) if isinstance(figure, Figure) else ""


_COLUMNS = (
    CostColumn(_EACH, "CPU, ms", lambda cell: cell.cpu_ms_per_request, css="lead"),
    CostColumn(_EACH, "context switches", lambda cell: cell.context_switches_per_request),
    CostColumn(_EACH, "control-plane calls", lambda cell: cell.control_plane_calls_per_request),
    CostColumn(_EACH, "provider calls", lambda cell: cell.upstream_calls_per_request),
    CostColumn(_EACH, "disk flushes", lambda cell: cell.flushes_per_request, small=_idle_flushes),
    CostColumn("RSS", "idle", lambda cell: cell.rss_idle_bytes, numbers.size),
    CostColumn("RSS", "peak", lambda cell: cell.rss_peak_bytes, numbers.size),
    CostColumn("RSS", "after", lambda cell: cell.rss_after_bytes, numbers.size),
    CostColumn("PSS", "idle", lambda cell: cell.pss_idle_bytes, numbers.size),
    CostColumn("PSS", "after", lambda cell: cell.pss_after_bytes, numbers.size),
    CostColumn("Memory", "per open stream", lambda cell: cell.memory_per_stream_bytes, numbers.size, small=_interval),
    CostColumn("", "event drain", lambda cell: cell.drain_s, numbers.duration, small=_undelivered),
)


def cost_table(summary: Summary, names: Names, anchor: str) -> Table:
    """CPU, memory, calls and flushes of each gateway at each load."""
    notes = Notes()
    cells = [cell for cell in summary.cells if not is_floor(cell) and (cell.runs_accepted or holds_streams(cell))]
    shown = [column for column in _COLUMNS if any(isinstance(column.get(cell), Figure) for cell in cells)]
    heads = head_columns(names)
    maker = RowMaker(
        lambda cell: tuple(_cell(cell, column, notes) for column in shown),
        lambda cell: flag_marks(cell, notes, _FLAGS),
    )
    return Table(
        id=f"{anchor}-cost",
        title="CPU, memory and calls",
        caption=(*_texts(shown, cells), *_missing_text(shown, cells), heading(summary)),
        columns=(*heads, *(number_column(column.text, _capital(column.full), column.css) for column in shown)),
        groups=(Group("", len(heads)), *_groups(shown)),
        sections=sections(names, cells, maker, floors=False) if shown else (),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="Nothing beside the time was measured.",
    )


def _texts(shown: Sequence[CostColumn], cells: Sequence[CellSummary]) -> tuple[str, ...]:
    """What the columns that are there mean, and what counted them."""
    groups = {column.group for column in shown}
    names = {column.text for column in shown}
    found = []
    if "CPU, ms" in names:
        found.append(f"{_CPU_TEXT} {_source_text(cells)}".strip())
    if groups & {"RSS", "PSS"}:
        whole_life = any("lifetime" in cell.rss_peak_from for cell in cells)
        found.append(_MEMORY_TEXT.format(since=", since their start" if whole_life else ", in the window"))
    if "Memory" in groups:
        found.append(_STREAM_TEXT)
    tail = [text for name, text in (("disk flushes", _FLUSH_TEXT), ("event drain", _DRAIN_TEXT)) if name in names]
    return (*found, *((" ".join(tail),) if tail else ()))


def _source_text(cells: Sequence[CellSummary]) -> str:
    sources = dict.fromkeys(source for cell in cells for source in cell.cpu_from)
    told = [CPU_SOURCES.get(source, plain(source)) for source in sources]
    return f"Counted {' or '.join(told)}." if told else ""


def _missing_text(shown: Sequence[CostColumn], cells: Sequence[CellSummary]) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for column in _COLUMNS:
        if column not in shown:
            reasons = {absence_text(figure) for cell in cells if isinstance(figure := column.get(cell), Absent)}
            text = " or ".join(sorted(reasons)) or "no accepted run"
            by_reason.setdefault(text, []).append(column.name)
    parts = [f"{numbers.listed(names)} ({reason})" for reason, names in by_reason.items()]
    return (f"Absent everywhere: {'; '.join(parts)}.",) if parts else ()


def _groups(shown: Sequence[CostColumn]) -> tuple[Group, ...]:
    spans = {column.group: 0 for column in shown}
    for column in shown:
        spans[column.group] += 1
    return tuple(Group(_capital(group), span) for group, span in spans.items())


def _cell(cell: CellSummary, column: CostColumn, notes: Notes) -> Cell:
    figure, label = column.get(cell), _capital(column.full)
    if isinstance(figure, Absent):
        return absent_cell(figure, notes, label=label)
    small = column.small(cell)
    if not small and has_spread(figure) and figure.low is not None and figure.high is not None:
        small = f"{column.write(figure.low)} to {column.write(figure.high)}"
    return Cell(column.write(figure.value), label=label, small=small, css=f"n {column.css}".strip())


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
