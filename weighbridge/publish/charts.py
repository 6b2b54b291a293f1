"""Charts of a campaign as Vega-Lite specifications: shift at each load, and time to first byte at one client.

Dots are p50, lines run to p95; both come from firm figures only. A cell without figures says so in its place. Each
gateway has a colour and a shape, neutral and given by its place in the matrix.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from weighbridge.publish import numbers, svg
from weighbridge.publish.cells_table import has_figures, loaded_warning, message
from weighbridge.publish.clean import code, plain
from weighbridge.publish.figures import firm
from weighbridge.publish.model import Chart
from weighbridge.publish.names import Names, is_floor, load_text
from weighbridge.record.figures import TimingOrAbsent
from weighbridge.record.summary import CellSummary, Summary

# Mid tones with at least 3:1 against white and against the page's dark ground; shapes carry the same difference.
_COLOURS = ("#3a7fc1", "#c2701c", "#2a9168", "#8f66c9", "#cc4b6f", "#238a9c", "#8a7a1f")
_SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-right")
_WIDTHS, _STEP = {1: 520, 2: 340}, 18
_LOG_FROM = 40.0

_FONT = "system-ui, -apple-system, Segoe UI, Arial, sans-serif"
_AXIS = {
    "labelColor": "currentColor", "titleColor": "currentColor", "gridColor": "currentColor", "gridOpacity": 0.13,
    "domainColor": "currentColor", "domainOpacity": 0.45, "tickColor": "currentColor", "tickOpacity": 0.45,
    "labelFontSize": 12, "titleFontSize": 12, "titleFontWeight": "normal",
}  # fmt: skip
_CONFIG = {
    "background": None, "font": _FONT, "view": {"stroke": None}, "axis": _AXIS,
    "legend": {"labelColor": "currentColor", "labelFontSize": 13, "symbolSize": 90},
    "header": {"labelColor": "currentColor", "labelFontSize": 13, "labelFontWeight": "bold", "labelLimit": 340},
    "facet": {"spacing": {"column": 26, "row": 22}},
}  # fmt: skip


@dataclass(frozen=True)
class Drawing:
    """What one chart shows: which figure, and what stands on its axes."""

    figure: Callable[[CellSummary], TimingOrAbsent]
    axis: str
    panel: Callable[[CellSummary], str]
    line: Callable[[CellSummary], str]


def charts(summary: Summary, names: Names, anchor: str) -> tuple[Chart, ...]:
    """Charts in the order of the page; those without a single point are left out."""
    shift = Drawing(lambda c: c.shift_ms, "shift of the response time, ms", names.work, lambda c: load_text(c.load))
    ttfb = Drawing(lambda c: c.ttfb_shift_ms, "shift of the time to first byte, ms", lambda c: c.mode, names.policy)
    weighed = sorted(
        (cell for cell in summary.cells if not is_floor(cell)),
        key=lambda cell: (names.order(cell), names.place(cell), names.rank(cell)),
    )
    found = []
    for disk in names.disks:
        where = f" on disk {plain(disk, limit=40)}" if names.varies_disk else ""
        here = [cell for cell in weighed if cell.disk == disk]
        for kind, title in (("rate", "Shift at a rate"), ("clients", "Shift with clients")):
            found.append(Picture(f"{title}{where}", shift, [cell for cell in here if cell.load.kind == kind]))
        serial = [cell for cell in here if cell.load.clients == 1 and _points(cell, ttfb)]
        found.append(Picture(f"Time to first byte at one client{where}", ttfb, serial))
    drawn = [picture for picture in found if any(_points(cell, picture.drawing) for cell in picture.cells)]
    return tuple(
        _chart(summary, names, f"{anchor}-chart-{number}", picture) for number, picture in enumerate(drawn, start=1)
    )


def _points(cell: CellSummary, drawing: Drawing) -> bool:
    return has_figures(cell) and firm(drawing.figure(cell), "p50") is not None


@dataclass(frozen=True)
class Picture:
    """A chart that is to be drawn."""

    title: str
    drawing: Drawing
    cells: Sequence[CellSummary]


def _chart(summary: Summary, names: Names, name: str, picture: Picture) -> Chart:
    warning = loaded_warning(summary)
    drawing = picture.drawing
    who = list(dict.fromkeys(names.full(cell.gateway, cell.settings) for cell in picture.cells))
    description = (
        f"{drawing.axis[:1].upper()}{drawing.axis[1:]}: a dot and its value for p50, a line to p95, for "
        f"{', '.join(who)}. Every value stands in the tables below.{' ' + warning + '.' if warning else ''}"
    )
    spec = specification(drawing, [_datum(names, drawing, cell) for cell in picture.cells], who)
    drawn = svg.render(spec, name=name, title=picture.title, description=description)
    # The text was checked by `svg`: no element or address that a picture does not need.
    return Chart(name, picture.title, description, code(f"charts/{name}.svg"), Markup(drawn), warning)  # noqa: S704


def specification(drawing: Drawing, rows: list[dict[str, Any]], who: list[str]) -> dict[str, Any]:
    """Vega-Lite specification of a chart: a panel for each chain and mode, one colour and shape a gateway."""
    panels, lines = _unique(rows, "panel"), _unique(rows, "line")
    columns = min(2, len(panels))
    scale, axis = _scale(rows, drawing.axis)
    x = {"field": "p50", "type": "quantitative", "title": axis, "scale": scale, "axis": {"tickCount": 6}}
    place = {
        # Fonts differ from machine to machine: the axis keeps room of its own for the longest line.
        "y": {"field": "line", "type": "ordinal", "sort": lines, "title": None,
              "axis": {"ticks": False, "domain": False, "labelPadding": 8, "labelLimit": 260,
                       "minExtent": 14 + round(7.6 * max(map(len, lines)))}},
        "yOffset": {"field": "who", "sort": who},
    }  # fmt: skip
    header = {"title": None, "labelAnchor": "start", "labelAlign": "left", "labelPadding": 4}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "facet": {"field": "panel", "type": "ordinal", "sort": panels, "header": header},
        "columns": columns,
        "spec": {"width": _WIDTHS[columns], "height": {"step": _STEP}, "layer": _layers(place, x, who)},
        "config": _CONFIG,
    }


def _layers(place: dict[str, Any], x: dict[str, Any], who: list[str]) -> list[dict[str, Any]]:
    # One gateway below the other: a legend that measured its text with another font would overlap itself.
    legend = {"title": None, "orient": "top", "columns": 1, "labelLimit": 520, "symbolOpacity": 1}
    colour = {"field": "who", "type": "nominal", "scale": _given(who, _COLOURS), "legend": legend}
    shape = {"field": "who", "type": "nominal", "scale": _given(who, _SHAPES), "legend": legend}
    words = {"type": "text", "align": "left", "fontSize": 11, "color": "currentColor"}
    return [
        {"mark": {"type": "rule", "strokeWidth": 2, "opacity": 0.75},
         "transform": [{"filter": "datum.p95 !== null"}],
         "encoding": {**place, "x": x, "x2": {"field": "p95"}, "color": colour}},
        {"mark": {"type": "point", "filled": True, "size": 75, "opacity": 1},
         "transform": [{"filter": "datum.p50 !== null"}],
         "encoding": {**place, "x": x, "color": colour, "shape": shape}},
        {"mark": {**words, "dx": 9, "opacity": 0.8},
         "transform": [{"filter": "datum.end !== null"}],
         "encoding": {**place, "x": {**x, "field": "end"}, "text": {"field": "label"}}},
        {"mark": {**words, "dx": 5, "fontStyle": "italic", "limit": 330},
         "transform": [{"filter": "datum.said !== ''"}],
         "encoding": {**place, "x": {"value": 0}, "text": {"field": "said"}}},
    ]  # fmt: skip


def _given(who: list[str], looks: Sequence[str]) -> dict[str, Any]:
    return {"domain": who, "range": [looks[i % len(looks)] for i in range(len(who))]}


def _unique(rows: list[dict[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _datum(names: Names, drawing: Drawing, cell: CellSummary) -> dict[str, Any]:
    seen = _points(cell, drawing)
    timing = drawing.figure(cell)
    middle, high = (firm(timing, "p50"), firm(timing, "p95")) if seen else (None, None)
    return {
        "panel": drawing.panel(cell),
        "line": drawing.line(cell),
        "who": names.full(cell.gateway, cell.settings),
        "p50": None if middle is None else round(middle, 3),
        "p95": None if high is None else round(high, 3),
        "end": None if middle is None else round(max(middle, high if high is not None else middle), 3),
        "label": "" if middle is None else numbers.ms(middle),
        "said": "" if seen else f"{names.gateway(cell.gateway)}{_labelled(names, cell)}: {message(cell)}",
    }


def _labelled(names: Names, cell: CellSummary) -> str:
    label = names.label(cell.gateway)
    return f" ({label})" if label else ""


def _scale(rows: list[dict[str, Any]], axis: str) -> tuple[dict[str, Any], str]:
    values = [row[key] for row in rows for key in ("p50", "p95") if row[key] is not None]
    low, high = min(values), max(values)
    if low > 0 and high / low > _LOG_FROM:
        floor = 10 ** math.floor(math.log10(low))
        return {"type": "log", "domain": [floor, round(high * 1.5, 3)], "nice": False}, f"{axis} (logarithmic)"
    # Room at the right for the value that stands behind the end of a line.
    return {"type": "linear", "domain": [round(min(0.0, low * 1.1), 3), round(max(high * 1.2, 0.1), 3)]}, axis
