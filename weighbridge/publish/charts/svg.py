"""SVG text of a chart specification: rendered by vl-convert, checked, named for those who do not see it.

The same specification gives the same bytes. Colours of text and axes are `currentColor`: inline the page sets it,
in a file of its own a small style sheet does, for light and dark.
"""

from __future__ import annotations

import json
import re
from html import escape
from html.parser import HTMLParser
from typing import Any

import vl_convert

# The Vega-Lite version is pinned: a newer bundled one must not change pages by itself.
VEGALITE = "5.21"

_ALLOWED = frozenset(
    {"svg", "g", "path", "text", "tspan", "rect", "line", "circle", "defs", "clippath", "title", "desc", "style"}
)
_ARIA = re.compile(r' (?:role|aria-[a-z]+)="[^"]*"')
_IDS = re.compile(r"\b(clip\d+)\b")
_STYLE = (
    "<style>:root{color:#24292f}text{font-family:system-ui,-apple-system,'Segoe UI',Arial,sans-serif}"
    "@media (prefers-color-scheme:dark){:root{color:#e6edf3}}</style>"
)


class UnsafeSvg(ValueError):
    """A rendered chart holds something that a picture does not need."""


def render(spec: dict[str, Any], *, name: str, title: str, description: str) -> str:
    """Return checked SVG text for a page; `name` makes its ids unique there."""
    raw = vl_convert.vegalite_to_svg(json.dumps(spec), vl_version=VEGALITE)
    picture = _IDS.sub(lambda found: f"{name}-{found[1]}", _ARIA.sub("", raw))
    opening, rest = picture.split(">", 1)
    opening = re.sub(r' (?:xmlns:xlink|version)="[^"]*"', "", opening)
    named = (
        f'{opening} role="img" aria-labelledby="{name}-title {name}-desc">'
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-desc">{escape(description)}</desc>'
    )
    picture = named + rest
    check(picture)
    return picture


def as_file(picture: str) -> str:
    """Return the same picture as a file of its own, which knows light and dark by itself."""
    opening, rest = picture.split(">", 1)
    return f"{opening}>{_STYLE}{rest}\n"


def check(picture: str) -> None:
    """Raise UnsafeSvg for any element, handler or address that a picture does not need."""
    reader = _SvgChecker()
    reader.feed(picture)
    reader.close()
    if reader.problem:
        raise UnsafeSvg(reader.problem)


class _SvgChecker(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.problem = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in _ALLOWED:
            self.problem = f"the element <{tag}>"
        for name, value in attrs:
            if name.startswith("on") or "href" in name or "url(" in (value or "").replace("url(#", ""):
                self.problem = f"the attribute {name} of <{tag}>"

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
