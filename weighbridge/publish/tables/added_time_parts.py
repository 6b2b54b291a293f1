"""Tables that take added time apart: its two legs with the stamps behind it, and its slopes per KiB and per chunk."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weighbridge.publish.text import numbers
from weighbridge.publish.text.load_wording import load_text
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import SELF_REPORTED_TEXT
from weighbridge.publish.views.cells import Notes, absent_cell, span_text
from weighbridge.publish.views.columns import P50_P95, Show, cells_of, columns_of, groups_of, number_column
from weighbridge.publish.views.conditions import heading
from weighbridge.publish.views.headline import added_of, measures_added
from weighbridge.publish.views.labels import Names, is_baseline
from weighbridge.publish.views.rows import RowMaker, gateway_cell, head_columns, sections
from weighbridge.publish.views.shared import BASELINE_ABSENT, flag_marks, has_figures, loaded_warning
from weighbridge.publish.views.views import Section, Table, TableCell, TableColumn, TableGroup, TableRow
from weighbridge.record.figures import Absent
from weighbridge.record.probe_counts import StampCounts
from weighbridge.record.summary import CellSummary, Slope, Summary

_LEGS_TEXT = (
    "The request path runs from the first byte written by the client to the whole request read by the provider, the "
    "response path from the provider's send to the response read (of streams: to the first content). Percentiles of "
    "legs do not add up to those of the sum. Connecting is in neither leg: it has a time of its own, beside the "
    "connections opened per request. The first request is the one that a gateway served first after its start. "
    "Stamps: responses whose own two instants came through whole, of all attempts; the others have no added time. "
    "In late turns: responses that our own loop may have been late to send or read; they count as they were measured."
)
_ADDED_SLOPE_TEXT = (
    "The p50 of added time as a straight line through cells that differ in nothing but payload or answer: one line "
    "for each block, then the median over the blocks with its interval; the line of a single block is not reliable. "
    "Farthest is the largest distance of a point from its line."
)
_SLOPE_UNITS = {"payload_kib": "KiB of prompt", "answer_chunks": "chunk of answer"}
_SLOPE_FIGURES: Mapping[str, str] = {
    "added_ms": "to the end of a non-streaming response",
    "added_first_ms": "to the first content of a stream",
    "added_total_ms": "to the end of a stream",
}
_PARTS_FLAGS = frozenset(
    {
        "no_inband",
        "no_keep_alive",
        "ready_early",
        "stamps_lost",
        "stamps_unknown",
        "retried",
        "probe_late",
        "added_baseline_limited",
        "added_negative",
        "drifts",
        "not_steady",
    }
)
_LEGS = (
    Show("added_ms", percentiles=P50_P95, by_mode=True),
    Show("request_path_ms", percentiles=P50_P95),
    Show("response_path_ms", percentiles=P50_P95),
)
_DRIFT_COLUMNS = (Show("drift_first_ms"), Show("drift_last_ms"))
_CONNECTION_COLUMNS = (
    Show("connect_ms", percentiles=("p50",)),
    Show("connections_per_request"),
    Show("first_request_ms"),
)
_CLAIMS = (Show("self_reported_ms", percentiles=P50_P95), Show("self_reported_difference_ms", percentiles=P50_P95))


def legs_tables(summary: Summary, names: Names, anchor: str) -> tuple[Table, ...]:
    """Return the legs and, where payloads or answers vary, the slopes; nothing where no added time was measured."""
    found = []
    if measures_added(summary.cells):
        found.append(_legs_table(summary, names, anchor))
    if names.varies & {"payload", "answer"}:
        found.append(_slopes_table(summary, names, anchor))
    return tuple(found)


def _legs_table(summary: Summary, names: Names, anchor: str) -> Table:
    notes = Notes(names.digits)
    cells = [cell for cell in summary.cells if has_figures(cell) and not _is_not_reported(cell)]
    claims = any(cell.has("self_reported_ms") for cell in cells)
    drifts = any("drifts" in cell.flags for cell in cells)
    groups = (*_LEGS, *(_DRIFT_COLUMNS if drifts else ()), *_CONNECTION_COLUMNS, *(_CLAIMS if claims else ()))

    def make(cell: CellSummary) -> tuple[TableCell, ...]:
        made = [one for group in groups for one in _times(cell, group, notes)]
        return (*made, _stamps_cell(cell, notes))

    heads = head_columns(names)
    return Table(
        id=f"{anchor}-legs",
        title="Added time by its two legs" + (", and what gateways report" if claims else ""),
        caption=(_LEGS_TEXT, *((SELF_REPORTED_TEXT,) if claims else ()), heading(summary)),
        columns=(
            *heads,
            *columns_of((*groups, Show("stamps"))),
        ),
        groups=(
            TableGroup("", len(heads)),
            *groups_of(groups),
            TableGroup("", 1),
        ),
        sections=sections(names, cells, RowMaker(make, lambda cell: flag_marks(cell, notes, _PARTS_FLAGS))),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="No cell has it.",
        is_folded=True,
    )


def _is_not_reported(cell: CellSummary) -> bool:
    """Tell whether nobody looked for stamps in this cell, as where a driver went alone."""
    return isinstance(added_of(cell), Absent) and isinstance(cell.stamps, Absent)


def _times(cell: CellSummary, group: Show, notes: Notes) -> tuple[TableCell, ...]:
    if is_baseline(cell) and group in _CLAIMS:
        return (absent_cell(BASELINE_ABSENT, notes, label=group.heading, span=2),)
    return cells_of(cell, (group,), notes)


def _stamps_cell(cell: CellSummary, notes: Notes) -> TableCell:
    label = "Whole stamps"
    found = cell.stamps
    if isinstance(found, Absent):
        return absent_cell(found, notes, label=label)
    kinds = (
        (found.absent_count, "without"),
        (found.damaged_count, "damaged"),
        (found.stale_count, "stale"),
        (found.repeated_count, "repeated"),
        (found.unknown_count, "unknown"),
        (found.crossed_count, "crossed"),
        (found.retry_count or 0, "retried"),
    )
    rest = ", ".join(f"{numbers.count(count)} {what}" for count, what in kinds if count)
    late = cell.count("late_response_count")
    if late:
        rest = ", ".join(part for part in (rest, f"{numbers.count(late)} in late turns") if part)
    return TableCell(
        f"{numbers.count(found.whole_count)} of {numbers.count(_all(found))}", label=label, small=rest, css="n"
    )


def _all(found: StampCounts) -> int:
    lost = found.absent_count + found.damaged_count + found.stale_count + found.repeated_count
    return found.whole_count + lost + found.unknown_count + found.crossed_count


def _slopes_table(summary: Summary, names: Names, anchor: str) -> Table:
    by_id = {cell.cell: cell for cell in summary.cells}
    known = [(slope, by_id[slope.cells[0]]) for slope in summary.slopes if slope.cells and slope.cells[0] in by_id]
    known.sort(key=lambda pair: (pair[0].axis, names.order(pair[1]), names.place(pair[1]), names.rank(pair[1])))
    return Table(
        id=f"{anchor}-slopes",
        title="Added time per KiB and per chunk",
        caption=(_ADDED_SLOPE_TEXT, heading(summary)),
        columns=(
            TableColumn("Gateway", "Gateway"),
            TableColumn("Cells", "Cell"),
            TableColumn("Per", "Slope per"),
            number_column("slope, µs", "Slope, µs"),
            number_column("direct, µs", "Slope of the baseline, µs"),
            number_column("at zero, µs", "At zero, µs"),
            number_column("farthest, µs", "Farthest point, µs"),
            number_column("blocks", "Block"),
        ),
        sections=(Section("", tuple(_slope_row(names, slope, cell) for slope, cell in known)),),
        warning=loaded_warning(summary),
        empty="No line could be laid: it takes an added time at two places of one block.",
    )


def _slope_row(names: Names, slope: Slope, cell: CellSummary) -> TableRow:
    is_reliable = slope.block_count > 1
    small = span_text(slope.interval_ms, names.digits.fine_us) if is_reliable else "one block: not reliable"
    css = "n lead" if is_reliable else "n lead grey"
    direct = numbers.ABSENT if slope.baseline_slope_ms is None else names.digits.fine_us(slope.baseline_slope_ms)
    blocks = f"{numbers.count(slope.block_count)} ({numbers.plural(slope.point_count, 'point')})"
    return TableRow(
        (
            gateway_cell(names, cell),
            TableCell(_where(names, slope, cell), label="Cells", small=_places(slope)),
            TableCell(_SLOPE_UNITS[slope.axis], label="Per", small=_SLOPE_FIGURES[slope.figure]),
            TableCell(names.digits.fine_us(slope.slope_ms), label="Slope, µs", small=small, css=css),
            TableCell("baseline" if is_baseline(cell) else direct, label="Direct, µs", css="n"),
            TableCell(names.digits.fine_us(slope.intercept_ms), label="At zero, µs", css="n"),
            TableCell(names.digits.fine_us(slope.residual_ms), label="Farthest, µs", css="n"),
            TableCell(blocks, label="Blocks", css="n"),
        ),
        css="baseline" if is_baseline(cell) else "",
    )


def _where(names: Names, slope: Slope, cell: CellSummary) -> str:
    """Name the cells of a line in one phrase: all that they share."""
    along = "payload" if slope.axis == "payload_kib" else "answer"
    alike = replace(names, varies=names.varies - {along})
    disk = f" · disk {plain(cell.disk, limit=40)}" if names.varies_disk else ""
    return f"{alike.work(cell)} · {load_text(cell.load)}{disk}"


def _places(slope: Slope) -> str:
    return numbers.plural(len(slope.cells), "cell")
