"""What runs under a name: every change of its files is seen and named, and only what differs is read again."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from weighbridge.rig.install.identity import FileIdentity, FileSet, difference

MODULE = "env/lib/pkg/a.py"


@pytest.fixture
def env(tmp_path: Path) -> Path:
    """A small environment: modules, byte code, a link to a folder and one that leads nowhere."""
    folder = tmp_path / "env"
    (folder / "lib" / "pkg" / "__pycache__").mkdir(parents=True)
    (folder / "lib" / "pkg" / "a.py").write_text("a = 1\n")
    (folder / "lib" / "pkg" / "b.py").write_text("b = 1\n")
    (folder / "lib" / "pkg" / "__pycache__" / "a.pyc").write_bytes(b"1")
    (folder / "lib64").symlink_to("lib")
    (folder / "gone").symlink_to("/nowhere/at/all")
    return folder


def rewritten(path: Path, text: str) -> None:
    """Write a file with its old time of change: its size is the caller's."""
    was = path.stat()
    path.write_text(text)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))


CHANGES: dict[str, tuple[Callable[[Path], object], str]] = {
    "content": (lambda env: (env / "lib/pkg/a.py").write_text("a = 2, and more\n"), f"{MODULE} was changed"),
    "same size and time": (lambda env: rewritten(env / "lib/pkg/a.py", "a = 2\n"), f"{MODULE} was changed"),
    "gone": (lambda env: (env / "lib/pkg/a.py").unlink(), f"{MODULE} is gone"),
    "new": (lambda env: (env / "lib/site.pth").write_text("import x\n"), "env/lib/site.pth was added"),
    "link": (lambda env: ((env / "gone").unlink(), (env / "gone").symlink_to("/else")), "env/gone was changed"),
    "two": (lambda env: [path.unlink() for path in (env / "lib/pkg").glob("*.py")], "is gone (and 1 more file)"),
}


@pytest.mark.parametrize(("change", "sentence"), CHANGES.values(), ids=CHANGES)
def test_each_change_is_named_and_gives_another_digest(
    env: Path, change: Callable[[Path], object], sentence: str
) -> None:
    """Another content, size and time kept or not, a file more or less, a link elsewhere: never the same identity."""
    before = FileIdentity.read(FileSet({"env": env}))
    assert before.changed() is None

    change(env)

    assert sentence in str(before.changed())
    assert FileIdentity.read(FileSet({"env": env})).sha256 != before.sha256


def test_byte_code_and_what_it_writes_itself_are_left_out(env: Path) -> None:
    """`__pycache__` and the recipe's patterns change nothing; a file beside them still does."""
    before = FileIdentity.read(FileSet({"env": env}, ("env/**/cache/*",)))

    (env / "lib" / "pkg" / "__pycache__" / "a.pyc").write_bytes(b"2")
    (env / "lib" / "pkg" / "cache").mkdir()
    (env / "lib" / "pkg" / "cache" / "x").write_text("x")
    assert before.changed() is None
    assert FileIdentity.read(before.files).sha256 == before.sha256

    (env / "lib" / "pkg" / "cache" / "deeper").mkdir()
    (env / "lib" / "pkg" / "cache" / "deeper" / "x").write_text("x")
    assert before.changed() == "env/lib/pkg/cache/deeper/x was added"


def test_only_what_differs_is_read_again(env: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A touched file is read once more and found the same; nothing else is opened."""
    before = FileIdentity.read(FileSet({"env": env}))
    read: list[str] = []
    digest = hashlib.file_digest

    def noted(file: Any, name: str) -> Any:
        read.append(file.name)
        return digest(file, name)

    monkeypatch.setattr(hashlib, "file_digest", noted)
    assert before.changed() is None
    assert read == []

    (env / "lib" / "pkg" / "b.py").touch()
    assert before.changed() is None
    assert read == [str(env / "lib" / "pkg" / "b.py")]


def test_one_program_alone_has_the_digest_that_everyone_gets(tmp_path: Path) -> None:
    """A single file is known by its plain SHA-256, so that it can be compared with a published one."""
    program = tmp_path / "gate"
    program.write_bytes(b"\x7fELF")

    found = FileIdentity.read(FileSet({"gate": program}))

    assert found.sha256 == hashlib.sha256(b"\x7fELF").hexdigest()
    assert found.digests == {"gate": found.sha256}


def test_of_a_checkout_only_modules_count(tmp_path: Path) -> None:
    """Results, hidden folders and byte code of a folder that somebody works in are no part of a gateway."""
    (tmp_path / ".venv").mkdir()
    (tmp_path / "results").mkdir()
    (tmp_path / "gate.py").write_text("")
    (tmp_path / ".venv" / "x.py").write_text("")
    (tmp_path / "results" / "run.json").write_text("")

    assert list(FileIdentity.read(FileSet({}, (), {"gate": tmp_path})).states) == ["gate/gate.py"]


def test_what_two_digests_have_in_common_is_no_difference() -> None:
    """Names that are in both with one digest are the same; the first that is not is told with how many more."""
    assert difference({"a": "1"}, {"a": "1"}) is None
    assert difference({"a": "1", "b": "1", "c": "1"}, {"b": "2", "c": "1", "d": "1"}) == (
        "b was changed (and 2 more files)"
    )
