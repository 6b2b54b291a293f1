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
# Words that were replaced: in names of the code, and in what users read. Older documents keep theirs.
RETIRED_NAMES = re.compile(
    r"(?i)\bwitness|(?<!no )\binband|held_stream|holder_plan|\bscale_of\b|scale_chart|ride_along|rides_along"
    r"|read_left\b|[^_]remove_left\(|surroundings|NOT_TOLD|has_firm|stray_count|let_go\b"
)
RETIRED_PROSE = re.compile(
    r"\bplain answer|[Hh]eld stream|Calibration of the scale|rides along|wait for their answer"
    r"|\bweighed against|CPU a request|of one boot of one host|Signs and words"
)
HERE = "tests/contract/test_words.py"
OLDER = (
    "weighbridge/record/",
    "weighbridge/matrix/suggest.py",
    "tests/unit/record/",
    "tests/unit/matrix/test_calibration.py",
)
USERS_READ = ("README.md", "docs/", "templates/", "weighbridge/publish/", "tests/golden/files/")
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


def retired(text: Text) -> Iterator[str]:
    """Yield lines with a word that was replaced."""
    for number, line in enumerate(text.text.splitlines(), 1):
        if text.name.endswith(".py") and not text.name.startswith(OLDER) and (found := RETIRED_NAMES.search(line)):
            yield text.at(number, f"retired: {found[0]}")
        if (
            text.name.startswith(USERS_READ)
            and "changelog" not in text.name
            and (found := RETIRED_PROSE.search(line))
        ):
            yield text.at(number, f"retired: {found[0]}")


def test_no_retired_word() -> None:
    """What was renamed does not come back, in code or in what users read."""
    hold(
        retired,
        [text for text in texts() if text.name != HERE and "tests/data/" not in text.name],
    )


@pytest.mark.parametrize(
    ("name", "line"),
    [("weighbridge/x.py", "def read_left(): ..."), ("docs/x.md", "Added time of plain answers.")],
)
def test_a_retired_word_is_found(name: str, line: str) -> None:
    """A name in code and a phrase in prose are each noticed, with their line."""
    assert offenders(retired, [Text(name, f"Good.\n{line}\n")])[0].startswith(f"{name}:2: retired")


@pytest.mark.parametrize(
    "line",
    ["see iss" + "ue 12", "# TO" + "DO later", "Co-authored" + "-by: x", "as in DESI" + "GN.md", "seam" + "less"],
)
def test_a_forbidden_word_is_found(line: str) -> None:
    """Each kind is noticed, with its line."""
    (found,) = offenders(forbidden, [Text("docs/x.md", f"Good.\n{line}\n")])

    assert found.startswith("docs/x.md:2: ")
