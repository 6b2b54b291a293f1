"""What becomes of the children when their supervisor's process is signalled or killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from weighbridge.rig.processes import ports
from weighbridge.rig.processes.cleanup import clean_up
from weighbridge.rig.tree import process_tree

# Holds a port, and has a grandchild that left the session and lost its parent; both ignore TERM when told so.
CHILD = """
import signal, socket, subprocess, sys
if "ignoring" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
subprocess.run(["sh", "-c", "setsid sleep 60 & echo orphan $!"])
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("up", flush=True)
while True:
    signal.pause()
"""
PARENT = """
import sys, time
from pathlib import Path
from weighbridge.command import Command
from weighbridge.errors import Interrupted
from weighbridge.rig.processes.child import Service
from weighbridge.rig.processes.signals import StopSignals
from weighbridge.rig.processes.supervisor import Supervisor
state, port, code = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
argv = (sys.executable, "-c", code, str(port), *sys.argv[4:])
try:
    with StopSignals(), Supervisor(state) as supervisor:
        child = supervisor.start(Service("stubborn", argv, state, state / "log", ports=(port,), grace_s=0.2))
        while "up" not in child.service.log.read_text():
            assert child.alive(), child.log_tail()
            time.sleep(0.01)
        print(supervisor.guard.pid, child.pid, child.service.log.read_text().split()[1], flush=True)
        supervisor.run(Command(("sleep", "60"), state, 60.0))
except Interrupted as stop:
    sys.exit(stop.exit_code)
"""


@dataclass
class Parent:
    """A process that holds a supervisor, and what it has started."""

    process: subprocess.Popen[str]
    state: Path
    port: int
    guardian: process_tree.Member
    child: int
    orphan: int
    tag: str

    def await_clean(self) -> None:
        """Fail unless no tagged process, no guardian and no taken port is left."""
        deadline = time.monotonic() + 30
        while process_tree.find((), self.tag) or process_tree.is_alive(self.guardian):
            assert time.monotonic() < deadline, f"left: {process_tree.find((), self.tag)}"
            time.sleep(0.02)
        assert ports.is_free(self.port)
        assert process_tree.start_of(self.child) is None
        assert process_tree.start_of(self.orphan) is None

    def await_count(self, count: int) -> None:
        """Wait until as many tagged processes as asked for are there."""
        deadline = time.monotonic() + 30
        while len(process_tree.find((), self.tag)) != count:
            assert time.monotonic() < deadline
            time.sleep(0.02)


@pytest.fixture
def parent(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Parent]:
    """A running parent with a child, an orphan and a command; all are ended after the test, however it went."""
    (port,) = ports.choose(1, None)
    process = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(tmp_path), str(port), CHILD, getattr(request, "param", "polite")],
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    assert process.stdout
    guardian, child, orphan = (int(word) for word in process.stdout.readline().split())
    tag = json.loads((tmp_path / "processes.json").read_text())["tag"] + "."
    member = process_tree.Member(guardian, process_tree.start_of(guardian) or "")
    made = Parent(process, tmp_path, port, member, child, orphan, tag)
    made.await_count(3)
    yield made
    process.kill()
    process.communicate()
    process_tree.end(lambda: process_tree.find((), tag), term_s=0)
    process_tree.send([member], signal.SIGKILL)


ignoring = pytest.mark.parametrize("parent", ["ignoring"], indirect=True)


@pytest.mark.parametrize(
    ("parent", "to_group"), [("ignoring", False), ("polite", True)], indirect=["parent"], ids=["alone", "group"]
)
def test_a_killed_parent_leaves_nothing(parent: Parent, to_group: bool) -> None:
    """KILL of the parent, alone or with its group: the guardian stops all, orphans included, and frees the port."""
    (os.killpg if to_group else os.kill)(parent.process.pid, signal.SIGKILL)
    assert parent.process.wait(30) == -signal.SIGKILL
    parent.await_clean()
    log = (parent.state / "guardian.log").read_text()
    assert "the supervisor is gone; stopping stubborn" in log
    assert log.endswith("done\n" if to_group else "done, with KILL\n")


@pytest.mark.parametrize(
    ("number", "to_group"),
    [(signal.SIGINT, False), (signal.SIGINT, True), (signal.SIGTERM, False), (signal.SIGHUP, True)],
)
def test_a_signal_stops_everything_in_order(parent: Parent, number: signal.Signals, to_group: bool) -> None:
    """INT, TERM and HUP in a running command: exit code 128 + n, nothing left, state folder tidy."""
    (os.killpg if to_group else os.kill)(parent.process.pid, number)
    assert parent.process.wait(30) == 128 + number
    parent.await_clean()
    assert {path.name for path in parent.state.iterdir()} == {"log"}


@ignoring
def test_a_second_signal_does_not_cut_the_stop(parent: Parent) -> None:
    """TERM and HUP right after INT change neither the exit code nor the clean-up."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(parent.process.pid, number)
        time.sleep(0.05)
    assert parent.process.wait(30) == 130
    parent.await_clean()
    assert not (parent.state / "processes.json").exists()


