"""What must not stand in tracked files: hosts of package registries, paths of one machine, debris."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
# Spelt in pieces, so that this file does not find itself.
FORBIDDEN = re.compile(
    "|".join(
        ["files" + r"\.pythonhosted\.", "index" + r"\.crates\.io", "registry" + r"\.npmjs\.", "/ho" + "me/[a-z]{2,}"]
    )
)


def _tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=CHECKOUT, capture_output=True, check=False, text=True)
    if listed.returncode != 0:
        pytest.skip("not a git checkout")
    return [CHECKOUT / name for name in listed.stdout.split("\0") if name]


def test_no_registry_host_and_no_home_folder() -> None:
    """Tracked text names no package registry's host and no person's folder."""
    found = []
    for path in _tracked():
        if path.suffix in (".db", ".png", ".npz") or not path.is_file():
            continue
        for number, line in enumerate(path.read_text(errors="replace").splitlines(), 1):
            if FORBIDDEN.search(line):
                found.append(f"{path.relative_to(CHECKOUT)}:{number}")

    assert not found


def test_no_debris_is_tracked() -> None:
    """No byte code, results or environments are tracked."""
    debris = [
        str(path.relative_to(CHECKOUT))
        for path in _tracked()
        if "__pycache__" in path.parts
        or path.suffix == ".pyc"
        or (path.is_relative_to(CHECKOUT / "results") and path.name != "README.md")
    ]

    assert not debris
