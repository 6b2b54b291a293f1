"""The project speaks of itself alone, and says what it means."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.contract.texts import CHECKOUT, files

# Spelt in pieces, so that this file does not find itself.
FORBIDDEN = {
    "a ticket": re.compile(r"(?i)\biss" + r"ue #?\d|\btick" + r"et #?\d"),
    "work left undone": re.compile(r"\bTO" + r"DO\b|\bFIX" + r"ME\b|\bXX" + r"X\b"),
    "how it was made": re.compile(
        r"(?i)co-authored" + r"-by|generated w" + r"ith|as an a" + r"i\b|\bthe le" + r"ad\b"
    ),
    "a paper that is not part of it": re.compile(r"\bCONTRA" + r"CTS\.md|\bDESI" + r"GN\.md|\bfac" + r"ts/\w+\.md"),
    "praise": re.compile(r"(?i)\bblazing|\bseamless|\bcutting" + r"-edge|\bstate-of" + r"-the-art"),
}
TEXTS = [
    path
    for path in files(".py", ".md", ".yaml", ".toml", ".j2", ".css", ".sh")
    if not path.is_relative_to(CHECKOUT / "tests" / "golden" / "files")
]


def forbidden(text: str) -> list[str]:
    """Lines of a text with what must not stand there."""
    return [
        f"line {number}: {what}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in FORBIDDEN.items()
        if pattern.search(line)
    ]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_no_forbidden_word(path: Path) -> None:
    """No ticket, no work left undone, no word on how it was made, no paper outside of it, no praise."""
    assert forbidden(path.read_text(encoding="utf-8", errors="replace")) == []


@pytest.mark.parametrize(
    "line", ["see iss" + "ue 12", "# TO" + "DO later", "Co-authored" + "-by: x", "as in DESI" + "GN.md"]
)
def test_a_forbidden_word_is_found(line: str) -> None:
    """Each kind is noticed."""
    assert forbidden(line)
