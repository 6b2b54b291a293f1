"""The other tables over cells: time to first byte at one client, cost, and what the load generator itself did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from weighbridge.publish import numbers
from weighbridge.publish.cells_table import (
    flag_marks,
    has_figures,
    loaded_warning,
    message,
    number_column,
    setting_text,
)
from weighbridge.publish.clean import plain
from weighbridge.publish.figures import Notes, absent_cell, rate_cell, timing_cells
from weighbridge.publish.layout import RowMaker, head_columns, sections
from weighbridge.publish.model import Cell, Column, Group, Table
from weighbridge.publish.names import Names, is_floor
from weighbridge.publish.words import ABSENCES, PERCENTILE_WORDS, spoken
from weighbridge.record.figures import Absent, FigureOrAbsent, Timing
from weighbridge.record.summary import CellSummary, Summary

_TTFB_TEXT = (
    "Time from the actual start of a request to the first byte of its body, with one client. A gateway that checks "
    "the whole answer before it lets any of it out holds a stream back: its figure then nears the length of the "
    "stream. It says “held back”, not “slow”."
)
_COST_TEXT = (
    "Per request unless said otherwise, medians over the accepted runs. Throughput leaves the drain out: what a lane "
    "borrowed stands here as drain time and undelivered events at the end of the window."
)
_DRIVER_TEXT = (
    "What the load generator itself did; its limits are never charged to a gateway. Lag is actual start minus "
    "release by its pacer, lateness is release minus the ideal grid, rate error is the worst of the accepted runs."
)


def ttfb_table(summary: Summary, names: Names, anchor: str) -> Table:
    """Time to first byte with one request at a time."""
    notes = Notes()
    serial = [cell for cell in summary.cells if cell.load.clients == 1]
    cells = [cell for cell in serial if _mode_has_ttfb(serial, cell.mode)]
    shows_buffering = any(cell.buffering for cell in cells)

    def make(cell: CellSummary) -> tuple[Cell, ...]:
        width = 7 if shows_buffering else 6
        if not has_figures(cell):
            return (_said(cell, width),)
        first = (
            (Cell("floor", label="Shift", css="said", span=3, fill=(numbers.ABSENT,) * 2),)
            if is_floor(cell)
            else timing_cells(cell.ttfb_shift_ms, notes, "Shift")
        )
        end = (Cell(plain(cell.buffering or numbers.ABSENT, limit=40), label="Stream"),) if shows_buffering else ()
        return (*first, *timing_cells(cell.ttfb_ms, notes, "TTFB"), *end)

    heads = head_columns(names)
    return Table(
        id=f"{anchor}-ttfb",
        title="Time to first byte at one client",
        caption=(_TTFB_TEXT, *_ttfb_remarks(summary, names, serial, cells)),
        columns=(*heads, *_percentiles("Shift of TTFB"), *_percentiles("TTFB"), *_buffering(shows_buffering)),
        groups=(
            Group("", len(heads)),
            Group("Shift of TTFB, ms", 3, "shift"),
            Group("TTFB, ms", 3),
            *((Group("", 1),) if shows_buffering else ()),
        ),
        sections=sections(names, cells, RowMaker(make)),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="No cell has it." if serial else "No cell with one client was selected.",
    )


def _mode_has_ttfb(cells: list[CellSummary], mode: str) -> bool:
    return any(cell.mode == mode and isinstance(cell.ttfb_ms, Timing) for cell in cells)


def _ttfb_remarks(
    summary: Summary, names: Names, serial: list[CellSummary], cells: list[CellSummary]
) -> tuple[str, ...]:  # fmt: skip
    remarks = [setting_text(summary, names, cells)] if cells else []
    for mode in dict.fromkeys(cell.mode for cell in serial if cell not in cells):
        gone = [cell for cell in serial if cell.mode == mode]
        measured = [cell for cell in gone if has_figures(cell)] or gone
        reasons = [cell.ttfb_ms.absent for cell in measured if isinstance(cell.ttfb_ms, Absent)]
        told = sorted({spoken(reason, ABSENCES) for reason in reasons})
        remarks.append(f"Absent for {mode} answers: {' or '.join(told)}.")
    return tuple(remarks)


def _percentiles(title: str) -> tuple[Column, ...]:
    return tuple(number_column(name, f"{title} {name}, ms") for name in PERCENTILE_WORDS)


def _buffering(shown: bool) -> tuple[Column, ...]:
    return (Column("stream", "Stream"),) if shown else ()


def _said(cell: CellSummary, span: int) -> Cell:
    return Cell(message(cell), label="Outcome", css="said", span=span, fill=(numbers.ABSENT,) * (span - 1))


@dataclass(frozen=True)
class CostColumn:
    """A column of the cost table: heading, figure, and how its number is written."""

    text: str
    get: Callable[[CellSummary], FigureOrAbsent]
    write: Callable[[float], str] = numbers.per_request


def _undelivered(cell: CellSummary) -> FigureOrAbsent:
    # The count has no figure of its own: it is shown as the small line of the drain.
    return cell.drain_s


_COST = (
    CostColumn("CPU, ms", lambda cell: cell.cpu_ms_per_request),
    CostColumn("Peak memory", lambda cell: cell.rss_peak_bytes, numbers.size),
    CostColumn("Control-plane calls", lambda cell: cell.control_plane_calls_per_request),
    CostColumn("Provider calls", lambda cell: cell.upstream_calls_per_request),
    CostColumn("Disk flushes", lambda cell: cell.flushes_per_request),
    CostColumn("Event drain", _undelivered, numbers.duration),
)


def cost_table(summary: Summary, names: Names, anchor: str) -> Table:
    """CPU, memory, calls and flushes of each gateway; columns that nobody could fill are named in one sentence."""
    notes = Notes()
    cells = [cell for cell in summary.cells if not is_floor(cell) and cell.runs_accepted]
    shown = [column for column in _COST if any(not isinstance(column.get(cell), Absent) for cell in cells)]
    missing = [column for column in _COST if column not in shown]
    claims = any(not isinstance(cell.claimed_overhead_ms, Absent) for cell in cells)

    def make(cell: CellSummary) -> tuple[Cell, ...]:
        made = [_cost_cell(cell, column, notes) for column in shown]
        if claims:
            made.append(timing_cells(cell.claimed_overhead_ms, notes, "Own claim", ("p50",))[0])
        return tuple(made)

    columns = [number_column(column.text, column.text) for column in shown]
    if claims:
        columns.append(number_column("Own claim p50, ms", "Own claim p50, ms"))
    return Table(
        id=f"{anchor}-cost",
        title="Cost beside the time",
        caption=(_COST_TEXT, *_missing_text(missing, cells)),
        columns=(*head_columns(names), *columns),
        sections=sections(names, cells, RowMaker(make, lambda cell: flag_marks(cell, notes)), floors=False)
        if columns
        else (),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="Nothing beside the time was measured.",
        is_folded=True,
    )


def _missing_text(missing: list[CostColumn], cells: list[CellSummary]) -> tuple[str, ...]:
    parts = []
    for column in missing:
        reasons = {figure.absent for cell in cells if isinstance(figure := column.get(cell), Absent)}
        text = " or ".join(sorted(spoken(reason, ABSENCES) for reason in reasons)) or "no accepted run"
        parts.append(f"{column.text} ({text})")
    return (f"Absent everywhere: {numbers.listed(parts)}.",) if parts else ()


def _cost_cell(cell: CellSummary, column: CostColumn, notes: Notes) -> Cell:
    figure = column.get(cell)
    if isinstance(figure, Absent):
        return absent_cell(figure.absent, notes, label=column.text)
    small = ""
    if column.get is _undelivered and cell.undelivered_at_end_count is not None:
        small = f"{numbers.count(cell.undelivered_at_end_count)} undelivered"
    return Cell(column.write(figure.value), label=column.text, small=small, css="n")


def driver_table(summary: Summary, names: Names, anchor: str) -> Table:
    """Offered and achieved rate, send-rate error, lag and lateness of the load generator in each cell."""
    notes = Notes()
    cells = [cell for cell in summary.cells if cell.runs_accepted or not isinstance(cell.achieved_rps, Absent)]

    def make(cell: CellSummary) -> tuple[Cell, ...]:
        offered = numbers.ABSENT if cell.offered_rps is None else numbers.short(cell.offered_rps)
        error = (
            absent_cell("clients have no rate to miss" if cell.offered_rps is None else "not_measured", notes)
            if cell.rate_error_ratio is None
            else Cell(numbers.percent(cell.rate_error_ratio), css="n")
        )
        return (
            Cell(cell.driver, label="Driver"),
            Cell(offered, label="Offered/s", css="n"),
            rate_cell(cell.achieved_rps, notes, "Achieved/s"),
            replace(error, label="Send-rate error"),
            *timing_cells(cell.dispatch_lag_ms, notes, "Lag", ("p50", "p99")),
            *timing_cells(cell.release_lateness_ms, notes, "Lateness", ("p50", "p99")),
        )

    heads = head_columns(names)
    return Table(
        id=f"{anchor}-driver",
        title="The load generator",
        caption=(_DRIVER_TEXT,),
        columns=(
            *heads,
            Column("driver", "Driver"),
            number_column("offered", "Offered/s"),
            number_column("achieved", "Achieved/s"),
            number_column("send-rate error", "Send-rate error"),
            *(number_column(name, f"Dispatch lag {name}, ms") for name in ("p50", "p99")),
            *(number_column(name, f"Release lateness {name}, ms") for name in ("p50", "p99")),
        ),
        groups=(
            Group("", len(heads) + 1),
            Group("Requests per second", 3),
            Group("Dispatch lag, ms", 2),
            Group("Release lateness, ms", 2),
        ),
        sections=sections(names, cells, RowMaker(make)),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="No window was driven.",
        is_folded=True,
    )
