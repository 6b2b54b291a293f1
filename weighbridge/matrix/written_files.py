"""Patterns of the files that a gateway writes among its own: relative, with `*`, `?` and `**` for any folders."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from pydantic import BeforeValidator

from weighbridge.matrix.strict import refused, shown

_WRITTEN_FORM = "expected a relative path with at least one whole name in it, such as cache/* or logs/**"

_WILDCARDS: Mapping[str, str] = MappingProxyType({"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"})


def _pattern(value: object) -> object:
    if not isinstance(value, str):
        raise refused(f"{shown(value)} is no text", _WRITTEN_FORM)
    parts = value.split("/")
    if not re.fullmatch(r"[!-~]+", value, re.ASCII) or any(part in ("", ".", "..") for part in parts):
        raise refused(f"{shown(value)} cannot be used here", _WRITTEN_FORM)
    # One that has no whole name could leave out a whole gateway.
    if not any(re.fullmatch(r"[^*?\[\]\\]+", part) for part in parts):
        raise refused(f"{shown(value)} names no file or folder", _WRITTEN_FORM)
    return value


WRITTEN = BeforeValidator(_pattern)


def matcher(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return what tells whether one of the patterns is for a file of a relative name."""
    if not patterns:
        return lambda _name: False
    found = re.compile("|".join(f"(?:{_translated(pattern)})" for pattern in patterns), re.DOTALL)
    return lambda name: found.fullmatch(name) is not None


def _translated(pattern: str) -> str:
    """Return a pattern as an expression: `**/` is any folders or none, a last `**` all below, `*` stays in a name."""
    words = re.findall(r"\*\*/|\*\*|\*|\?|[^*?]+", pattern)
    return "".join(_WILDCARDS.get(word, re.escape(word)) for word in words)
