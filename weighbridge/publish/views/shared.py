"""What several tables, charts and sentences say of a cell alike."""

from __future__ import annotations

from collections.abc import Collection

from weighbridge.judge.stats import finite_share
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import flag_text
from weighbridge.publish.views.cells import Notes, span_text
from weighbridge.record.codes import VERDICTS
from weighbridge.record.figures import Absent, Figure
from weighbridge.record.summary import CellSummary, Summary

# Remarks that the page makes in another place: rank beside the figure, warning above every table.
_SHOWN_ELSEWHERE = frozenset({"few_samples", "loaded_machine"})


BASELINE_ABSENT = Absent(absent="baseline")
NO_REQUEST = Absent(absent="not_measured", detail="no request was sent")


def loaded_warning(summary: Summary) -> str:
    """Return the warning of every page, table and chart when other processes used the CPU; else empty."""
    return "Other processes were using the CPU during accepted runs" if summary.loaded_machine else ""


def loaded_detail(summary: Summary) -> str:
    """Return the loaded warning with what was seen of the other work, for the head of a page."""
    seen = plain(summary.loaded_text or "", limit=300).rstrip(".")
    return f"{loaded_warning(summary)}: {seen}" if summary.loaded_machine and seen else loaded_warning(summary)


def flag_marks(cell: CellSummary, notes: Notes, only: Collection[str] | None = None) -> str:
    """Return footnote marks of a cell's remarks; `only` those that concern a side table, the main tables show all."""
    shown = [flag for flag in cell.flags if flag not in _SHOWN_ELSEWHERE and (only is None or flag in only)]
    return " ".join(dict.fromkeys(notes.mark(flag_text(cell, flag)) for flag in shown))


def has_figures(cell: CellSummary) -> bool:
    """Tell whether the percentiles of a cell may be printed as figures of its gateway."""
    return cell.verdict in ("valid", "incomplete") and cell.has("response_ms")


def message(cell: CellSummary) -> str:
    """Return the words that stand where a cell has no figures: `served 66 of 150 per second`, `not supported`."""
    if cell.verdict == "saturated":
        return plain(cell.served_text or VERDICTS["saturated"].label, limit=80)
    return VERDICTS[cell.verdict].label if cell.verdict != "valid" else "no figure"


def errors_text(cell: CellSummary) -> str:
    """Return how many requests of a cell failed: `5 of 9,000`, or `none of 44 looked at, fewer than 7.5 %`.

    Where a part of the contents alone was looked at and none was bad, nothing is known of the others but a bound
    (METHOD section 3).
    """
    found = cell.count("error_count") or 0
    looked = cell.count("looked_at_count") or 0
    if not found and looked:
        total = max(looked, sum(run.request_count or 0 for run in cell.runs if run.accepted))
        most = finite_share.bounds(0, looked, total)[1]
        return f"none of {numbers.count(looked)} looked at, fewer than {numbers.share(most / total)}"
    if cell.failed is not None and cell.failed.failed_count:
        return f"{numbers.count(cell.failed.failed_count)} of {numbers.count(cell.failed.request_count)}"
    return numbers.count(found)


def spread_text(figure: Figure, digits: numbers.Digits) -> str:
    """Return the interval over the blocks where there is one, else empty."""
    return span_text(figure.interval, digits.size)
