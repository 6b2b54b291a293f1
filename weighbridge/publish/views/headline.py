"""Which time is a page's headline: added time where the probe measured it, else the shift; never both in a column."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from weighbridge.publish.views.cells import reliable
from weighbridge.record.figures import Timing, TimingOrAbsent
from weighbridge.record.metrics import TimeKey
from weighbridge.record.summary import CellSummary

# The added times of a mode, the one that leads first.
BY_MODE: Mapping[str, tuple[TimeKey, ...]] = {
    "plain": ("added_ms",),
    "stream": ("added_first_ms", "added_total_ms"),
}


def added_key(cell: CellSummary) -> TimeKey:
    """Return the added time that leads: of non-streaming responses, or of streams to their first content."""
    return BY_MODE[cell.mode][0]


def added_of(cell: CellSummary) -> TimingOrAbsent:
    """Return the added time of a cell that leads."""
    return cell.timing(added_key(cell))


def measures_added(cells: Iterable[CellSummary]) -> bool:
    """Tell whether the added time of any of these cells was measured."""
    return any(isinstance(added_of(cell), Timing) for cell in cells)


def has_reliable_added(cell: CellSummary) -> bool:
    """Tell whether a cell has a median added time that may stand in a sentence."""
    return reliable(added_of(cell), "p50") is not None
