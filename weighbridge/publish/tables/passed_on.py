"""What a gateway passed on: the request to the provider, and the response to whom it was made for, with its usage."""

from __future__ import annotations

from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.views.cells import Notes, absent_cell
from weighbridge.publish.views.columns import number_column
from weighbridge.publish.views.conditions import heading
from weighbridge.publish.views.labels import Names
from weighbridge.publish.views.rows import RowMaker, head_columns, sections
from weighbridge.publish.views.shared import flag_marks, loaded_warning
from weighbridge.publish.views.views import Table, TableCell, TableColumn
from weighbridge.record.figures import Absent
from weighbridge.record.probe_counts import StampCounts, UsageCounts
from weighbridge.record.summary import CellSummary, Summary

_PASSED_ON_TEXT = (
    "Request changed: parameters that the provider got and the client did not send (adds), did not get (drops), or "
    "got with another value (changes), in the request of the preflight. Token usage: good responses whose prompt, "
    "completion and total are those that the provider sent for the same request; of streams, those on the last "
    "chunk. Whole stamps: responses that the provider made for this very request, of all attempts."
)
_PASSED_ON_FLAGS = frozenset({"usage_differs", "repeated_answers", "retried"})


def passed_on_tables(summary: Summary, names: Names, anchor: str) -> tuple[Table, ...]:
    """Return the table, or nothing where no cell was looked at."""
    cells = [cell for cell in summary.cells if _is_told(cell)]
    if not cells:
        return ()
    notes = Notes(names.digits)

    def make(cell: CellSummary) -> tuple[TableCell, ...]:
        return (_request_cell(cell), _usage_cell(cell, notes), _own_cell(cell, notes))

    return (
        Table(
            id=f"{anchor}-passed-on",
            title="What the gateway passed on",
            caption=(_PASSED_ON_TEXT, heading(summary)),
            columns=(
                *head_columns(names),
                TableColumn("request changed", "Request changed"),
                number_column("token usage", "Token usage"),
                number_column("whole stamps", "Whole stamps"),
            ),
            sections=sections(names, cells, RowMaker(make, lambda cell: flag_marks(cell, notes, _PASSED_ON_FLAGS))),
            footnotes=notes.footnotes(),
            warning=loaded_warning(summary),
            is_folded=True,
        ),
    )


def _is_told(cell: CellSummary) -> bool:
    return bool(cell.words("request_changes")) or cell.has("usage") or cell.has("stamps")


def _request_cell(cell: CellSummary) -> TableCell:
    changes = [plain(change, limit=60) for change in cell.words("request_changes")]
    return TableCell(", ".join(changes) or "as sent", label="Request changed")


def _usage_cell(cell: CellSummary, notes: Notes) -> TableCell:
    label, found = "Token usage", cell.usage
    if isinstance(found, Absent):
        return absent_cell(found, notes, label=label)
    return TableCell(
        f"{numbers.count(found.same_count)} of {numbers.count(found.response_count)}",
        label=label,
        small=_usage_text(found),
        css="n",
    )


def _usage_text(found: UsageCounts) -> str:
    example = f" ({plain(found.example, limit=120)})" if found.example else ""
    kinds = (
        (found.differing_count, f"differ{example}"),
        (found.missing_count, "without any"),
        (found.own_count, "of the gateway's own"),
    )
    return ", ".join(f"{numbers.count(count)} {what}" for count, what in kinds if count)


def _own_cell(cell: CellSummary, notes: Notes) -> TableCell:
    label, found = "Whole stamps", cell.stamps
    if not isinstance(found, StampCounts):
        return absent_cell(found, notes, label=label)
    others = found.crossed_count + found.repeated_count + found.stale_count
    kinds = (
        (found.crossed_count, "of another request"),
        (found.repeated_count, "given twice"),
        (found.stale_count, "old"),
    )
    small = ", ".join(f"{numbers.count(count)} {what}" for count, what in kinds if count)
    total = f"{numbers.count(found.whole_count)} of {numbers.count(found.whole_count + others)}"
    return TableCell(total, label=label, small=small, css="n")
