"""wrk as it is found on PATH: its version as packagers print it, and what is said where it cannot be used."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from weighbridge.command import OnPath
from weighbridge.errors import ToolMissing
from weighbridge.load.wrk.driver import Wrk
from weighbridge.rig.install.on_path import find_on_path, require_on_path

WRK = Wrk.program
assert isinstance(WRK, OnPath)
USAGE = "Copyright (C) 2012 Will Glozer\nUsage: wrk <options> <url>"


def put_wrk(folder: Path, version_text: str) -> Path:
    """A program of that name that prints so and ends with 1, as wrk does for its version."""
    program = folder / "wrk"
    program.write_text(f"#!/bin/sh\ncat <<'END'\n{version_text}\nEND\nexit 1\n")
    program.chmod(0o755)
    return program


@pytest.mark.parametrize(
    ("version_text", "version"),
    [
        (f"wrk debian/4.1.0-3+b2 [epoll] {USAGE}", "4.1.0-3+b2"),
        (f"wrk 4.2.0 [kqueue] {USAGE}", "4.2.0"),
        (f"wrk 4.1.0-30-g0896020 [epoll] {USAGE}", "4.1.0-30-g0896020"),
        (f"wrk 10.0 [epoll] {USAGE}", "10.0"),
    ],
)
def test_a_wrk_on_path_is_used_with_its_version(tmp_path: Path, version_text: str, version: str) -> None:
    """Whatever stands before the number, and although `-v` ends with 1."""
    program = put_wrk(tmp_path, version_text)
    tool = require_on_path(WRK, f"{tmp_path}:/usr/bin:/bin")
    assert tool.path == program
    assert (tool.facts.name, tool.facts.version, tool.facts.source) == ("wrk", version, "path")
    assert tool.facts.sha256 == hashlib.sha256(program.read_bytes()).hexdigest()


@pytest.mark.parametrize(
    ("version_text", "reason"),
    [
        (f"wrk 4.0.2 [epoll] {USAGE}", "is version 4.0.2"),
        (f"wrk 3.1.2 [epoll] {USAGE}", "is version 3.1.2"),
        ("", "does not report its version"),
        ("usage: something else 4.1.0", "does not report its version"),
    ],
)
def test_another_or_an_old_wrk_is_passed_over(tmp_path: Path, version_text: str, reason: str) -> None:
    """The remark says why, and the error how to get a better one."""
    put_wrk(tmp_path, version_text)
    found = find_on_path(WRK, f"{tmp_path}:/usr/bin:/bin")
    assert found.tool is None
    assert reason in (found.remark or "")
    with pytest.raises(ToolMissing, match=f"{reason}.*apt install wrk"):
        require_on_path(WRK, f"{tmp_path}:/usr/bin:/bin")


def test_without_wrk_one_sentence_says_how_to_get_it(tmp_path: Path) -> None:
    """Both package managers are named; nothing is built or written."""
    with pytest.raises(ToolMissing, match=r"wrk 4\.1 .*`apt install wrk` or `brew install wrk`"):
        require_on_path(WRK, str(tmp_path))
    assert list(tmp_path.iterdir()) == []
