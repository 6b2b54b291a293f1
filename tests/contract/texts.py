"""Files of the checkout, each read and parsed once a session, and what stands in its documentation."""

from __future__ import annotations

import ast
import functools
import re
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
PAGES = tuple(
    sorted(
        [
            *CHECKOUT.glob("*.md"),
            *CHECKOUT.glob("docs/*.md"),
            CHECKOUT / "results" / "README.md",
            *CHECKOUT.glob("templates/gateways/*/NOTES.md"),
        ]
    )
)


# What git may list and nobody reads as text.
_BINARY = {".db", ".png", ".npz"}


@dataclass(frozen=True)
class Text:
    """A file by its path in the checkout, with its text; a snippet that a test plants is one too."""

    name: str
    text: str

    @functools.cached_property
    def tree(self) -> ast.Module:
        """The text as Python."""
        return ast.parse(self.text)

    def at(self, line: int, what: str) -> str:
        """Return an offence with its place."""
        return f"{self.name}:{line}: {what}"


# A rule looks at one file and yields its offences, each with its place.
Rule = Callable[[Text], Iterable[str]]


@dataclass(frozen=True)
class Fence:
    """A fenced block: its language and its text."""

    language: str
    text: str


def files(*endings: str) -> list[Path]:
    """Files of the project with these endings: what git tracks or would track, else everything not hidden."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=CHECKOUT, capture_output=True, check=False, text=True,
    )  # fmt: skip
    if listed.returncode == 0:
        found = [CHECKOUT / name for name in listed.stdout.split("\0") if name]
    else:
        found = [path for path in CHECKOUT.rglob("*") if not _is_hidden(path)]
    return sorted(path for path in found if path.is_file() and (not endings or path.suffix in endings))


@functools.cache
def texts() -> tuple[Text, ...]:
    """Return every text file of the project; read once a session, whatever number of rules look at it."""
    return tuple(
        Text(str(path.relative_to(CHECKOUT)), path.read_text(encoding="utf-8", errors="replace"))
        for path in files()
        if path.suffix not in _BINARY
    )


def sources(*folders: str) -> list[Text]:
    """Return Python files below these folders; without a folder, all but the tests."""
    below = tuple(f"{one}/" for one in folders)
    python = [text for text in texts() if text.name.endswith(".py") and not text.name.startswith("tests/")]
    return [text for text in python if text.name.startswith(below)] if below else python


def pages() -> list[Text]:
    """Return the pages of the documentation."""
    return [Text(str(path.relative_to(CHECKOUT)), path.read_text(encoding="utf-8")) for path in PAGES]


def offenders(rule: Rule, looked_at: Iterable[Text]) -> list[str]:
    """Return everything that a rule finds; a rule that looks at nothing is an offence itself."""
    found = list(looked_at)
    return [one for text in found for one in rule(text)] if found else ["the rule looks at no file"]


def hold(rule: Rule, looked_at: Iterable[Text]) -> None:
    """Fail with everything that breaks a rule, a line each."""
    assert_none(offenders(rule, looked_at))


def assert_none(found: Iterable[str]) -> None:
    """Fail with each offence on a line of its own, none of them cut."""
    listed = list(found)
    if listed:
        pytest.fail("\n" + "\n".join(listed), pytrace=False)


def fences(text: str) -> list[Fence]:
    """Fenced blocks of a Markdown text."""
    return [Fence(match[1], match[2]) for match in re.finditer(r"(?ms)^```(\w*)\n(.*?)^```$", text)]


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Lines with their number that are neither code, table, heading nor comment."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("```"):
            inside = not inside
        elif not inside and not line.startswith(("|", "#", "    ", "<!--")):
            yield number, line


def anchors(text: str) -> set[str]:
    """Anchors of the headings of a Markdown text, as code hosts make them."""
    heads = re.findall(r"(?m)^#+ (.+)$", re.sub(r"(?ms)^```.*?^```$", "", text))
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def links(text: str) -> list[str]:
    """Targets of the links of a Markdown text."""
    return re.findall(r"\]\(([^)\s]+)\)", re.sub(r"(?ms)^```.*?^```$", "", text))


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") or part == "__pycache__" for part in path.relative_to(CHECKOUT).parts)
