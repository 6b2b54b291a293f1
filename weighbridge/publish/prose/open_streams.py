"""Open streams in words: what one more open stream takes of each gateway's memory.

The cost table has the same figures in rows of their own.
"""

from __future__ import annotations

from weighbridge.publish.text import numbers
from weighbridge.publish.views.labels import Names, has_open_streams, is_baseline
from weighbridge.publish.views.shared import message, spread_text
from weighbridge.record.figures import Absent
from weighbridge.record.summary import CellSummary, Summary


def open_streams_text(summary: Summary, names: Names) -> str:
    """Return one sentence over all cells of open streams, the baseline left out; empty without one."""
    cells = sorted(
        (cell for cell in summary.cells if has_open_streams(cell) and not is_baseline(cell)),
        key=lambda cell: (names.order(cell), names.place(cell), names.rank(cell)),
    )
    if not cells:
        return ""
    parts = [
        f"{names.full(cell.gateway, cell.settings)} {_reported(cell, names.digits)} ({names.policy(cell)})"
        for cell in cells
    ]
    start = "Smoke run (setup check only, do not quote): one" if summary.grade == "smoke" else "One"
    return f"{start} more open stream takes of a gateway's memory: {'; '.join(parts)}."


def _reported(cell: CellSummary, digits: numbers.Digits) -> str:
    figure = cell.value("memory_per_stream_bytes")
    if isinstance(figure, Absent):
        return message(cell)
    spread = spread_text(figure, digits)
    return digits.size(figure.value) + (f", {spread}" if spread else "")
