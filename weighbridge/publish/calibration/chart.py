"""A certificate as a picture: how far off each known delay was found, by added time and by shift.

One panel for each mode, condition and arrangement.
"""

from __future__ import annotations

from typing import Any

from markupsafe import Markup

from weighbridge.publish.calibration.certificate import grouped
from weighbridge.publish.charts.charts import Looks, drawn, specification
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import code, plain
from weighbridge.publish.views.views import Chart
from weighbridge.record.certificate import Certificate, DelayResult

ADDED_ERROR, SHIFT = "error of the added time", "error of the shift"
_TITLE = "How far off known delays were found"
_DESCRIPTION = (
    "Size of the error in µs, on a logarithmic axis: a dot for p50, a line to p95, and the errors of p50, p95 and "
    "p99 as numbers; for each known delay that of the added time above that of the shift. Every value stands in "
    "the table."
)
# An error of nothing has no place on a logarithmic axis; a microsecond is less than any host resolves.
_LEAST_US = 1.0


def certificate_chart(found: Certificate, anchor: str) -> tuple[Chart, ...]:
    """Draw the chart of a certificate; none without a known delay."""
    data = [
        _datum(group.panel, rows, who)
        for group in grouped(found)
        for rows in group.delays
        for who in (ADDED_ERROR, SHIFT)
    ]
    if not data:
        return ()
    spec = specification("size of the error, µs", data, Looks((ADDED_ERROR, SHIFT), baseline=SHIFT))
    name = f"{anchor}-chart-calibration"
    return (drawn(spec, Chart(name, _TITLE, _DESCRIPTION, code(f"charts/{name}.svg"), Markup())),)


def _datum(panel: str, rows: tuple[DelayResult, ...], who: str) -> dict[str, Any]:
    """Return one line of a panel: the sizes of three errors, those that are not judged left out."""
    sizes = {row.figure: _size_us(row, who) for row in rows if row.judged}
    middle, high = sizes.get("p50"), sizes.get("p95")
    return {
        "panel": panel,
        "line": plain(rows[0].delay, limit=60),
        "who": who,
        "p50": middle,
        "p95": high,
        "end": None if middle is None else max(middle, high or middle),
        "label": " · ".join(numbers.short(round(size)) for size in sizes.values()),
        "message": "" if middle is not None else "too few requests to judge",
    }


def _size_us(row: DelayResult, who: str) -> float:
    error_ms = row.added_error_ms if who == ADDED_ERROR else row.shift_error_ms
    return max(_LEAST_US, round(1000 * abs(error_ms), 1))
