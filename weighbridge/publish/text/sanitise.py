"""Text made harmless: what a gateway, a tool or a file said, before it stands on a page or in a terminal.

Every view passes foreign text through `plain`; the Markdown templates print through `markdown`. HTML needs
nothing more than `plain`: its templates escape by themselves.
"""

from __future__ import annotations

import re
import unicodedata

# Terminal sequences: CSI, OSC up to its end, and two-character escapes.
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[@-_]?|\x9b[0-?]*[ -/]*[@-~]")
_SPACES = re.compile(r"\s+")
_MARKDOWN = re.compile(r"([\\`*_{}\[\]<>#|~$!&])")
_LINE_START = re.compile(r"^([-+=]+|\d+[.)])(?=\s|$)")
_LINKS = re.compile(r"(?i)\b(https?|ftp|www)(?=[:.])")

ELLIPSIS = "…"


class Code(str):
    """Text of an indented code block or of inline code: Markdown escapes nothing in it."""

    __slots__ = ()


def plain(text: str, limit: int = 600) -> str:
    """Make one line without terminal sequences, control characters or direction marks, at most `limit` characters."""
    text = _SPACES.sub(" ", _ESCAPES.sub("", text))
    text = "".join(c if unicodedata.category(c)[0] != "C" else "\N{REPLACEMENT CHARACTER}" for c in text).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + ELLIPSIS


def code(text: str) -> Code:
    """Return one clean line to stand in a code block."""
    return Code(plain(text, limit=4000))


def link(url: str | None) -> str:
    """Return the address when it is an ordinary web address, else nothing."""
    cleaned = plain(url or "")
    return cleaned if re.fullmatch(r"https?://[^\s\"'<>()\[\]\\`|]+", cleaned) else ""


def markdown(value: object) -> str:
    """Return text that Markdown shows as it is: no markup, no table edge, no HTML, no link by itself."""
    if isinstance(value, Code):
        return str(value)
    text = _MARKDOWN.sub(r"\\\1", plain(str(value), limit=4000))
    # A zero-width joiner would hide in copies; an entity shows the same and breaks the automatic link.
    text = _LINKS.sub(lambda found: found.group(1)[:-1] + f"&#{ord(found.group(1)[-1])};", text)
    return _LINE_START.sub(lambda found: _escaped_start(found.group(1)), text)


def _escaped_start(start: str) -> str:
    return f"{start[:-1]}\\{start[-1]}"
