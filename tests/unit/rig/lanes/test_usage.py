"""What a tree uses, by injected work: threads and children that ended are seen, and what cannot be read is said."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from weighbridge.command import Command
from weighbridge.rig.lanes.usage import UsageMeter, nothing_of_ours
from weighbridge.rig.machine import flush_counter
from weighbridge.rig.machine.filesystem_root import Machine
from weighbridge.rig.processes.child import Child, Service
from weighbridge.rig.processes.supervisor import Supervisor
from weighbridge.rig.tree import cgroup, cpu_time, memory
from weighbridge.rig.tree.process_tree import Member

# Each job is done when its line comes, and the program prints what the job really burnt by its own clocks.
JOBS = """
import os, subprocess, sys, threading, time
BURN = "import time\\nwhile time.process_time() < 0.2: pass\\nprint(time.process_time())"
def burn(clock, seconds):
    begun = clock()
    while clock() - begun < seconds: pass
    return clock() - begun
def work():
    spent = [burn(time.thread_time, 0.2)]
    thread = threading.Thread(target=lambda: spent.append(burn(time.thread_time, 0.2)))
    thread.start(); thread.join()
    return sum(spent)
def child():
    before = os.times()
    subprocess.run([sys.executable, "-c", BURN], check=True, stdout=subprocess.DEVNULL)
    after = os.times()
    return after[2] + after[3] - before[2] - before[3]
def grow():
    block = bytearray(64 * 1024 * 1024)
    for at in range(0, len(block), 4096): block[at] = 1
    return 0
def flush():
    for number in range(20):
        with open(sys.argv[1] + "/f", "ab") as file:
            file.write(b"x" * 1024); file.flush(); os.fdatasync(file.fileno())
    return 0
def wait():
    for number in range(50): time.sleep(0.001)
    return 0
print("up", flush=True)
for line in iter(lambda: open(sys.argv[2]).readline(), ""):
    words = line.split()
    print(words[0], sum(globals()[word]() for word in words), flush=True)
"""


class Worker:
    """A child that does jobs when told through a pipe in the file system."""

    def __init__(self, child: Child, pipe: Path) -> None:
        self.child = child
        self._pipe = pipe

    def do(self, *jobs: str) -> float:
        """CPU seconds that the jobs burnt, by the child's own clocks."""
        count = self.child.service.log.read_text().count("\n")
        self._pipe.write_text(" ".join(jobs) + "\n")
        return float(self._line(count).split()[1])

    def _line(self, count: int) -> str:
        deadline = time.monotonic() + 30
        while len(lines := self.child.service.log.read_text().splitlines(keepends=True)) <= count or not lines[
            count
        ].endswith("\n"):
            assert self.child.alive(), self.child.log_tail()
            assert time.monotonic() < deadline
            time.sleep(0.005)
        return lines[count]

    def await_up(self) -> None:
        """Wait until the child can be told what to do."""
        self._line(0)


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Worker]]:
    """A function that starts a worker, with a control group of its own or without."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with Supervisor(tmp_path / "state", search_path=os.defpath) as supervisor:

        def make(*, counts_cpu: bool = False, cores: tuple[int, ...] | None = None) -> Worker:
            argv = (sys.executable, "-c", JOBS, str(tmp_path), str(pipe))
            service = Service("worker", argv, tmp_path, tmp_path / "log", counts_cpu=counts_cpu, cores=cores)
            worker = Worker(supervisor.start(service), pipe)
            worker.await_up()
            return worker

        yield make


def test_ended_threads_and_children_are_counted(start: Callable[..., Worker]) -> None:
    """Main thread, ended thread and ended child: both ways of counting see all of what the program says it burnt."""
    worker = start(counts_cpu=True)
    if worker.child.group is None:
        pytest.skip(f"no control group can be made here: {worker.child.why_no_group}")
    before = cpu_time.read(worker.child.members())
    meter = UsageMeter(worker.child)
    meter.begin()
    burnt_s = worker.do("work", "child")
    used = meter.end()
    by_clock = cpu_time.between(before, cpu_time.read(worker.child.members()))
    assert used.cpu_from == worker.child.group.kind
    assert used.cpu_s == pytest.approx(burnt_s, rel=0.1)
    assert by_clock.cpu_s == pytest.approx(used.cpu_s, rel=0.1)
    assert by_clock.lost_count == 0


def test_without_a_group_the_clocks_count(start: Callable[..., Worker]) -> None:
    """The same work is seen by the processes' clocks alone, in ticks when a child was reaped, finer when none was."""
    worker = start()
    meter = UsageMeter(worker.child)
    meter.begin()
    burnt_s = worker.do("work", "child")
    used = meter.end()
    assert (used.cpu_from, used.cpu_step_s) == ("process_clock", 1 / os.sysconf("SC_CLK_TCK"))
    assert used.cpu_s == pytest.approx(burnt_s, rel=0.12)
    meter.begin()
    burnt_s = worker.do("work")
    used = meter.end()
    assert used.cpu_step_s == 1e-9
    assert used.cpu_s == pytest.approx(burnt_s, rel=0.1)


