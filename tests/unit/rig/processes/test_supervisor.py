"""The supervisor with real children that behave badly."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from weighbridge.command import Command
from weighbridge.errors import LaneFailed, PortTaken, StoreError, ToolMissing
from weighbridge.rig.processes import ports, run_command
from weighbridge.rig.processes.child import Child, Service
from weighbridge.rig.processes.supervisor import Supervisor
from weighbridge.rig.tree import process_tree

CHILD = """
import os, signal, socket, subprocess, sys
words = sys.argv[1:]
if "ignoring" in words:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "orphan" in words:
    # Leaves the group and the session, and loses its parent.
    subprocess.run(["sh", "-c", "setsid sleep 60 & echo orphan $!"])
if words and words[-1].isdigit():
    server = socket.create_server(("127.0.0.1", int(words[-1])))
if "burn" in words:
    while os.times().user < 0.2: pass
if "exit" in words:
    sys.exit(3)
print("up", flush=True)
while True:
    signal.pause()
"""


@pytest.fixture
def supervisor(tmp_path: Path) -> Iterator[Supervisor]:
    """A supervisor whose state folder is empty again at the end."""
    with Supervisor(tmp_path / "state", search_path=os.defpath) as made:
        yield made
    assert list((tmp_path / "state").iterdir()) == []


@pytest.fixture
def service(tmp_path: Path) -> Callable[..., Service]:
    """A function that makes the service which runs CHILD with the given words."""

    def make(*words: str, grace_s: float = 5.0) -> Service:
        argv = (sys.executable, "-c", CHILD, *words)
        held = tuple(int(word) for word in words if word.isdigit())
        return Service("child", argv, tmp_path, tmp_path / "logs" / "child.log", ports=held, grace_s=grace_s)

    return make


def _await_up(child: Child) -> None:
    deadline = time.monotonic() + 30
    while "up" not in child.service.log.read_text().split():
        assert child.alive(), child.log_tail()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _python(code: str, cwd: Path, deadline_s: float = 30.0) -> Command:
    return Command((sys.executable, "-c", code), cwd, deadline_s)


def test_a_child_stops_on_its_own_signal(supervisor: Supervisor, service: Callable[..., Service]) -> None:
    """A well-behaved child is stopped without force, its port is free, and no process of it is left."""
    child = supervisor.start(replace(service(str(ports.choose(1, None)[0])), stop_signal=signal.SIGINT))
    _await_up(child)
    report = supervisor.stop(child)
    assert (report.by, report.is_clean, report.orphan_count) == ("signal", True, 0)
    assert not child.alive()
    assert child.members() == ()


def test_a_child_that_ignores_signals_is_killed(supervisor: Supervisor, service: Callable[..., Service]) -> None:
    """A child that ignores TERM ends by KILL, and the report says so."""
    child = supervisor.start(service("ignoring", grace_s=0.2))
    _await_up(child)
    report = supervisor.stop(child)
    assert (report.by, report.exit_code, report.is_clean) == ("kill", -signal.SIGKILL, True)
    assert "had to be killed (died of SIGKILL" in str(report)


@pytest.mark.parametrize("words", [("orphan",), ("orphan", "exit")])
def test_an_orphan_is_stopped_too(supervisor: Supervisor, service: Callable[..., Service], words: tuple[str]) -> None:
    """A grandchild in its own session is stopped and counted, even when the child had died before."""
    child = supervisor.start(service(*words))
    if "exit" in words:
        assert child.process.wait(30) == 3
    else:
        _await_up(child)
    orphan = int(child.service.log.read_text().split()[1])
    assert process_tree.start_of(orphan)
    report = supervisor.stop(child)
    assert (report.orphan_count, report.is_clean) == (1, True)
    assert process_tree.start_of(orphan) is None


def test_leaving_the_block_stops_in_reverse_order(tmp_path: Path, service: Callable[..., Service]) -> None:
    """Whatever error ends the block, what was started last is stopped first, and nothing is left."""
    names = ["provider", "control plane", "gateway"]

    def work(supervisor: Supervisor) -> None:
        for name in names:
            _await_up(supervisor.start(replace(service(), name=name, log=tmp_path / name)))
        raise ZeroDivisionError

    supervisor = Supervisor(tmp_path / "state")
    with pytest.raises(ZeroDivisionError), supervisor:
        work(supervisor)
    assert [report.name for report in supervisor.reports] == names[::-1]
    assert all(report.is_clean for report in supervisor.reports)


def test_the_environment_is_built_from_nothing(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No variable of ours reaches a child but the search path; what is declared does, and cannot replace the tag."""
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    declared = {"LITELLM_LOG": "ERROR", "LANG": "de_DE.UTF-8", process_tree.TAG_VARIABLE: "forged"}
    ended = supervisor.run(replace(Command(("env",), tmp_path, 30.0), env=declared))
    seen = dict(line.split("=", 1) for line in ended.stdout.decode().splitlines())
    tag = seen.pop(process_tree.TAG_VARIABLE)
    home, scratch = Path(seen.pop("HOME")), Path(seen.pop("TMPDIR"))
    assert seen == {"PATH": os.defpath, "LANG": "de_DE.UTF-8", "LITELLM_LOG": "ERROR"}
    assert tag != "forged"
    assert all(folder.is_relative_to(tmp_path) and not folder.exists() for folder in (home, scratch))


