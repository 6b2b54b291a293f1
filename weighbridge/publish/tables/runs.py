"""Runs as they were: accepted and rejected with their load readings, and the headline with the rejected ones in."""

from __future__ import annotations

from dataclasses import replace

from weighbridge import units
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.views.cells import Notes
from weighbridge.publish.views.columns import Show, cells_of, columns_of, groups_of, number_column
from weighbridge.publish.views.headline import measures_added
from weighbridge.publish.views.labels import Names, is_baseline
from weighbridge.publish.views.rows import gateway_cell
from weighbridge.publish.views.shared import loaded_warning
from weighbridge.publish.views.views import Section, Table, TableCell, TableColumn, TableGroup, TableRow
from weighbridge.record.codes import REASONS, VERDICTS
from weighbridge.record.figures import PERCENTILES, Percentile
from weighbridge.record.host import LoadReading
from weighbridge.record.summary import CellSummary, RunLine, Summary

_RECOMPUTED = (
    Show("added_ms", title="Added, accepted", by_mode=True),
    Show("added_with_rejected_ms"),
    Show("shift_ms", title="Shift, accepted"),
    Show("shift_with_rejected_ms"),
)


def ordered_cells(summary: Summary, names: Names) -> list[CellSummary]:
    """Return the cells in the order of the tables."""
    return sorted(summary.cells, key=lambda cell: (names.order(cell), names.place(cell), names.rank(cell)))


def outcome_text(summary: Summary) -> str:
    """Tell how many attempts were accepted and rejected, and why, in a sentence or two."""
    attempted = summary.runs_accepted + summary.runs_rejected
    start = (
        f"{numbers.plural(attempted, 'attempt')}: {numbers.count(summary.runs_accepted)} accepted, "
        f"{numbers.count(summary.runs_rejected)} rejected"
    )
    totals: dict[str, int] = {}
    for cell in summary.cells:
        for rejected in cell.rejected:
            code = rejected.reason.code
            totals[code] = totals.get(code, 0) + rejected.count
    reasons = [f"{numbers.count(totals[code])} for {REASONS[code].text}" for code in sorted(totals)]
    why = f" ({numbers.listed(reasons)})" if reasons else ""
    return (
        f"{start}{why}. Acceptance rules stand in the matrix before the run and none of them looks at the measured "
        "overhead. Rejected attempts are kept, never deleted."
    )


def run_tables(summary: Summary, names: Names, anchor: str) -> tuple[Table, ...]:
    """Tabulate the rejected attempts by reason, the headline recomputed with them, and every attempt."""
    cells = ordered_cells(summary, names)
    return (
        _rejected_table(summary, names, cells, anchor),
        _recomputed_table(summary, names, cells, anchor),
        _attempts_table(summary, names, cells, anchor),
    )


def _rejected_table(summary: Summary, names: Names, cells: list[CellSummary], anchor: str) -> Table:
    rows = tuple(
        TableRow(
            (
                gateway_cell(names, cell),
                TableCell(names.where(cell), label="Cell"),
                TableCell(rejected.reason.text, label="Reason", small=plain(rejected.reason.detail, limit=300)),
                TableCell(rejected.reason.class_, label="Whose"),
                TableCell(numbers.count(rejected.count), label="Attempts", css="n"),
            )
        )
        for cell in cells
        for rejected in cell.rejected
    )
    return Table(
        id=f"{anchor}-rejected",
        title="Rejected attempts",
        caption=("By reason, with what the first of them said; “rig” is the measuring side, “gateway” the lane.",),
        columns=(
            TableColumn("Gateway", "Gateway"),
            TableColumn("Cell", "Cell"),
            TableColumn("Reason", "Reason"),
            TableColumn("Whose", "Whose"),
            number_column("Attempts", "Attempts"),
        ),
        sections=(Section("", rows),),
        warning=loaded_warning(summary),
        empty="No attempt was rejected.",
    )


