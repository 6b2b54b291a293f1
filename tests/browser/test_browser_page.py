"""The rendered site in a real Chromium, from disk: no complaint, no request, nothing clipped, light and dark."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.browser.chromium import Chromium
from tests.golden.campaigns import HOSTILE, hostile, whole
from tests.golden.probed import probed
from weighbridge.publish.site.site import render
from weighbridge.publish.text.sanitise import plain
from weighbridge.record.summary import Summary

pytestmark = pytest.mark.browser

LOOKS = (
    (1280, False, "screen"), (1280, True, "screen"), (1121, False, "screen"), (921, False, "screen"),
    (900, False, "screen"),
    (600, True, "screen"), (380, False, "screen"), (1020, False, "print"),
)  # fmt: skip
CLIPPED = """[...document.querySelectorAll('.scroll, pre, figure, .answer')]
    .filter(e => e.scrollWidth > e.clientWidth + 1).map(e => e.getAttribute('aria-label') || e.className)"""
LOW_CONTRAST = """(() => {
  const parse = c => c.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const ground = e => { for (; e; e = e.parentElement) {
    const c = parse(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c; }
    return [255, 255, 255]; };
  const bad = [];
  const all = 'p, li, td, th, dt, dd, h1, h2, h3, small, summary, a, sup, figcaption';
  for (const e of document.querySelectorAll(all)) {
    if (!e.textContent.trim() || e.closest('.again, .hidden')) continue;
    const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(e.tagName + ' ' + e.className + ' ' + e.textContent.slice(0, 30));
  }
  return [...new Set(bad)].slice(0, 5);
})()"""


@pytest.fixture
def browser(tool, tmp_path: Path) -> Iterator[Chromium]:
    """A browser with a fresh profile."""
    profile = tmp_path / "profile"
    profile.mkdir()
    with Chromium(tool("chromium"), profile) as started:
        yield started


@pytest.mark.parametrize("made", [whole, probed])
def test_the_page_opens_from_disk_and_fits_every_window(
    browser: Chromium, tmp_path: Path, made: Callable[[], Summary]
) -> None:
    """No console message, one request (the file), no clipped table at any width or on paper, readable in the dark."""
    site = render(made(), tmp_path / "site")
    browser.look(1280)
    browser.open(site)
    for width, dark, media in LOOKS:
        browser.look(width, dark=dark, media=media)
        seen = (width, dark, media)
        browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
        assert browser.evaluate("document.documentElement.scrollWidth") <= width, seen
        assert browser.evaluate(CLIPPED) == [], seen
        if width in (1280, 600):
            assert browser.evaluate(LOW_CONTRAST) == [], seen
    shot = tmp_path / "page.png"
    browser.picture(shot)
    assert shot.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    assert browser.complaints() == []
    assert browser.requests() == [site.as_uri()]


def test_folded_tables_are_printed(browser: Chromium, tmp_path: Path) -> None:
    """On paper the folded tables are there without anybody opening them."""
    browser.look(1020, media="print")
    browser.open(render(whole(), tmp_path / "site"))
    assert browser.evaluate("document.querySelector('#c1-runs table').getBoundingClientRect().height") > 100


def test_pictures_are_drawn_as_files_too(browser: Chromium, tmp_path: Path) -> None:
    """A chart opened by itself is a picture with text in the colour of the scheme."""
    site = render(whole(), tmp_path / "site")
    browser.look(900, dark=True)
    browser.open(site.parent / "charts" / "c1-chart-1.svg")
    assert browser.evaluate("getComputedStyle(document.querySelector('text')).fill") == "rgb(230, 237, 243)"
    assert browser.complaints() == []


def test_hostile_text_does_nothing_in_a_browser(browser: Chromium, tmp_path: Path) -> None:
    """The gateway's markup is shown as text; nothing runs, nothing is asked for, nothing is clipped."""
    site = render(hostile(), tmp_path / "site")
    browser.look(600)
    browser.open(site)
    assert plain(HOSTILE)[:40] in browser.evaluate("document.body.innerText")
    assert browser.evaluate("document.scripts.length") == 0
    assert browser.evaluate(CLIPPED) == []
    assert browser.complaints() == []
    assert browser.requests() == [site.as_uri()]