def test_a_child_inherits_no_descriptor_and_no_blocked_signal(supervisor: Supervisor, tmp_path: Path) -> None:
    """A child has its three streams alone, an empty standard input, and every signal reaches it."""
    code = "import os; print(sorted(os.listdir('/proc/self/fd'))[:3], len(os.listdir('/proc/self/fd')))"
    ended = supervisor.run(_python(code + "; print(repr(os.read(0, 1)))", tmp_path))
    assert ended.stdout.decode().splitlines() == ["['0', '1', '2'] 4", "b''"]
    status = supervisor.run(Command(("cat", "/proc/self/status"), tmp_path, 30.0)).stdout.decode()
    blocked = [line.split()[1] for line in status.splitlines() if line.startswith(("SigBlk", "SigIgn"))]
    assert [int(mask, 16) & 0b100000000000011 for mask in blocked] == [0, 0]  # HUP, INT, TERM


def test_a_taken_port_is_refused_before_the_start(supervisor: Supervisor, service: Callable[..., Service]) -> None:
    """A service whose port another program holds is not started: that program would respond in its place."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        with pytest.raises(PortTaken, match=rf"Port {port} .* is taken by .*\(pid {os.getpid()}\); child needs it"):
            supervisor.start(service(str(port)))


def test_a_program_that_cannot_run(supervisor: Supervisor, tmp_path: Path) -> None:
    """A gateway that is not there is a failed lane, a tool that is not there is a missing tool."""
    with pytest.raises(LaneFailed, match="gw could not be started: no-such-program: No such file") as detected:
        supervisor.start(Service("gw", ("no-such-program",), tmp_path, tmp_path / "log"))
    assert (detected.value.reason, detected.value.phase) == ("crashed", "start")
    with pytest.raises(ToolMissing, match="no-such-program could not be started"):
        supervisor.run(Command(("no-such-program",), tmp_path, 1.0))
    with pytest.raises(ToolMissing, match=r"its folder .* does not exist"):
        supervisor.run(Command(("true",), tmp_path / "nowhere", 1.0))


def test_what_a_tree_uses(supervisor: Supervisor, service: Callable[..., Service]) -> None:
    """CPU seconds are at least those the child is known to have burnt; memory is that of a Python at least."""
    child = supervisor.start(service("burn", "orphan"))
    _await_up(child)
    assert child.cpu_s() >= 0.2
    assert child.rss_bytes() > 4_000_000
    assert len(supervisor.pids() & {member.pid for member in child.members()}) == 2
    supervisor.stop(child)
    assert (child.cpu_s(), child.rss_bytes(), child.exit_code) == (0.0, 0, -signal.SIGTERM)


def test_a_command_runs_to_its_end(supervisor: Supervisor, tmp_path: Path) -> None:
    """Its files are there before it starts, both outputs and the exit code come back, and secrets are masked."""
    code = "import sys; print(open('in/body').read()); print('key-123', file=sys.stderr); sys.exit(7)"
    command = replace(_python(code, tmp_path), files={tmp_path / "in" / "body": b"hello"}, secrets=("key-123",))
    ended = supervisor.run(command)
    assert (ended.exit_code, ended.cut, ended.killed) == (7, False, False)
    assert (ended.stdout, ended.stderr) == (b"hello\n", b"[secret]\n")
    assert (tmp_path / "in" / "body").stat().st_mode & 0o077 == 0


def test_a_cut_command_writes_its_report(supervisor: Supervisor, tmp_path: Path) -> None:
    """The stop signal comes once, at the cut, and what the program then prints is kept."""
    code = """
