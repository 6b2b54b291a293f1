"""Charts of a campaign as Vega-Lite specifications: added time beside the baseline's, the shift, the first byte.

Dots are p50 with a band for its interval, lines run to p95; all come from reliable figures only. A cell without
figures says so in its place. Each gateway has a colour and a shape, neutral and given by its place in the matrix; the
baseline is grey.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from markupsafe import Markup

from weighbridge.matrix.cells import BASELINE
from weighbridge.publish.charts import svg
from weighbridge.publish.text.load_wording import LOAD_WORDS, by_kind, load_text
from weighbridge.publish.text.sanitise import code, plain
from weighbridge.publish.text.wording import absence_text
from weighbridge.publish.views.cells import reliable
from weighbridge.publish.views.headline import measures_added
from weighbridge.publish.views.labels import MODE_TEXT, Names, is_baseline
from weighbridge.publish.views.rows import grouped, ordered
from weighbridge.publish.views.shared import has_figures, loaded_warning, message
from weighbridge.publish.views.views import Chart
from weighbridge.record.figures import Absent, Timing, TimingOrAbsent
from weighbridge.record.metrics import TimeKey
from weighbridge.record.summary import CellSummary, Summary

# Mid tones with at least 3:1 against white and against the page's dark ground; shapes carry the same difference.
_COLOURS = ("#3a7fc1", "#c2701c", "#2a9168", "#8f66c9", "#cc4b6f", "#238a9c", "#8a7a1f")
_SHAPES = ("circle", "square", "diamond", "triangle-up", "cross", "triangle-down", "triangle-right")
_BASELINE_COLOUR, _BASELINE_SHAPE = "#7b8794", "triangle-left"
_WIDTHS, _ROW_STEP = {1: 520, 2: 340}, 18
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
class ChartPoint:
    """One dot of a chart: a cell, its figure, and where it stands."""

    cell: CellSummary
    figure: TimingOrAbsent
    panel: str
    line: str

    @property
    def is_seen(self) -> bool:
        """Whether there is a dot to draw."""
        return has_figures(self.cell) and reliable(self.figure, "p50") is not None


@dataclass(frozen=True)
class Picture:
    """A chart that is to be drawn."""

    title: str
    axis: str
    points: Sequence[ChartPoint]


def charts(summary: Summary, names: Names, anchor: str) -> tuple[Chart, ...]:
    """Return the charts in the order of the page; those without a single dot of a gateway are left out."""
    found: list[Picture] = []
    for disk in names.disks:
        where = f" on disk {plain(disk, limit=40)}" if names.varies_disk else ""
        here = [cell for cell in summary.cells if cell.disk == disk]
        for kind, cells in by_kind(here).items():
            found += _added(names, cells, f"{LOAD_WORDS[kind].how}{where}")
        found += [
            Picture(f"Shift, {LOAD_WORDS[kind].how}{where}", _SHIFT_AXIS, _shift(names, cells))
            for kind, cells in by_kind(here).items()
        ]
        found += _first_byte(names, here, where)
    seen = [picture for picture in found if any(p.is_seen and not is_baseline(p.cell) for p in picture.points)]
    return tuple(
        _chart(summary, names, f"{anchor}-chart-{number}", picture) for number, picture in enumerate(seen, start=1)
    )


_SHIFT_AXIS = "shift of the response time, ms"


def _added(names: Names, cells: list[CellSummary], where: str) -> Iterator[Picture]:
    """Yield one picture of plain responses, one of streams with both times; the baseline in each panel."""
    plain_cells = [cell for cell in cells if cell.mode == "plain"]
    streams = [cell for cell in cells if cell.mode == "stream"]
    if measures_added(plain_cells):
        points = _with_baselines(names, plain_cells, (("added_ms", ""),))
        yield Picture(f"Added time, {where}: non-streaming responses", "added time, ms", points)
    if measures_added(streams):
        both: tuple[_Series, ...] = (
            ("added_first_ms", " · to the first content"),
            ("added_total_ms", " · to the end"),
        )
        yield Picture(f"Added time, {where}: streams", "added time, ms", _with_baselines(names, streams, both))


_Series = tuple[TimeKey, str]


def _with_baselines(names: Names, cells: list[CellSummary], series: Sequence[_Series]) -> list[ChartPoint]:
    return [
        ChartPoint(cell, cell.timing(key), f"{names.policy(group[-1])}{suffix}", load_text(cell.load))
        for group in grouped(names, cells, names.order)
        for key, suffix in series
        for cell in ordered(names, group)
    ]


def _shift(names: Names, cells: list[CellSummary]) -> list[ChartPoint]:
    measured = _measured(names, cells)
    return [ChartPoint(cell, cell.timing("shift_ms"), names.work(cell), load_text(cell.load)) for cell in measured]


def _first_byte(names: Names, cells: list[CellSummary], where: str) -> Iterator[Picture]:
    """Yield the first byte's shift at one client; nothing where added time to the first content says it better."""
    serial = [cell for cell in _measured(names, cells) if cell.load.is_serial]
    if any(cell.has("added_first_ms") for cell in serial):
        return
    points = [
        ChartPoint(cell, cell.timing("ttfb_shift_ms"), MODE_TEXT[cell.mode], names.policy(cell)) for cell in serial
    ]
    yield Picture(
        f"Time to first byte at one client{where}",
        "shift of the time to first byte, ms",
        [point for point in points if point.is_seen],
    )


