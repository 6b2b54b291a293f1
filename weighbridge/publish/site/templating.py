"""The template environments: HTML escapes by itself, Markdown escapes whatever is printed. Undefined names raise."""

from __future__ import annotations

from pathlib import Path

import jinja2

from weighbridge import resources
from weighbridge.publish.text.sanitise import markdown
from weighbridge.publish.views.views import Page


def html(page: Page, folder: Path | None = None) -> str:
    """Return the page as one HTML document."""
    return _environment(folder, autoescape=True).get_template("index.html.j2").render(page=page)


def markdown_text(page: Page, folder: Path | None = None) -> str:
    """Return the same page as Markdown, with charts as files beside it."""
    return _environment(folder, autoescape=False).get_template("index.md.j2").render(page=page)


def _environment(folder: Path | None, *, autoescape: bool) -> jinja2.Environment:
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(folder or resources.pages()),
        undefined=jinja2.StrictUndefined,
        # Markdown is no HTML: everything that its templates print goes through `markdown` instead.
        autoescape=autoescape,  # noqa: S701
        finalize=None if autoescape else markdown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
