"""Installs are whole or absent, one at a time, and what installers see of the environment is chosen."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from weighbridge.command import Command, Ended
from weighbridge.errors import ToolMissing
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import (
    MARKER,
    InstallMarker,
    Step,
    Workshop,
    being_built,
    exclusive,
    read_marker,
    run_step,
    write_marker,
)
from weighbridge.rig.install.installer_environment import for_installers, secrets_of
from weighbridge.rig.processes.supervisor import Supervisor

FACTS = ToolFacts(name="thing", version="1.0", sha256="0" * 64, source="python")


def fill_in(part: Path) -> None:
    """Put a program and its marker into a folder."""
    (part / "program").write_text("x")
    write_marker(part, InstallMarker(tool=FACTS, program="program"))


def test_a_folder_without_its_marker_is_not_installed(tmp_path: Path) -> None:
    """A program alone is nothing: only the marker makes it an install."""
    (tmp_path / "program").write_text("x")
    assert read_marker(tmp_path) is None
    fill_in(tmp_path)
    assert read_marker(tmp_path) == InstallMarker(tool=FACTS, program="program")


@pytest.mark.parametrize("damage", ["cut", "empty", "later", "program"])
def test_a_damaged_install_is_not_installed(tmp_path: Path, damage: str) -> None:
    """A cut, empty or later marker, and one whose program is gone, count as nothing."""
    fill_in(tmp_path)
    marker = tmp_path / MARKER
    if damage == "program":
        (tmp_path / "program").unlink()
    else:
        text = marker.read_text()
        marker.write_text(
            {"cut": text[:40], "empty": "", "later": text.replace("installed/1", "installed/9")}[damage]
        )
    assert read_marker(tmp_path) is None


def test_what_fails_leaves_nothing_and_what_was_there_stays(tmp_path: Path) -> None:
    """A failing install removes its own remains and does not touch the whole install of before."""
    folder = tmp_path / "tools" / "thing-1"
    with being_built(folder) as part:
        fill_in(part)

    def fail_half_way(part: Path) -> None:
        (part / "half").write_text("x")
        raise RuntimeError

    with pytest.raises(RuntimeError), being_built(folder) as part:
        fail_half_way(part)
    assert [entry.name for entry in folder.parent.iterdir()] == ["thing-1"]
    assert read_marker(folder) is not None


def test_remains_of_a_killed_install_are_removed_and_those_of_others_are_not(tmp_path: Path) -> None:
    """The next install of the same thing starts clean; another thing's unfinished folder is not its business."""
    folder = tmp_path / "thing-1"
    (tmp_path / ".thing-1.dead.part" / "deep").mkdir(parents=True)
    (tmp_path / ".thing-10.live.part").mkdir()
    folder.mkdir()  # unmarked: made by something that was cut
    with being_built(folder) as part:
        assert not list(part.iterdir())
        fill_in(part)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == [".thing-10.live.part", "thing-1"]


def test_a_block_that_writes_no_marker_has_installed_nothing(tmp_path: Path) -> None:
    """Without a marker at its end the folder does not appear."""
    with pytest.raises(ToolMissing), being_built(tmp_path / "thing") as part:
        (part / "program").write_text("x")
    assert not list(tmp_path.iterdir())


def test_a_second_process_waits_until_the_first_is_gone(tmp_path: Path) -> None:
    """The lock is told of while it is waited for, and falls with its holder even when that is killed."""
    hold = (
        "import sys, time; from pathlib import Path; from weighbridge.rig.install.atomic_install import exclusive\n"
        "with exclusive(Path(sys.argv[1]), print):\n  print('held', flush=True); time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", hold, str(tmp_path)], stdout=subprocess.PIPE)
    reported: list[str] = []
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"

        def report(text: str) -> None:
            reported.append(text)
            holder.kill()

        with exclusive(tmp_path, report):
            assert holder.wait() == -9
            with (tmp_path / "install.lock").open("a") as lock, pytest.raises(BlockingIOError):
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        holder.kill()
        holder.communicate()
    assert len(reported) == 1
    assert "waiting" in reported[0]