import signal, sys, time
seen = []
signal.signal(signal.SIGINT, lambda *_: seen.append(1))
print("up", flush=True)
while not seen: signal.pause()
time.sleep(0.3)
print("report", len(seen))
"""
    ended = supervisor.run(replace(_python(code, tmp_path), cut_after_s=0.5))
    assert (ended.exit_code, ended.cut, ended.killed) == (0, True, False)
    assert ended.stdout == b"up\nreport 1\n"


def test_two_commands_run_together_and_are_told_apart(supervisor: Supervisor, tmp_path: Path) -> None:
    """The one that was begun first lives while the other runs; each has its own output, limits and CPU time."""
    burn = "import time; e = time.process_time() + 0.4\nwhile time.process_time() < e: pass\nprint('burnt')"
    idle = "import os, time\nwhile not os.path.exists('done'): time.sleep(0.01)\nprint('idled')"
    beside = supervisor.begin(_python(idle, tmp_path))
    main = supervisor.run(_python(burn, tmp_path))
    assert beside.child.alive()
    (tmp_path / "done").touch()
    ended = supervisor.finish(beside)
    assert (main.stdout, ended.stdout, ended.exit_code) == (b"burnt\n", b"idled\n", 0)
    assert main.cpu_s is not None
    assert ended.cpu_s is not None
    assert main.cpu_s >= 0.4 > ended.cpu_s
    assert ended.wall_s > main.wall_s


def test_a_command_that_was_begun_is_stopped_by_wish_or_at_the_end(tmp_path: Path) -> None:
    """A text of the watch stops it, and what nobody finished is gone with the supervisor."""
    with Supervisor(tmp_path / "other") as owner:
        unwanted, forgotten = (owner.begin(Command(("sleep", "60"), tmp_path, 60.0)) for _ in range(2))
        ended = owner.finish(unwanted, watch=lambda: "not wanted any more")
        assert (ended.cut, ended.exit_code) == (True, -signal.SIGINT)
        assert forgotten.child.alive()
    assert not forgotten.child.alive()


def test_an_overdue_command_is_killed_with_its_tree(supervisor: Supervisor, tmp_path: Path) -> None:
    """At its deadline a command that ignores everything is killed, and so is the orphan it had started."""
    ignore = "import signal; [signal.signal(n, signal.SIG_IGN) for n in (2, 15)]; "
    code = (
        "import subprocess, sys; p = subprocess.Popen(['setsid', 'sleep', '60']); print(p.pid, flush=True); p.wait()"
    )
    ended = supervisor.run(replace(_python(ignore + code, tmp_path, deadline_s=1.0), cut_after_s=0.5))
    assert (ended.exit_code, ended.cut, ended.killed) == (-signal.SIGKILL, True, True)
    assert process_tree.start_of(int(ended.stdout)) is None


def test_watch_stops_a_command(supervisor: Supervisor, tmp_path: Path) -> None:
    """A text of the watch sends the stop signal long before cut and deadline; None lets the command go on."""
    answers = iter([None, None, "the gateway died"])
    ended = supervisor.run(Command(("sleep", "60"), tmp_path, 60.0), watch=lambda: next(answers))
    assert (ended.exit_code, ended.cut, ended.killed) == (-signal.SIGINT, True, False)
    assert list(answers) == []


def test_a_command_that_is_not_wanted_has_little_time(
    supervisor: Supervisor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command that ignores the stop signal of a watch is killed soon, not at its own deadline."""
    monkeypatch.setattr(run_command, "_REPORT_PATIENCE_S", 0.2)
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); print('up', flush=True); signal.pause()"
    ended = supervisor.run(_python(code, tmp_path, deadline_s=20.0), watch=lambda: "the gateway died")
    assert (ended.cut, ended.killed) in [(True, True), (True, False)]
    assert ended.wall_s < 10