def test_idle_rate_is_told(start: Callable[..., Worker]) -> None:
    """A child that burns while it is looked at has an idle rate, one that waits has next to none."""
    worker = start()
    meter = UsageMeter(worker.child)
    assert meter.idle is None
    assert meter.look_after(0.1) is None  # what was not looked at before is not looked at behind
    burning = meter.look_before(3.2, sleep=lambda _: worker.do("work"))
    assert burning is not None
    assert len(burning.cores) == 3
    assert min(burning.cores) > 0.1
    waiting = meter.look_after(0.3)
    assert waiting is not None
    assert len(waiting.cores) == 2
    assert waiting.slice_s >= 0.15
    assert max(waiting.cores) < min(burning.cores) / 5
    meter.begin()
    assert meter.end().idle_before == burning


def test_the_busiest_thread_is_told(start: Callable[..., Worker]) -> None:
    """A thread that works beside another one is told alone, and what it used is no more than the tree's."""
    worker = start()
    meter = UsageMeter(worker.child)
    meter.begin()
    burnt_s = worker.do("work")  # half of it in the main thread, half in one that has ended
    used = meter.end()
    if sys.platform != "linux":
        pytest.skip("only Linux tells threads apart")
    assert used.busiest_thread_s == pytest.approx(burnt_s / 2, rel=0.25)
    assert used.core_count is not None
    assert used.core_count >= 1


def test_orphans_reaped_elsewhere_are_not_hidden() -> None:
    """When the sum of reaped seconds lacks what an ended process had used, the process counts as lost."""
    parent, worker = Member(1, "a"), Member(2, "b")
    before = cpu_time.CpuTimeReading({parent: 1.0, worker: 5.0}, 0.0)
    lost = cpu_time.between(before, cpu_time.CpuTimeReading({parent: 1.5}, 0.0))
    assert (lost.cpu_s, lost.lost_count) == (0.5, 1)
    reaped = cpu_time.between(before, cpu_time.CpuTimeReading({parent: 1.5}, 5.2))
    assert reaped.cpu_s == pytest.approx(0.7)
    assert reaped.lost_count == 0


def test_zombie_is_still_counted(tmp_path: Path) -> None:
    """A child that ended and was not waited for yet is in the reading of its parent's tree."""
    code = (
        "import os,pathlib,time\n"
        "if not (pid := os.fork()):\n while time.process_time() < 0.2: pass\n os._exit(0)\n"
        "os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)\npathlib.Path('ended').touch()\ntime.sleep(60)"
    )
    with Supervisor(tmp_path / "state") as supervisor:
        child = supervisor.start(Service("p", (sys.executable, "-c", code), tmp_path, tmp_path / "log"))
        deadline = time.monotonic() + 20
        while not (tmp_path / "ended").exists():
            assert time.monotonic() < deadline
            time.sleep(0.01)
        reading = cpu_time.read(child.members()).of_process
        assert (len(child.members()), len(reading)) == (1, 2)
        assert max(reading.values()) >= 0.2


def test_peak_is_of_the_window(start: Callable[..., Worker]) -> None:
    """64 MiB that came and went show in the peak of their window, not in idle or after, and not in the next peak."""
    worker = start()
    meter = UsageMeter(worker.child)
    meter.begin()
    worker.do("grow")
    used = meter.end()
    meter.begin()
    quiet = meter.end()
    if used.rss_peak_from == "lifetime":
        pytest.skip("the kernel does not let us reset a peak here")
    assert used.rss_idle_bytes is not None
    assert used.rss_peak_bytes is not None
    assert used.rss_after_bytes is not None
    assert used.rss_peak_bytes - used.rss_idle_bytes > 60 * 2**20
    assert used.rss_after_bytes - used.rss_idle_bytes < 10 * 2**20
    assert quiet.rss_idle_bytes is not None
    assert quiet.rss_peak_bytes is not None
    assert quiet.rss_idle_bytes <= quiet.rss_peak_bytes < used.rss_peak_bytes - 50 * 2**20
    assert used.pss_idle_bytes is not None
    assert 0 < used.pss_idle_bytes <= used.rss_idle_bytes


def test_peak_of_an_ended_process_is_not_forgotten() -> None:
    """A process that ended in the window counts with what it held before; without peaks there is no sum."""
    one, two = Member(1, "a"), Member(2, "b")
    before = memory.MemoryReading({one: memory.Footprint(10, 12, 5), two: memory.Footprint(20, 20, 5)})
    assert memory.peak_bytes(before, memory.MemoryReading({one: memory.Footprint(8, 14, 5)})) == 34
    assert memory.peak_bytes(before, memory.MemoryReading({one: memory.Footprint(8, None, 5)})) is None


