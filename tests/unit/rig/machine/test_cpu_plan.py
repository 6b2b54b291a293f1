"""The CPU plan: whole cores, the gateway alone on its own, none on small machines; and that it is really applied."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from weighbridge.command import Command
from weighbridge.errors import LaneFailed
from weighbridge.rig.machine.cpu_plan import Core, confined, parse_list, plan, read_cores
from weighbridge.rig.machine.filesystem_root import Machine
from weighbridge.rig.processes.child import Service
from weighbridge.rig.processes.supervisor import Supervisor

PRINT = "import os; print(sorted(os.sched_getaffinity(0)))"


def topology(root: Path, cores: list[str], speeds: dict[int, int] | None = None) -> Machine:
    """A machine whose kernel tells these cores, each as a list of its logical CPUs."""
    for core in cores:
        for cpu in parse_list(core):
            folder = root / f"sys/devices/system/cpu/cpu{cpu}"
            (folder / "topology").mkdir(parents=True)
            (folder / "topology/thread_siblings_list").write_text(core + "\n")
            if speeds:
                (folder / "cpu_capacity").write_text(f"{speeds[cpu]}\n")
    return Machine(root, "Linux")


@pytest.mark.parametrize("count", range(1, 17))
@pytest.mark.parametrize("threads", [1, 2])
def test_gateway_shares_no_core(count: int, threads: int) -> None:
    """On any number of cores the gateway's CPUs are whole cores that nobody else has, and nobody goes without."""
    cores = [Core(tuple(core + count * thread for thread in range(threads))) for core in range(count)]
    made = plan(cores, cpu_count=count * threads)
    if count * threads < 4 or count < 2:
        assert made is None
        return
    assert made is not None
    assert made.gateway
    assert made.mocks
    assert made.driver
    assert not set(made.gateway) & {*made.mocks, *made.driver}
    for core in cores:
        assert len({cpu in made.gateway for cpu in core.cpus}) == 1
    assert {*made.gateway, *made.beside_gateway} == {cpu for core in cores for cpu in core.cpus}


def test_a_quota_counts(tmp_path: Path) -> None:
    """Eight CPUs in the mask are no plan when a quota leaves two of them."""
    cores = read_cores(topology(tmp_path, [str(cpu) for cpu in range(8)]), range(8))
    assert plan(cores, cpu_count=2) is None
    assert plan(cores, cpu_count=8) is not None


def test_siblings_stay_together(tmp_path: Path) -> None:
    """Two cores of two threads are split between the cores, not between the threads."""
    made = plan(read_cores(topology(tmp_path, ["0,2", "1,3"]), range(4)), cpu_count=4)
    assert made is not None
    assert (made.gateway, made.mocks, made.driver) == ((1, 3), (0, 2), (0, 2))


def test_half_a_core_is_not_ours(tmp_path: Path) -> None:
    """A core whose other thread somebody else has is not taken: its speed is not ours to know."""
    machine = topology(tmp_path, ["0-1", "2-3", "4-5"])
    assert [core.cpus for core in read_cores(machine, [0, 1, 2, 4, 5])] == [(0, 1), (4, 5)]
    assert read_cores(Machine(tmp_path / "nothing", "Linux"), [0, 1]) == ()


def test_fast_cores_are_the_gateways(tmp_path: Path) -> None:
    """Where cores differ, the gateway is not put on the slow ones because they come last."""
    machine = topology(tmp_path, ["0", "1", "2", "3"], {0: 1024, 1: 1024, 2: 400, 3: 400})
    made = plan(read_cores(machine, range(4)), cpu_count=4)
    assert made is not None
    assert made.gateway == (0, 1)


def test_children_run_where_they_are_put(tmp_path: Path) -> None:
    """A service and a command run on the given CPU from their first instruction, and we go where we were."""
    usable = sorted(os.sched_getaffinity(0))
    if len(usable) < 2:
        pytest.skip("one CPU: nothing to choose")
    last = usable[-1]
    with Supervisor(tmp_path / "state") as supervisor:
        ended = supervisor.run(Command((sys.executable, "-c", PRINT), tmp_path, 30.0), cores=(last,))
        assert ended.stdout.decode().strip() == str([last])
        assert supervisor.run(Command((sys.executable, "-c", PRINT), tmp_path, 30.0)).stdout.decode().strip() == str(
            usable
        )
        child = supervisor.start(Service("s", ("sleep", "60"), tmp_path, tmp_path / "log", cores=(last,)))
        assert os.sched_getaffinity(child.pid) == {last}
        assert sorted(os.sched_getaffinity(0)) == usable
        with pytest.raises(LaneFailed, match=r"cannot be put on CPUs \(4000,\)"):
            supervisor.start(Service("s", ("sleep", "60"), tmp_path, tmp_path / "log", cores=(4000,)))


def test_confinement_ends_with_its_block() -> None:
    """We run on the given CPUs within the block only, also when it ends with an error; None changes nothing."""
    usable = os.sched_getaffinity(0)
    one = (min(usable),)
    with confined(None):
        assert os.sched_getaffinity(0) == usable
    with confined(one):
        assert os.sched_getaffinity(0) == set(one)
    assert os.sched_getaffinity(0) == usable
    with pytest.raises(ZeroDivisionError), confined(one):
        raise ZeroDivisionError
    assert os.sched_getaffinity(0) == usable