def test_a_watch_that_fails_leaves_no_command(supervisor: Supervisor, tmp_path: Path) -> None:
    """An error of the watch goes up, and the command is stopped first."""

    def watch() -> str | None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        supervisor.run(Command(("sleep", "60"), tmp_path, 60.0), watch=watch)
    assert [report.name for report in supervisor.reports] == ["sleep"]
    assert supervisor.pids() == {os.getpid(), supervisor.guard.pid}


def test_a_full_disk_is_one_sentence(supervisor: Supervisor, tmp_path: Path) -> None:
    """A log that cannot be written stops the start with StoreError, and nothing runs."""
    with pytest.raises(StoreError, match=r"cannot be written: .*; make room"):
        supervisor.start(Service("gw", ("sleep", "60"), tmp_path, Path("/proc/none/log")))
    with pytest.raises(StoreError, match="No space left on device"):
        supervisor.run(replace(Command(("true",), tmp_path, 1.0), files={Path("/dev/full"): b"x"}))
    assert supervisor.pids() == {os.getpid(), supervisor.guard.pid}


def test_one_state_folder_serves_one_weighbridge(supervisor: Supervisor, tmp_path: Path) -> None:
    """A second supervisor on the same folder is refused, naming the first, and stops nothing of it."""
    with pytest.raises(StoreError, match=rf"in use by another Weighbridge \(pid {os.getpid()}\)"):
        Supervisor(tmp_path / "state").__enter__()
    assert (tmp_path / "state" / "processes.json").exists()


def test_a_killed_guardian_is_replaced(supervisor: Supervisor, service: Callable[..., Service]) -> None:
    """The next start after a guardian's death starts another one first; what runs already runs on."""
    child = supervisor.start(service())
    before = supervisor.guard.pid
    os.kill(before, signal.SIGKILL)
    os.waitid(os.P_PID, before, os.WEXITED | os.WNOWAIT)  # a kill is done later than it is sent; left to be collected
    supervisor.start(replace(service(), log=child.service.log.with_name("second")))
    assert process_tree.start_of(supervisor.guard.pid)
    assert (supervisor.guard.pid != before, supervisor.guard.revived_count) == (True, 1)
    assert child.alive()


def test_a_child_leads_a_session_and_a_group(supervisor: Supervisor, service: Callable[..., Service]) -> None:
    """A signal to our group, as a terminal sends it, does not reach a child."""
    child = supervisor.start(service())
    assert (os.getsid(child.pid), os.getpgid(child.pid)) == (child.pid, child.pid)
    assert os.getsid(supervisor.guard.pid) == supervisor.guard.pid


def test_stopping_twice_is_no_fault(supervisor: Supervisor, service: Callable[..., Service]) -> None:
    """The second stop of a child says that it had ended."""
    child = supervisor.start(service())
    supervisor.stop(child)
    assert supervisor.stop(child).by == "exited"
    assert len(supervisor.reports) == 1


def test_the_guardian_loads_nothing_heavy() -> None:
    """Starting the guardian imports neither the document model nor the number library nor package metadata."""
    code = "import sys, weighbridge.rig.processes.guardian; print([m for m in sys.modules])"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True).stdout
    heavy = ("pydantic", "numpy", "yaml", "jinja2", "rich", "invoke", "importlib.metadata", "asyncio", "http.client")
    assert not [name for name in heavy if f"'{name}'" in loaded]
