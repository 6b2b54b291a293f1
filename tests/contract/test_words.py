"""The project speaks of itself alone, and says what it means."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

import pytest

from tests.contract.texts import Text, hold, offenders, texts

# Spelt in pieces, so that this file does not find itself.
FORBIDDEN = {
    "a ticket": re.compile(r"(?i)\biss" + r"ue #?\d|\btick" + r"et #?\d"),
    "work left undone": re.compile(r"\bTO" + r"DO\b|\bFIX" + r"ME\b|\bXX" + r"X\b"),
    "how it was made": re.compile(r"(?i)co-authored" + r"-by"),
    "a paper that is not part of it": re.compile(r"\bCONTRA" + r"CTS\.md|\bDESI" + r"GN\.md|\bfac" + r"ts/\w+\.md"),
    "praise": re.compile(r"(?i)\bblazing|\bseamless|\bcutting" + r"-edge|\bstate-of" + r"-the-art"),
}
READ = {".py", ".md", ".yaml", ".toml", ".j2", ".css", ".sh"}


def forbidden(text: Text) -> Iterator[str]:
    """Yield lines with what must not stand there."""
    for number, line in enumerate(text.text.splitlines(), 1):
        for what, pattern in FORBIDDEN.items():
            if pattern.search(line):
                yield text.at(number, what)


def test_no_forbidden_word() -> None:
    """No ticket, no work left undone, no word on how it was made, no paper outside of it, no praise."""
    read = [
        text
        for text in texts()
        if PurePath(text.name).suffix in READ and not text.name.startswith("tests/golden/files/")
    ]

    hold(forbidden, read)


@pytest.mark.parametrize(
    "line",
    ["see iss" + "ue 12", "# TO" + "DO later", "Co-authored" + "-by: x", "as in DESI" + "GN.md", "seam" + "less"],
)
def test_a_forbidden_word_is_found(line: str) -> None:
    """Each kind is noticed, with its line."""
    (found,) = offenders(forbidden, [Text("docs/x.md", f"Good.\n{line}\n")])

    assert found.startswith("docs/x.md:2: ")
