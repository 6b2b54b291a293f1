"""Control groups of our own: made where that changes nothing, with the child in them, and gone afterwards."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from weighbridge.rig.machine.filesystem_root import Machine
from weighbridge.rig.processes import register
from weighbridge.rig.processes.cleanup import clean_up
from weighbridge.rig.processes.guardian import clean
from weighbridge.rig.processes.register import Register
from weighbridge.rig.tree import cgroup
from weighbridge.rig.tree.cgroup import ControlGroup, NoGroup
from weighbridge.rig.tree.process_tree import Member

TAG = f"{os.getpid():016x}"
V2 = "30 23 0:26 / /sys/fs/cgroup rw shared:4 - cgroup2 cgroup2 rw,nsdelegate"


def machine_with(root: Path, mounts: str, own: str) -> Machine:
    """A machine with these mounts, seen from a process in these groups."""
    folder = root / "proc" / "self"
    folder.mkdir(parents=True)
    (folder / "mountinfo").write_text(mounts + "\n")
    (folder / "cgroup").write_text(own + "\n")
    return Machine(root, "Linux")


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    """A process that waits."""
    process = subprocess.Popen(["sleep", "60"], start_new_session=True)
    yield process
    _end(process)


@pytest.fixture
def group(sleeper: subprocess.Popen[bytes]) -> Iterator[ControlGroup]:
    """A real group with the sleeper in it; skips with the kernel's own reason where none can be made."""
    try:
        made = cgroup.make(f"{TAG}.1", sleeper.pid)
    except NoGroup as error:
        pytest.skip(f"no control group can be made here: {error}")
    yield made
    _end(sleeper)
    made.remove()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()


def test_group_is_below_our_own(tmp_path: Path) -> None:
    """The parent is the group that we are in, seen through the part of the tree that is mounted."""
    mounts = "30 23 0:26 /pod /sys/fs/cgroup rw - cgroup2 cgroup2 rw"
    machine = machine_with(tmp_path, mounts, "0::/pod/inner")
    (parent,) = cgroup.find_parents(machine, [])
    assert parent.path == tmp_path / "sys/fs/cgroup/inner"
    outside = machine_with(tmp_path / "other", mounts, "0::/podium/inner")
    assert cgroup.find_parents(outside, []) == ()


@pytest.mark.parametrize(
    ("mounts", "own", "controllers", "clause"),
    [
        (
            "33 1 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct",
            "2:cpu,cpuacct:/",
            "",
            "cgroup1",
        ),
        (V2, "0::/", "cpu memory", "cgroup2"),
    ],
)
def test_no_group_that_would_be_scheduled(
    tmp_path: Path, mounts: str, own: str, controllers: str, clause: str
) -> None:
    """Where a group gets a CPU share of its own none is made: it would change what is measured."""
    machine = machine_with(tmp_path, mounts, own)
    for place in ("sys/fs/cgroup", "sys/fs/cgroup/cpu,cpuacct"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
    (tmp_path / "sys/fs/cgroup/cgroup.subtree_control").write_text(controllers)
    with pytest.raises(NoGroup, match=rf"^{clause}: .*also share"):
        cgroup.make(f"{TAG}.2", 1, machine)
    assert not list(tmp_path.glob(f"**/{cgroup.PREFIX}*"))


def test_a_second_hierarchy_is_taken_when_the_first_is_not_fit(tmp_path: Path) -> None:
    """The refusal of version 2 is no reason to go without, and a plain cpuacct tree is found by its own path."""
    v1 = "33 1 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct"
    machine = machine_with(tmp_path, f"{V2}\n{v1}", "2:cpuacct:/a\n0::/")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    (tmp_path / "sys/fs/cgroup/cgroup.subtree_control").write_text("cpu")
    (parent,) = cgroup.find_parents(machine, [])
    assert (parent.kind, parent.path) == ("cgroup1", tmp_path / "sys/fs/cgroup/cpuacct/a")


def test_reasons_are_told(tmp_path: Path) -> None:
    """A folder that cannot be written, and no groups at all, each give their own clause."""
    with pytest.raises(NoGroup, match="no control groups are mounted"):
        cgroup.make(f"{TAG}.3", 1, machine_with(tmp_path, "", ""))
    with pytest.raises(NoGroup, match=r"cgroup2: no group can be made here \(No such file"):
        cgroup.make(f"{TAG}.3", 1, machine_with(tmp_path / "b", V2, "0::/gone"))


def test_a_folder_that_counts_nothing_is_no_group(tmp_path: Path) -> None:
    """A directory without a CPU counter is removed again."""
    machine = machine_with(tmp_path, V2, "0::/")
    (tmp_path / "sys/fs/cgroup").mkdir(parents=True)
    with pytest.raises(NoGroup, match="CPU counter of a group cannot be read"):
        cgroup.make(f"{TAG}.4", 1, machine)
    assert not list(tmp_path.glob(f"**/{cgroup.PREFIX}*"))


def test_busy_group_stays_and_an_empty_one_goes(group: ControlGroup, sleeper: subprocess.Popen[bytes]) -> None:
    """A group with a process in it is never removed; a short wait for its end is had."""
    assert group.pids() == {sleeper.pid}
    assert cgroup.remove_leftovers(f"{TAG}.") == ()
    assert not group.remove(within_s=0.0)
    end = threading.Timer(0.1, _end, [sleeper])
    end.start()
    assert group.remove(within_s=10.0)
    end.join()
    assert group.remove()  # gone already is gone
    assert group.pids() == frozenset()
    assert not group.add(sleeper.pid)


@pytest.mark.parametrize("who", ["guardian", "cleanup"])
def test_left_groups_are_removed_by_tag(
    group: ControlGroup, sleeper: subprocess.Popen[bytes], tmp_path: Path, who: str
) -> None:
    """What a killed run left empty goes with the guardian, or at the next start; another run's group stays."""
    other = ControlGroup(group.path.with_name(f"{cgroup.PREFIX}{'f' * 16}.1"), group.kind)
    other.path.mkdir()
    try:
        _end(sleeper)
        if who == "guardian":
            assert clean({}, f"{TAG}.") == 0
        else:
            Register(Member(2**22 + 1, "0"), TAG).write(tmp_path)
            assert clean_up(tmp_path) == ()
            assert register.read(tmp_path) is None
        assert not group.path.exists()
        assert other.path.exists()
    finally:
        other.remove()


def test_supervisor_killed_leaves_no_group(tmp_path: Path) -> None:
    """After SIGKILL of a run the guardian stops its gateway and removes its group."""
    script = """
import sys, time
from pathlib import Path
from weighbridge.rig.processes.child import Service
from weighbridge.rig.processes.supervisor import Supervisor
with Supervisor(Path(sys.argv[1]) / "state") as one:
    child = one.start(Service("gw", ("sleep", "60"), Path(sys.argv[1]), Path(sys.argv[1]) / "log", counts_cpu=True))
    print(child.group.path if child.group else child.why_no_group, flush=True)
    time.sleep(60)
"""
    argv = [sys.executable, "-c", script, str(tmp_path)]
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
    assert process.stdout
    with process.stdout:
        message = process.stdout.readline().strip()
    process.kill()
    process.wait()
    deadline = time.monotonic() + 20
    # The guardian has cleaned up when its log says so.
    log = tmp_path / "state" / "guardian.log"
    while "done" not in log.read_text():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    if not message.startswith("/"):
        pytest.skip(f"no control group can be made here: {message}")
    assert not Path(message).exists()
