"""The other tables over cells: time to first byte at one client, and what the load generator itself did."""

from __future__ import annotations

from weighbridge.publish.text import numbers
from weighbridge.publish.text.wording import absence_text
from weighbridge.publish.views.cells import Notes
from weighbridge.publish.views.columns import Show, cells_of, columns_of, groups_of, number_column, shown
from weighbridge.publish.views.conditions import heading, setting_text
from weighbridge.publish.views.labels import MODE_TEXT, Names, is_baseline
from weighbridge.publish.views.rows import RowMaker, head_columns, sections
from weighbridge.publish.views.shared import has_figures, loaded_warning, message
from weighbridge.publish.views.views import Table, TableCell, TableColumn, TableGroup
from weighbridge.record.figures import NOT_MEASURED, Absent, Percentile
from weighbridge.record.summary import CellSummary, Summary

_TTFB_TEXT = (
    "Time from the actual start of a request to the first byte of its body, with one client. A gateway that checks "
    "the whole response before it lets any of it out buffers the stream: its figure then nears the length of the "
    "stream. It says “buffered”, not “slow”."
)
_DRIVER_TEXT = (
    "What the load generator itself did; its limits are never charged to a gateway. Lag is actual start minus "
    "release by its pacer, lateness is release minus the ideal grid, rate error is the worst of the accepted runs."
)
_REPEATED_TEXT = "Prompts repeated are requests whose prompt an earlier one of the same window had."


_FIRST_BYTE = (Show("ttfb_shift_ms", label="Shift"), Show("ttfb_ms"))
_ENDS: tuple[Percentile, ...] = ("p50", "p99")


def _no_error(cell: CellSummary) -> Absent:
    return Absent(absent="no_rate") if cell.offered_rps is None else NOT_MEASURED


_GENERATOR = (
    Show("achieved_rps", title="Achieved/s"),
    Show("rate_error_ratio", absent=_no_error),
)
_REPEATED_COLUMN = Show("prompts_repeated_ratio")
_PACING = (
    Show("dispatch_lag_ms", label="Lag", percentiles=_ENDS),
    Show("release_lateness_ms", label="Lateness", percentiles=_ENDS),
)


def ttfb_table(summary: Summary, names: Names, anchor: str) -> Table:
    """Tabulate the time to first byte with one request at a time."""
    notes = Notes(names.digits)
    serial = [cell for cell in summary.cells if cell.load.is_serial]
    cells = [cell for cell in serial if _mode_has_ttfb(serial, cell.mode)]

    def make(cell: CellSummary) -> tuple[TableCell, ...]:
        if not has_figures(cell):
            return (_message_cell(cell, 6),)
        if is_baseline(cell):
            baseline = TableCell("baseline", label="Shift", css="message", span=3, fill=(numbers.ABSENT,) * 2)
            return (baseline, *cells_of(cell, _FIRST_BYTE[1:], notes))
        return cells_of(cell, _FIRST_BYTE, notes)

    heads = head_columns(names)
    return Table(
        id=f"{anchor}-ttfb",
        title="Time to first byte at one client",
        caption=(_TTFB_TEXT, *_ttfb_remarks(summary, names, serial, cells)),
        columns=(*heads, *columns_of(_FIRST_BYTE)),
        groups=(
            TableGroup("", len(heads)),
            *groups_of(_FIRST_BYTE),
        ),
        sections=sections(names, cells, RowMaker(make)),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="No cell has it." if serial else "No cell with one client was selected.",
    )


def _mode_has_ttfb(cells: list[CellSummary], mode: str) -> bool:
    return any(cell.mode == mode and cell.has("ttfb_ms") for cell in cells)


def _ttfb_remarks(
    summary: Summary, names: Names, serial: list[CellSummary], cells: list[CellSummary]
) -> tuple[str, ...]:  # fmt: skip
    remarks = [setting_text(summary, names, cells)] if cells else []
    for mode in dict.fromkeys(cell.mode for cell in serial if cell not in cells):
        gone = [cell for cell in serial if cell.mode == mode]
        measured = [cell for cell in gone if has_figures(cell)] or gone
        times = [cell.timing("ttfb_ms") for cell in measured]
        reported = sorted({absence_text(one) for one in times if isinstance(one, Absent)})
        remarks.append(f"Absent for {MODE_TEXT[mode]} responses: {' or '.join(reported)}.")
    return tuple(remarks)


def _message_cell(cell: CellSummary, span: int) -> TableCell:
    return TableCell(message(cell), label="Outcome", css="message", span=span, fill=(numbers.ABSENT,) * (span - 1))


def driver_table(summary: Summary, names: Names, anchor: str) -> Table:
    """Tabulate offered and achieved rate, send-rate error, lag and lateness of the load generator in each cell."""
    notes = Notes(names.digits)
    cells = [cell for cell in summary.cells if cell.runs_accepted or cell.has("achieved_rps")]
    repeated = shown((_REPEATED_COLUMN,), cells)
    found = (*_GENERATOR, *repeated, *_PACING)

    def make(cell: CellSummary) -> tuple[TableCell, ...]:
        offered = numbers.ABSENT if cell.offered_rps is None else numbers.short(cell.offered_rps)
        return (
            TableCell(cell.driver, label="Driver"),
            TableCell(offered, label="Offered/s", css="n"),
            *cells_of(cell, found, notes),
        )

    heads = head_columns(names)
    return Table(
        id=f"{anchor}-driver",
        title="The load generator",
        caption=(_DRIVER_TEXT, *((_REPEATED_TEXT,) if repeated else ()), heading(summary)),
        columns=(
            *heads,
            TableColumn("driver", "Driver"),
            number_column("offered", "Offered/s"),
            *columns_of(found),
        ),
        groups=(
            TableGroup("", len(heads) + 1),
            TableGroup("Requests per second", 3),
            *(TableGroup("", 1) for _ in repeated),
            *groups_of(_PACING),
        ),
        sections=sections(names, cells, RowMaker(make)),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="No window was driven.",
        is_folded=True,
    )
