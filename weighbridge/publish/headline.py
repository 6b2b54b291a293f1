"""Which time is a page's headline: added time where the probe measured it, else the shift. Never both in one column.

Called by answer, tables, charts and terminal, so that all of them lead with the same figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from weighbridge.publish.figures import firm
from weighbridge.record.figures import Timing, TimingOrAbsent
from weighbridge.record.summary import CellSummary


@dataclass(frozen=True)
class TimingGroup:
    """Columns of one kind of time: heading, figure, the word for it in a sentence, and how it is set."""

    title: str
    get: Callable[[CellSummary], TimingOrAbsent]
    words: str = ""
    css: str = ""


ADDED = TimingGroup("Added time", lambda cell: cell.added_ms, "to plain answers")
ADDED_FIRST = TimingGroup("Added, first content", lambda cell: cell.added_first_ms, "to the first content of streams")
ADDED_TOTAL = TimingGroup("Added, end", lambda cell: cell.added_total_ms, "to their end")
SHIFT = TimingGroup("Shift", lambda cell: cell.shift_ms)
RESPONSE = TimingGroup("Response time", lambda cell: cell.response_ms)

BY_MODE = {"plain": (ADDED,), "stream": (ADDED_FIRST, ADDED_TOTAL)}


def added_of(cell: CellSummary) -> TimingOrAbsent:
    """Added time of a cell: of plain answers, or of streams to their first content."""
    return BY_MODE[cell.mode][0].get(cell)


def measures_added(cells: Iterable[CellSummary]) -> bool:
    """Whether the added time of any of these cells was measured."""
    return any(isinstance(added_of(cell), Timing) for cell in cells)


def has_firm_added(cell: CellSummary) -> bool:
    """Whether a cell has a median added time that may stand in a sentence."""
    return firm(added_of(cell), "p50") is not None