def workshop(tmp_path: Path, supervisor: Supervisor, reported: list[str], **environ: str) -> Workshop:
    """A workshop with the real supervisor."""
    return Workshop(supervisor, reported.append, {"PATH": os.environ["PATH"], **environ})


def test_a_failed_step_names_its_log_and_keeps_addresses_out_of_the_sentence(tmp_path: Path) -> None:
    """The sentence goes into records, so the program's own words are only told and logged, without secrets."""
    reported: list[str] = []
    step = Step(
        what="installing thing",
        argv=("sh", "-c", 'echo "no such package at $UV_INDEX_URL, $CARGO_REGISTRY_TOKEN" >&2; exit 3'),
        cwd=tmp_path,
        deadline_s=10,
    )
    environ = {"UV_INDEX_URL": "http://inside.example", "CARGO_REGISTRY_TOKEN": "hush"}
    with Supervisor(tmp_path / "state", search_path=os.environ["PATH"]) as supervisor:
        shop = workshop(tmp_path, supervisor, reported, **environ)
        with pytest.raises(ToolMissing) as failure:
            run_step(shop, step, tmp_path / ".weighbridge" / "logs" / "install-thing.log")
    assert str(failure.value) == (
        "installing thing ended with exit code 3; its output is in .weighbridge/logs/install-thing.log"
    )
    log = (tmp_path / ".weighbridge" / "logs" / "install-thing.log").read_text()
    assert "http://inside.example" in log
    assert "http://inside.example" in "".join(reported)
    assert "hush" not in log.partition("\n")[2] + "".join(reported)


def test_a_step_that_takes_too_long_says_so(tmp_path: Path) -> None:
    """A killed step is reported as too slow, not by the signal that ended it."""

    class Slow:
        def run(self, command: Command, *, watch: object = None) -> Ended:
            return Ended(exit_code=-9, wall_s=command.deadline_s, killed=True)

    step = Step(what="building thing", argv=("x",), cwd=tmp_path, deadline_s=60)
    with pytest.raises(ToolMissing, match="building thing took longer than 60 s"):
        run_step(Workshop(Slow(), print, {}), step, tmp_path / "home" / "logs" / "log")


def test_installers_see_what_the_machine_needs_and_nothing_else() -> None:
    """Index, certificates, proxies and homes pass; what would change the thing installed, and the rest, do not."""
    passed = {
        "PATH": "/bin",
        "HOME": "/home",
        "UV_INDEX_URL": "a",
        "UV_PYTHON_DOWNLOADS": "never",
        "PIP_CERT": "b",
        "SSL_CERT_FILE": "c",
        "https_proxy": "d",
        "CARGO_HOME": "e",
        "RUSTUP_TOOLCHAIN": "f",
    }
    refused = {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": "x",
        "VIRTUAL_ENV": "x",
        "LITELLM_LOG": "DEBUG",
        "UV_PYTHON": "3.9",
        "UV_CONSTRAINT": "x",
        "CARGO_TARGET_DIR": "x",
        "CARGO_PROFILE_RELEASE_LTO": "fat",
        "AWS_SECRET_ACCESS_KEY": "x",
    }
    assert for_installers({**passed, **refused}) == passed
    assert secrets_of({"CARGO_REGISTRY_TOKEN": "t", "UV_INDEX_X_PASSWORD": "p", "HOME": "/h", "A_TOKEN": ""}) == (
        "t",
        "p",
    )


def test_the_lock_is_free_again_after_the_block(tmp_path: Path) -> None:
    """Two installs one after the other in one process do not wait for each other."""
    reported: list[str] = []
    for _ in range(2):
        with exclusive(tmp_path, reported.append):
            pass
    assert reported == []