def _measured(names: Names, cells: list[CellSummary]) -> list[CellSummary]:
    return sorted(
        (cell for cell in cells if not is_baseline(cell)),
        key=lambda cell: (names.order(cell), names.place(cell), names.rank(cell)),
    )


def _chart(summary: Summary, names: Names, name: str, picture: Picture) -> Chart:
    warning = loaded_warning(summary)
    cells = sorted(
        (point.cell for point in picture.points), key=lambda cell: (not is_baseline(cell), names.rank(cell))
    )
    who = list(dict.fromkeys(names.full(cell.gateway, cell.settings) for cell in cells))
    description = (
        f"{picture.axis[:1].upper()}{picture.axis[1:]}: a dot and its value for p50, a band for its "
        f"interval, a line to p95, for "
        f"{', '.join(who)}. Every value stands in the tables below.{' ' + warning + '.' if warning else ''}"
    )
    baseline = names.full(BASELINE) if any(is_baseline(cell) for cell in cells) else ""
    spec = specification(
        picture.axis, [_datum(names, point) for point in picture.points], Looks(tuple(who), baseline)
    )
    return drawn(spec, Chart(name, picture.title, description, code(f"charts/{name}.svg"), Markup(), warning))


def drawn(spec: dict[str, Any], chart: Chart) -> Chart:
    """Return the chart with its picture, checked by `svg`: no element or address that a picture does not need."""
    text = svg.render(spec, name=chart.id, title=chart.title, description=chart.description)
    return replace(chart, svg=Markup(text))  # noqa: S704


@dataclass(frozen=True)
class Looks:
    """Who stands in a chart, in order; the baseline, where it does, looks like no gateway."""

    who: tuple[str, ...]
    baseline: str = ""

    def scale(self, looks: Sequence[str], baseline_look: str) -> dict[str, Any]:
        """Return the Vega-Lite scale from name to look."""
        gateways = [name for name in self.who if name != self.baseline]
        given = {name: looks[i % len(looks)] for i, name in enumerate(gateways)} | {self.baseline: baseline_look}
        return {"domain": list(self.who), "range": [given[name] for name in self.who]}


def specification(axis_title: str, rows: list[dict[str, Any]], looks: Looks) -> dict[str, Any]:
    """Specify a chart for Vega-Lite: a panel for each chain and mode, one colour and shape a gateway."""
    panels, lines = _unique(rows, "panel"), _unique(rows, "line")
    columns = min(2, len(panels))
    scale, axis = _scale(rows, axis_title)
    x = {"field": "p50", "type": "quantitative", "title": axis, "scale": scale, "axis": {"tickCount": 6}}
    place = {
        # Fonts differ from machine to machine: the axis keeps room of its own for the longest line.
        "y": {"field": "line", "type": "ordinal", "sort": lines, "title": None,
              "axis": {"ticks": False, "domain": False, "labelPadding": 8, "labelLimit": 260,
                       "minExtent": 14 + round(7.6 * max(map(len, lines)))}},
        "yOffset": {"field": "who", "sort": list(looks.who)},
    }  # fmt: skip
    header = {"title": None, "labelAnchor": "start", "labelAlign": "left", "labelPadding": 4}
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"values": rows},
        "facet": {"field": "panel", "type": "ordinal", "sort": panels, "header": header},
        "columns": columns,
        "spec": {"width": _WIDTHS[columns], "height": {"step": _ROW_STEP}, "layer": _layers(place, x, looks)},
        "config": _CONFIG,
    }