def test_waits_are_switches(start: Callable[..., Worker]) -> None:
    """Fifty naps are at least fifty voluntary switches, and not many more."""
    worker = start()
    meter = UsageMeter(worker.child)
    meter.begin()
    worker.do("wait")
    used = meter.end()
    assert used.voluntary_switch_count is not None
    assert 50 <= used.voluntary_switch_count < 100


def test_flushes_of_the_device(start: Callable[..., Worker], tmp_path: Path) -> None:
    """Twenty synced writes are at least twenty flushes of the device they lie on."""
    if (why := flush_counter.counter_of(tmp_path).absent) is not None:
        pytest.skip(f"flushes are not counted under the temporary folder: {why}")
    worker = start()
    meter = UsageMeter(worker.child, tmp_path)
    meter.begin()
    worker.do("flush")
    used = meter.end()
    assert used.flush_count is not None
    assert used.flush_count >= 20


def test_flushes_are_absent_with_a_reason(tmp_path: Path) -> None:
    """No device, a kernel that does not count, and another system each have their reason."""
    assert flush_counter.counter_of(Path("/proc")).absent == "no_device"
    assert flush_counter.counter_of(tmp_path, Machine(tmp_path, "Darwin")).absent == "not_linux"
    number = tmp_path.stat().st_dev
    device = f"{os.major(number)}:{os.minor(number)}"
    table = tmp_path / "proc/self/mountinfo"
    table.parent.mkdir(parents=True)
    table.write_text(f"20 1 {device} / / rw - ext4 /dev/x rw\n")
    (tmp_path / "sys/dev/block" / device).mkdir(parents=True)
    stat = tmp_path / "sys/dev/block" / device / "stat"
    stat.write_text(" ".join(["1"] * 11))
    machine = Machine(tmp_path, "Linux")
    assert flush_counter.counter_of(tmp_path, machine).absent == "not_counted_by_kernel"
    stat.write_text(" ".join(map(str, range(1, 18))))
    assert flush_counter.counter_of(tmp_path, machine).read() == 16


def test_a_dead_child_is_absent_not_zero(start: Callable[..., Worker]) -> None:
    """After the end of the program its group still knows the CPU; without one that, too, is absent with a reason."""
    worker = start()
    meter = UsageMeter(worker.child)
    meter.begin()
    worker.child.process.kill()
    worker.child.process.wait()
    used = meter.end()
    assert (used.cpu_s, used.rss_peak_bytes, used.voluntary_switch_count) == (None, None, None)
    for name in ("cpu_s", "rss_peak_bytes", "voluntary_switch_count"):
        assert used.absent[name].absent == "process_ended"


def test_a_lane_without_a_process_of_ours_says_which_kind_it_is() -> None:
    """The baseline has no gateway; a gateway that runs elsewhere is one, whose cost is not ours to read."""
    reported = {kind: nothing_of_ours(is_baseline=kind).absent.values() for kind in (True, False)}
    assert {one.absent for one in reported[True]} == {"no_gateway"}
    assert {one.absent for one in reported[False]} == {"runs_elsewhere"}


def test_processes_started_before_the_group_come_in(tmp_path: Path) -> None:
    """A child process that was outside the group is moved in by the first reading, and its CPU is counted."""
    code = "import subprocess,sys;subprocess.run(['sleep','60'])"
    with Supervisor(tmp_path / "state", search_path=os.environ["PATH"]) as supervisor:
        child = supervisor.start(
            Service("p", (sys.executable, "-c", code), tmp_path, tmp_path / "log", counts_cpu=True)
        )
        if child.group is None:
            pytest.skip(f"no control group can be made here: {child.why_no_group}")
        deadline = time.monotonic() + 20
        while len(child.members()) != 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        orphan = next(member.pid for member in child.members() if member.pid != child.pid)
        parent = cgroup.find_parents(Machine(), [])[0]
        (parent.path / "cgroup.procs").write_text(str(orphan))
        assert child.group.pids() == {child.pid}
        UsageMeter(child).begin()
        assert child.group.pids() == {child.pid, orphan}
        path = child.group.path
    assert not path.exists()


def test_a_command_tells_its_cpu(tmp_path: Path) -> None:
    """The CPU of a command that ended is what it burnt, its own ended children included."""
    burn = "import time\nwhile time.process_time() < 0.2: pass"
    code = f"import subprocess,sys\n{burn}\nsubprocess.run([sys.executable, '-c', {burn!r}])"
    with Supervisor(tmp_path / "state") as supervisor:
        ended = supervisor.run(Command((sys.executable, "-c", code), tmp_path, 30.0))
    assert ended.cpu_s is not None
    assert 0.4 <= ended.cpu_s < 0.8
