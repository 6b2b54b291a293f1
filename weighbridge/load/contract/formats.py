"""What a driver tells of the files that its tool writes: how each is recognised, and how it is read.

Each tool's folder has its own; they are joined in `drivers` and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbridge.load.contract.reading import ReportReading


@dataclass(frozen=True)
class Found:
    """What a file holds: its format, the decoded text or document, and the noise that stood around it."""

    format: Format
    text: str = ""
    document: Mapping[str, Any] | None = None
    noise: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Return the noise as remarks of the report."""
        return tuple(f"beside the report stood: {line[:200]}" for line in self.noise)


@dataclass(frozen=True)
class Beside:
    """What was given beside the file."""

    argv: Sequence[str] | None = None
    samples: Path | None = None
    tool_version: str | None = None


@dataclass(frozen=True)
class Format:
    """One kind of file, recognised by its first bytes, the first line of its text, or its JSON document.

    `claims` may raise InputError for a document that is this tool's and of a version that is not known.
    """

    name: str
    read: Callable[[Found, Path, Beside], ReportReading]
    magic: bytes | None = None
    header: str | None = None
    claims: Callable[[Mapping[str, Any], Path], bool] | None = None


@dataclass(frozen=True)
class Hint:
    """What to say of a text that is no report: when all of `words` stand in it, its problem and what to do."""

    words: tuple[str, ...]
    problem: str
    advice: str


@dataclass(frozen=True)
class Formats:
    """What is known of the files of one tool, or of several together; `what` is what one may give."""

    formats: tuple[Format, ...]
    what: str
    hints: tuple[Hint, ...] = ()