def _layers(place: dict[str, Any], x: dict[str, Any], looks: Looks) -> list[dict[str, Any]]:
    # One gateway below the other: a legend that measured its text with another font would overlap itself.
    legend = {"title": None, "orient": "top", "columns": 1, "labelLimit": 520, "symbolOpacity": 1}
    colours, shapes = looks.scale(_COLOURS, _BASELINE_COLOUR), looks.scale(_SHAPES, _BASELINE_SHAPE)
    colour = {"field": "who", "type": "nominal", "scale": colours, "legend": legend}
    shape = {"field": "who", "type": "nominal", "scale": shapes, "legend": legend}
    words = {"type": "text", "align": "left", "fontSize": 11, "color": "currentColor"}
    return [
        {"mark": {"type": "rule", "strokeWidth": 9, "opacity": 0.28},
         "transform": [{"filter": "isValid(datum.low)"}],
         "encoding": {**place, "x": {**x, "field": "low"}, "x2": {"field": "high"}, "color": colour}},
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
         "transform": [{"filter": "datum.message !== ''"}],
         "encoding": {**place, "x": {"value": 0}, "text": {"field": "message"}}},
    ]  # fmt: skip


def _unique(rows: list[dict[str, Any]], key: str) -> list[str]:
    return list(dict.fromkeys(row[key] for row in rows))


def _datum(names: Names, point: ChartPoint) -> dict[str, Any]:
    cell, timing, seen = point.cell, point.figure, point.is_seen
    middle, high = (reliable(timing, "p50"), reliable(timing, "p95")) if seen else (None, None)
    low, up = _ends(timing) if seen else (None, None)
    return {
        "panel": point.panel,
        "line": point.line,
        "who": names.full(cell.gateway, cell.settings),
        "p50": None if middle is None else round(middle, 3),
        "p95": None if high is None else round(high, 3),
        "low": None if up is None else low,
        "high": None if low is None else up,
        "end": None if middle is None else round(max(middle, high if high is not None else middle), 3),
        "label": "" if middle is None else names.digits.ms(middle),
        "message": "" if seen else f"{names.gateway(cell.gateway)}{_labelled(names, cell)}: {_why(point)}",
    }


def _ends(timing: TimingOrAbsent) -> tuple[float | None, float | None]:
    """Return the ends of the median's interval, None where it has none or where it is open."""
    found = timing.interval.p50 if isinstance(timing, Timing) and timing.interval is not None else None
    if found is None or found.low is None or found.high is None:
        return None, None
    return round(found.low, 3), round(found.high, 3)


def _why(point: ChartPoint) -> str:
    """Return the words in the place of a dot."""
    if has_figures(point.cell) and isinstance(point.figure, Absent):
        return absence_text(point.figure)
    return message(point.cell)


def _labelled(names: Names, cell: CellSummary) -> str:
    label = names.label(cell.gateway)
    return f" ({label})" if label else ""


def _scale(rows: list[dict[str, Any]], axis: str) -> tuple[dict[str, Any], str]:
    values = [row[key] for row in rows for key in ("p50", "p95", "low", "high") if row.get(key) is not None]
    low, high = min(values), max(values)
    if low > 0 and high / low > _LOG_FROM:
        baseline = 10 ** math.floor(math.log10(low))
        return {"type": "log", "domain": [baseline, round(high * 1.5, 3)], "nice": False}, f"{axis} (logarithmic)"
    # Room at the right for the value that stands behind the end of a line.
    return {"type": "linear", "domain": [round(min(0.0, low * 1.1), 3), round(max(high * 1.2, 0.1), 3)]}, axis
