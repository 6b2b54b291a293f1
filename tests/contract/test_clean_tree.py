"""What must not stand in tracked files: hosts of package registries, paths of one machine, debris."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import PurePath

import pytest

from tests.contract.texts import CHECKOUT, Text, assert_none, hold, offenders, texts

# Spelt in pieces, so that this file does not find itself.
FORBIDDEN = re.compile(
    "|".join(
        ["files" + r"\.pythonhosted\.", "index" + r"\.crates\.io", "registry" + r"\.npmjs\.", "/ho" + "me/[a-z]{2,}"]
    )
)


def tracked() -> set[str]:
    """Return the names that git tracks; skip without git."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=False, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return {name for name in listed.stdout.split("\0") if name}


def places(text: Text) -> Iterator[str]:
    """Yield lines that name a registry's host or a person's folder."""
    for number, line in enumerate(text.text.splitlines(), 1):
        if FORBIDDEN.search(line):
            yield text.at(number, line.strip()[:80])


def debris(names: Iterable[str]) -> list[str]:
    """Return names of byte code and results."""
    return [
        name
        for name in names
        if "__pycache__" in PurePath(name).parts
        or name.endswith(".pyc")
        or (name.startswith("results/") and name != "results/README.md")
    ]


def test_no_registry_host_and_no_home_folder() -> None:
    """Tracked text names no package registry's host and no person's folder."""
    names = tracked()

    hold(places, [text for text in texts() if text.name in names])


def test_no_debris_is_tracked() -> None:
    """No byte code, results or environments are tracked."""
    assert_none(debris(tracked()))


def test_both_are_found() -> None:
    """A host, a folder and each kind of debris are noticed."""
    injected = Text("x.txt", "good\nfiles" + ".pythonhosted.org\n/ho" + "me/somebody\n")

    assert [found.split(": ")[0] for found in offenders(places, [injected])] == ["x.txt:2", "x.txt:3"]
    assert len(debris(["a/__pycache__/b", "b.pyc", "results/c/summary.json", "results/README.md", "d.py"])) == 3