@ignoring
def test_a_third_int_ends_the_parent_and_the_guardian_cleans(parent: Parent) -> None:
    """Three INTs end the parent at once, in the middle of its clean-up; the guardian does the rest."""
    os.kill(parent.process.pid, signal.SIGINT)
    parent.await_count(
        2
    )  # the command has gone: the stop is under way, and the child that ignores signals holds it up
    os.kill(parent.process.pid, signal.SIGINT)
    time.sleep(0.05)
    os.kill(parent.process.pid, signal.SIGINT)
    assert parent.process.wait(30) == 130
    assert (parent.state / "processes.json").exists(), "the parent had time for its own clean-up"
    parent.await_clean()


def test_the_guardian_ignores_stop_signals(parent: Parent) -> None:
    """Signals that reach the guardian itself do not end it before its parent does."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        os.kill(parent.guardian.pid, number)
    parent.process.kill()
    parent.process.wait()
    parent.await_clean()
    assert "done" in (parent.state / "guardian.log").read_text()


def test_a_parent_killed_while_its_guardian_is_replaced(parent: Parent) -> None:
    """A second guardian that has only just been started, and was told nothing yet, cleans up all the same."""
    os.kill(parent.guardian.pid, signal.SIGKILL)
    deadline = time.monotonic() + 30
    while not (others := _guardians(parent)):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    (parent.guardian,) = others
    parent.process.kill()
    parent.process.wait()
    parent.await_clean()


def test_the_cleanup_is_the_second_net(parent: Parent) -> None:
    """Parent and guardian killed together leave processes; the next start stops them and says so, once."""
    os.kill(parent.process.pid, signal.SIGSTOP)  # or it would start another guardian in between
    os.kill(parent.guardian.pid, signal.SIGKILL)
    parent.process.kill()
    parent.process.wait()
    assert len(process_tree.find((), parent.tag)) == 3
    (sentence,) = clean_up(parent.state)
    assert f"stubborn (pid {parent.child})" in sentence
    assert f"a process of it (pid {parent.orphan})" in sentence
    parent.await_clean()
    assert {path.name for path in parent.state.iterdir()} <= {"log", "guardian.log", "scratch"}
    assert clean_up(parent.state) == ()


def test_the_cleanup_leaves_a_living_run_alone(parent: Parent) -> None:
    """While its parent lives nothing of a run is touched."""
    assert clean_up(parent.state) == ()
    assert len(process_tree.find((), parent.tag)) == 3
    assert parent.process.poll() is None
    assert (parent.state / "processes.json").exists()


def _guardians(parent: Parent) -> list[process_tree.Member]:
    rows = process_tree.snapshot().values()
    ours = [row for row in rows if row.parent == parent.process.pid and row.pid != parent.guardian.pid]
    return [process_tree.Member(row.pid, row.start) for row in ours if _is_guardian(row.pid)]


def _is_guardian(pid: int) -> bool:
    try:
        return b"weighbridge.rig.processes.guardian" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return False


@pytest.fixture
def stranger() -> Iterator[subprocess.Popen[bytes]]:
    """A process that carries no tag of ours."""
    with subprocess.Popen(["sleep", "60"], start_new_session=True) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("damage", [str, lambda text: text[:40], lambda text: text.replace("processes/1", "x/2")])
def test_the_cleanup_touches_no_stranger(
    tmp_path: Path, stranger: subprocess.Popen[bytes], damage: Callable[[str], str]
) -> None:
    """A register, whole or damaged, that names a process without the tag by its right pid and start stops nobody."""
    start = process_tree.start_of(stranger.pid)
    group = {"name": "x", "pid": stranger.pid, "start": start, "tag": "ab" * 8, "ports": []}
    owner = {"pid": 2**22 + 1, "start": "1"}
    document = {"schema": "weighbridge.processes/1", "owner": owner, "tag": "ab" * 8, "groups": [group]}
    whole = json.dumps(document)
    (tmp_path / "processes.json").write_text(damage(whole))
    message = clean_up(tmp_path)
    assert stranger.poll() is None
    assert not (tmp_path / "processes.json").exists()
    assert ("could not be read" in "".join(message)) == (damage(whole) != whole)


def test_a_register_cannot_name_a_folder_outside(tmp_path: Path) -> None:
    """A tag that is a path is refused: the cleanup removes scratch folders by it."""
    (tmp_path / "precious").mkdir()
    owner = {"pid": 2**22 + 1, "start": "1"}
    document = {"schema": "weighbridge.processes/1", "owner": owner, "tag": "../precious", "groups": []}
    (tmp_path / "processes.json").write_text(json.dumps(document))
    assert "could not be read" in clean_up(tmp_path)[0]
    assert (tmp_path / "precious").is_dir()
