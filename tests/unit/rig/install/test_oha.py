"""Which oha is used, how our own is built, and what stands in the record of it.

The cargo and the oha of these tests are stand-ins on PATH.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from weighbridge.errors import ToolMissing
from weighbridge.rig.install import oha
from weighbridge.rig.install.atomic_install import Workshop
from weighbridge.rig.install.toolbox import Toolbox
from weighbridge.rig.processes.supervisor import Supervisor

# Notes its arguments and environment, then does as cargo does: an executable in ROOT/bin, byproducts in the target.
CARGO = """#!/bin/sh
echo "$@" >> "{notes}/argv"
env >> "{notes}/env"
while [ $# -gt 0 ]; do [ "$1" = --root ] && root=$2; shift; done
mkdir -p "$CARGO_TARGET_DIR/release/.fingerprint/tokio-0a1b" "$root/bin"
printf '#!/bin/sh\\necho "oha {version}"\\n' > "$root/bin/oha"
chmod +x "$root/bin/oha"
{end}
"""


def executable(path: Path, text: str) -> Path:
    """A script that can be run."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def put_oha(folder: Path, version_text: str) -> Path:
    """An oha that returns `--version` with `says`."""
    return executable(folder / "oha", f"#!/bin/sh\necho '{version_text}'\n")


class Bench:
    """A home, a PATH with a cargo on it, the real supervisor and what was told."""

    def __init__(self, tmp_path: Path, supervisor: Supervisor) -> None:
        self.notes = tmp_path / "notes"
        self.notes.mkdir()
        self.bin = tmp_path / "bin"
        self.home = tmp_path / ".weighbridge"
        self.reported: list[str] = []
        self.environ = {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(tmp_path)}
        self.shop = Workshop(supervisor, self.reported.append, self.environ)
        self.tools = Toolbox(self.home)
        self.put_cargo()

    def put_cargo(self, version: str = oha.VERSION, end: str = "") -> None:
        """A cargo that builds an oha of that version and then does `end`."""
        executable(self.bin / "cargo", CARGO.format(notes=self.notes, version=version, end=end))

    def calls(self) -> list[str]:
        """Arguments of every call of cargo."""
        return (self.notes / "argv").read_text().splitlines()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    """Everything that a build needs."""
    with Supervisor(tmp_path / "state", search_path=os.environ["PATH"]) as supervisor:
        yield Bench(tmp_path, supervisor)


@pytest.mark.parametrize("version", ["1.14.0", "1.16.0", "2.0.0"])
def test_a_new_enough_oha_on_path_is_used(bench: Bench, version: str) -> None:
    """It is recorded with its version and the digest of its file, and cargo is not asked."""
    program = put_oha(bench.bin, f"oha {version}")
    tool = bench.tools.ensure_oha(bench.shop)
    assert tool.path == program
    assert (tool.facts.version, tool.facts.source, tool.facts.build) == (version, "path", None)
    assert tool.facts.sha256 == hashlib.sha256(program.read_bytes()).hexdigest()
    assert bench.reported == []


@pytest.mark.parametrize("version", ["1.13.0", "1.9.9", "0.6.5"])
def test_an_old_oha_on_path_is_refused_by_its_version(bench: Bench, version: str) -> None:
    """Older ones invert the correction: the version is said, and our own is built instead."""
    put_oha(bench.bin, f"oha {version}")
    found = bench.tools.find_oha(bench.environ["PATH"])
    assert found.tool is None
    assert found.remark is not None
    assert version in found.remark
    assert bench.tools.ensure_oha(bench.shop).facts.source == "cargo"
    assert version in bench.reported[0]


@pytest.mark.parametrize("version_text", ["", "ohai 1.16.0", "oha", "usage: oha"])
def test_an_oha_that_does_not_tell_its_version_is_not_used(bench: Bench, version_text: str) -> None:
    """A program of that name that says something else is passed over, with a remark."""
    put_oha(bench.bin, version_text)
    found = bench.tools.find_oha(bench.environ["PATH"])
    assert found.tool is None
    assert "does not report its version" in (found.remark or "")


def test_without_oha_and_cargo_one_sentence_says_how_to_get_them(bench: Bench) -> None:
    """The sentence names both ways, and nothing is left behind."""
    (bench.bin / "cargo").unlink()
    with pytest.raises(ToolMissing, match=r"oha 1\.14 or later .* put it on PATH .* cargo"):
        bench.tools.ensure_oha(bench.shop)
    assert not bench.home.exists()


def test_the_build_is_pinned_said_before_and_recorded(bench: Bench) -> None:
    """The call is pinned and locked, time and size are told first, and the record names what differs."""
    tool = bench.tools.install_oha(bench.shop)
    words = bench.calls()[0].split()
    assert words[:5] == ["install", "oha", "--version", oha.VERSION, "--locked"]
    assert "minutes" in bench.reported[0]
    assert "MB" in bench.reported[0]
    assert tool.facts.build == "without LTO, 16 codegen units"
    assert tool.facts.sha256 == hashlib.sha256(tool.path.read_bytes()).hexdigest()
    seen = (bench.notes / "env").read_text()
    assert "CARGO_PROFILE_RELEASE_LTO=false" in seen
    assert "CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16" in seen


def test_a_build_as_published_has_no_settings_of_anyone(bench: Bench) -> None:
    """Neither ours nor the caller's: then the record has no build to name."""
    bench.environ["CARGO_PROFILE_RELEASE_LTO"] = "off"
    tool = bench.tools.install_oha(bench.shop, "published")
    assert tool.facts.build is None
    assert "CARGO_PROFILE_" not in (bench.notes / "env").read_text()


def test_a_second_install_does_nothing_and_no_build_files_stay(bench: Bench) -> None:
    """One call of cargo for two installs; only the result is kept."""
    first = bench.tools.install_oha(bench.shop)
    assert bench.tools.install_oha(bench.shop) == first
    assert bench.tools.ensure_oha(bench.shop) == first
    assert len(bench.calls()) == 1
    assert not list((bench.home / "build").iterdir())
    assert [entry.name for entry in (bench.home / "tools").iterdir()] == [f"oha-{oha.VERSION}-fast"]


def test_a_failed_build_says_where_its_output_is_and_the_next_one_works(bench: Bench) -> None:
    """Nothing of it stays but the log, and it is not taken for an install."""
    bench.put_cargo(end='echo "error: linker cc not found" >&2; exit 101')
    with pytest.raises(ToolMissing, match=r"exit code 101; its output is in \.weighbridge/logs/install-oha\.log"):
        bench.tools.install_oha(bench.shop)
    assert "linker cc not found" in (bench.home / "logs" / "install-oha.log").read_text()
    assert any("linker cc not found" in text for text in bench.reported)
    assert not list((bench.home / "tools").iterdir())
    assert bench.tools.find_oha(bench.environ["PATH"]).tool is None
    bench.put_cargo()
    assert bench.tools.install_oha(bench.shop).facts.version == oha.VERSION


def test_another_version_than_asked_is_not_installed(bench: Bench) -> None:
    """A registry or a wrapper that gives another oha does not get its result recorded as ours."""
    bench.put_cargo(version="1.13.0")
    with pytest.raises(ToolMissing, match=r"1\.13\.0; expected 1\.16\.0"):
        bench.tools.install_oha(bench.shop)


def test_a_changed_program_is_not_used_and_built_again(bench: Bench) -> None:
    """A file that is not the one that was built fails its digest."""
    tool = bench.tools.install_oha(bench.shop)
    tool.path.write_bytes(tool.path.read_bytes() + b"# changed\n")
    assert bench.tools.find_oha(bench.environ["PATH"]).tool is None
    assert "# changed" not in bench.tools.install_oha(bench.shop).path.read_text()
    assert len(bench.calls()) == 2


def test_progress_is_told_while_cargo_builds(bench: Bench) -> None:
    """Crates that were begun are counted, once each whatever number of units they have; planned ones are not."""
    units = " ".join(f"crate-{letter}-{number}" for letter in "abcdefghijklm" for number in "12")
    mark = bench.notes / "seen"
    bench.put_cargo(
        # Put there at once: only every tenth crate is told.
        end=f'cd "$CARGO_TARGET_DIR/release"; mkdir begun; cd begun; mkdir planned-0a1b {units}; n=0\n'
        f"for unit in {units}; do touch $unit/invoked.timestamp; done\n"
        "cd ..; mv .fingerprint planned; mv begun .fingerprint\n"
        f'while [ ! -e "{mark}" ] && [ $n -lt 200 ]; do sleep 0.1; n=$((n+1)); done'
    )

    def report(text: str) -> None:
        bench.reported.append(text)
        if ": 13 of" in text:
            mark.touch()

    bench.tools.install_oha(Workshop(bench.shop.runner, report, bench.environ))
    assert f"building oha {oha.VERSION}: 13 of about {oha.CRATE_COUNT} crates" in bench.reported