def _recomputed_table(summary: Summary, names: Names, cells: list[CellSummary], anchor: str) -> Table:
    notes = Notes(names.digits)
    chosen = [c for c in cells if c.rejected and not is_baseline(c) and c.verdict in ("valid", "incomplete")]
    wanted = _RECOMPUTED if measures_added(chosen) else _RECOMPUTED[2:]
    # Twelve columns of numbers would fit no page.
    percentiles: tuple[Percentile, ...] = PERCENTILES if len(wanted) == 2 else ("p50", "p95")
    groups = tuple(replace(group, percentiles=percentiles) for group in wanted)
    rows = tuple(
        TableRow(
            (
                gateway_cell(names, cell),
                TableCell(names.where(cell), label="Cell"),
                *cells_of(cell, groups, notes),
            )
        )
        for cell in chosen
    )
    return Table(
        id=f"{anchor}-recomputed",
        title="The headline recomputed with the rejected runs",
        caption=("Where both agree, leaving runs out did not make the figure.",),
        columns=(
            TableColumn("Gateway", "Gateway"),
            TableColumn("Cell", "Cell"),
            *columns_of(groups),
        ),
        groups=(TableGroup("", 2), *groups_of(groups)),
        sections=(Section("", rows),),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="No cell with a headline has rejected attempts.",
    )


def _attempts_table(summary: Summary, names: Names, cells: list[CellSummary], anchor: str) -> Table:
    rows = tuple(
        TableRow(
            (gateway_cell(names, cell), TableCell(names.where(cell), label="Cell"), *_attempt(run, names.digits)),
            css=_css(run),
        )
        for cell in cells
        for run in cell.runs
    )
    return Table(
        id=f"{anchor}-runs",
        title="Every attempt",
        caption=(
            (
                "Load readings before and after the window: one-minute load average, then pressure on CPU and I/O, "
                "stolen CPU time, and CPU taken by other programs, in cores."
            ),
        ),
        columns=(
            TableColumn("Gateway", "Gateway"),
            TableColumn("Cell", "Cell"),
            TableColumn("Run", "Run"),
            TableColumn("Outcome", "Outcome"),
            number_column("p50, ms", "Response p50, ms"),
            number_column("Achieved/s", "Achieved/s"),
            TableColumn("Load before", "Load before"),
            TableColumn("Load after", "Load after"),
        ),
        sections=(Section("", rows),),
        warning=loaded_warning(summary),
        empty="No attempt was made.",
        is_folded=True,
    )


def _css(run: RunLine) -> str:
    return "" if run.accepted else "rejected"


def _attempt(run: RunLine, digits: numbers.Digits) -> tuple[TableCell, ...]:
    attempt = f", attempt {run.attempt}" if run.attempt > 1 else ""
    outcome = "accepted" if run.accepted else "rejected"
    if run.verdict != "valid" and run.accepted:
        outcome = f"accepted: {VERDICTS[run.verdict].label}"
    p50 = numbers.ABSENT if run.response_p50_ms is None else digits.ms(run.response_p50_ms)
    rate = numbers.ABSENT if run.achieved_rps is None else digits.rps(run.achieved_rps)
    return (
        TableCell(f"block {run.block}{attempt}", label="Run"),
        TableCell(outcome, label="Outcome", small=run.reason.text if run.reason else _failed(run)),
        TableCell(p50, label="p50, ms", css="n"),
        TableCell(rate, label="Achieved/s", css="n"),
        _reading(run.load_before, "Load before"),
        _reading(run.load_after, "Load after"),
    )


def _failed(run: RunLine) -> str:
    """Return `1 of 1,500 requests failed` of a window that counts all the same; empty where none did."""
    if not run.failed_count or run.request_count is None:
        return ""
    return f"{numbers.count(run.failed_count)} of {numbers.plural(run.request_count, 'request')} failed"


def _reading(reading: LoadReading | None, label: str) -> TableCell:
    if reading is None:
        return TableCell(numbers.ABSENT, label=label, small="not read")
    load = numbers.ABSENT if reading.load_1m is None else units.format_ms(reading.load_1m)
    parts = (
        ("CPU", reading.cpu_some_pct, " %"),
        ("I/O", reading.io_some_pct, " %"),
        ("stolen", reading.steal_pct, " %"),
        ("others", reading.foreign_cpu_cores, " cores"),
    )
    known = [f"{name} {units.format_ms(value)}{unit}" for name, value, unit in parts if value is not None]
    return TableCell(load, label=label, small=" · ".join(known))
