"""Charts: pictures that need nothing else, have names, and hold reliable figures only."""

from __future__ import annotations

import functools
import re
from xml.etree import ElementTree

import pytest

from tests.golden.campaigns import cell, clients, hostile, rate, summary, timing, whole
from weighbridge.publish.charts import svg
from weighbridge.publish.charts.charts import charts
from weighbridge.publish.views.labels import names_of


def drawn(made):
    """Charts of a summary."""
    return charts(made, names_of(made), "c1")


@functools.cache
def whole_drawn():
    """Charts of the whole campaign, made once."""
    return drawn(whole())


def words(chart) -> str:
    """Text that stands in a picture."""
    root = ElementTree.fromstring(str(chart.svg))  # noqa: S314
    return " ".join("".join(part.itertext()) for part in root.iter() if part.tag.endswith("text"))


def test_a_picture_has_a_title_and_a_description() -> None:
    """Those who do not see it are told what it shows; the picture is one image to them."""
    for chart in whole_drawn():
        root = ElementTree.fromstring(str(chart.svg))  # noqa: S314
        assert root.get("role") == "img"
        title, description = root[0], root[1]
        assert root.get("aria-labelledby") == f"{title.get('id')} {description.get('id')}"
        assert title.text == chart.title
        assert "LiteLLM proxy" in (description.text or "")


def test_text_and_axes_take_the_colour_of_the_page() -> None:
    """No black or white is fixed in a picture, so light and dark both work; a file brings its own style."""
    for chart in whole_drawn():
        assert "currentColor" in chart.svg
        assert not re.search(r'(?:fill|stroke)="(?:#000|#fff|black|white)', chart.svg)
        assert "prefers-color-scheme:dark" in svg.as_file(str(chart.svg))


def test_a_cell_without_figures_says_so_in_its_place() -> None:
    """Saturated and not supported cells are words in the picture, never a missing dot."""
    first = words(whole_drawn()[0])
    assert first.count("LiteLLM proxy: served 66 of 150 per second") == 4
    assert first.count("LiteLLM proxy: not supported") == 4


def test_a_percentile_with_few_samples_is_not_drawn() -> None:
    """A grey p95 has no line; its p50 still has its dot and value."""
    few = timing(9.4, 700.0, 900.0, n=100).model_copy(update={"few_samples": {"p95": "95th of 100"}})
    load = clients(1)
    chart = drawn(summary([cell("direct", load), cell("litellm", load, shift_ms=few)]))[0]
    assert "9.40" in words(chart)
    assert "200" not in words(chart)


def test_a_wide_span_gets_a_logarithmic_axis_that_says_so() -> None:
    """From 1 to 700 ms small values stay readable; the axis names its scale."""
    loads = {1: 1.0, 50: 700.0}
    cells = [cell("litellm", clients(n), shift_ms=timing(v, v * 1.1, v * 1.2)) for n, v in loads.items()]
    assert "(logarithmic)" in words(drawn(summary(cells))[0])


def test_negative_shifts_are_drawn() -> None:
    """A shift below zero has its place left of zero."""
    load = rate(50)
    chart = drawn(summary([cell("direct", load), cell("litellm", load, shift_ms=timing(-2.0, -1.0, 3.0))]))[0]
    assert "−2.00" in words(chart)


def test_ids_of_two_pictures_never_meet() -> None:
    """Pictures stand in one document: every id is the picture's own."""
    ids = [i for chart in whole_drawn() for i in re.findall(r'\bid="([^"]+)"', chart.svg)]
    assert len(ids) == len(set(ids))


def test_ids_that_the_renderer_counts_become_the_pictures_own() -> None:
    """The renderer numbers clip paths from zero in each picture; in one document they must differ."""
    mark = {"type": "point", "clip": True}
    spec = {"data": {"values": [{"a": 1}]}, "mark": mark, "encoding": {"x": {"field": "a", "type": "quantitative"}}}
    pictures = [svg.render(spec, name=name, title="t", description="d") for name in ("one", "two")]
    assert [re.findall(r'clip-path="url\(#(\w+)-clip', text)[0] for text in pictures] == ["one", "two"]
    ids = [found for text in pictures for found in re.findall(r'\bid="([^"]+)"', text)]
    assert len(ids) == len(set(ids))


def test_hostile_names_are_text_in_a_picture() -> None:
    """Markup in a chain's name is well-formed text of the picture."""
    assert "<script>alert(1)" in words(drawn(hostile())[0])


@pytest.mark.parametrize(
    "bad",
    ["<svg><script>x</script></svg>", '<svg><g onclick="x"/></svg>', '<svg><image href="http://x"/></svg>',
     '<svg><a href="x"/></svg>', "<svg><foreignObject/></svg>", '<svg><g fill="url(http://x)"/></svg>'],
)  # fmt: skip
def test_a_picture_that_could_act_is_refused(bad: str) -> None:
    """Elements, handlers and addresses that a picture does not need are an error."""
    with pytest.raises(svg.UnsafeSvg):
        svg.check(bad)


def test_a_campaign_without_a_point_has_no_empty_chart() -> None:
    """Nothing to draw, nothing drawn."""
    assert drawn(summary([cell("direct", rate(50))])) == ()
