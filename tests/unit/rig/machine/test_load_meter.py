"""How busy the machine is, what of it is ours, and when the idle gate opens."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from weighbridge.rig.machine.filesystem_root import Machine
from weighbridge.rig.machine.idle_gate import Clock, wait_idle, what_disturbs
from weighbridge.rig.machine.load_meter import Meter, Pressure, Snapshot, own_cpu_s, read_pressure, take_snapshot

START = Snapshot(
    at_s=100.0,
    load_1m=0.5,
    cpu=Pressure(1.5, 10.0),
    io=Pressure(0.5, 20.0),
    busy_s=1000.0,
    total_s=5000.0,
    steal_s=5.0,
    own_s=300.0,
)


def later(span_s: float, **changes: float) -> Snapshot:
    """A moment after START: what was used and waited in between, on two cores."""
    used = {name: changes.get(name, 0.0) for name in ("busy", "own", "steal", "cpu", "io")}
    return replace(
        START,
        at_s=START.at_s + span_s,
        busy_s=START.busy_s + used["busy"],
        own_s=START.own_s + used["own"],
        steal_s=(START.steal_s or 0.0) + used["steal"],
        total_s=START.total_s + 2 * span_s,
        cpu=Pressure(1.5, 10.0 + used["cpu"]),
        io=Pressure(0.5, 20.0 + used["io"]),
    )


def meter_of(snapshots: Iterable[Snapshot]) -> Meter:
    """A meter that sees these moments."""
    moments = iter(snapshots)
    return Meter(lambda _: next(moments))


def test_the_first_reading_tells_nothing_about_before() -> None:
    """Steal and foreign CPU need two moments: absent in the first reading, not zero."""
    first = meter_of([START]).read([])
    assert (first.steal_pct, first.foreign_cpu_cores) == (None, None)
    assert (first.load_1m, first.cpu_some_pct, first.io_some_pct) == (0.5, 1.5, 0.5)


def test_foreign_is_what_was_used_less_what_we_used() -> None:
    """9 CPU seconds in 10 s, 4 of them ours: others had half a core; steal is a share of all CPU time."""
    meter = meter_of([START, later(10, busy=9, own=4, steal=1)])
    meter.read([])
    reading = meter.read([])
    assert reading.foreign_cpu_cores == pytest.approx(0.5)
    assert reading.steal_pct == pytest.approx(5.0)


def test_counters_that_run_backwards_give_no_negative_load() -> None:
    """A child that ended unseen makes our share shrink or grow by itself: never below zero."""
    meter = meter_of([START, later(10, busy=1, own=5, steal=-2)])
    meter.read([])
    reading = meter.read([])
    assert reading.foreign_cpu_cores == 0
    assert reading.steal_pct == 0


def test_a_snapshot_of_the_gate_does_not_move_what_a_reading_counts_from() -> None:
    """The reading after the gate still covers the whole time since the reading before it."""
    meter = meter_of([START, later(5, busy=5), later(10, busy=5)])
    meter.read([])
    meter.snapshot([])
    assert meter.read([]).foreign_cpu_cores == pytest.approx(0.5)


def test_our_children_are_ours_even_after_they_ended() -> None:
    """CPU seconds of a child that ended and was waited for are counted, by the child's own clock."""
    code = "import time\nwhile time.process_time() < 0.3: pass\nprint(time.process_time())"
    before = own_cpu_s([])
    spent = float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
    assert own_cpu_s([]) - before >= 0.9 * spent


def test_a_given_process_is_counted_once_and_a_dead_one_is_no_error() -> None:
    """Our own pid twice is still once; a pid that does not exist is passed over."""
    once = own_cpu_s([])
    assert own_cpu_s([os.getpid(), os.getpid(), 2**22 + 1]) < 1.5 * once


def test_this_machine_can_be_read() -> None:
    """A real snapshot is consistent: busy time is part of all time, ours is part of busy time."""
    now = take_snapshot([])
    assert 0 < now.own_s <= now.busy_s <= now.total_s


def test_a_kernel_without_pressure_files_tells_none(tmp_path: Path) -> None:
    """Absent, not zero; and the file's form is read as the kernel writes it."""
    assert read_pressure("cpu", Machine(tmp_path)) is None
    file = tmp_path / "proc" / "pressure" / "io"
    file.parent.mkdir(parents=True)
    file.write_text(
        "some avg10=2.12 avg60=1.28 avg300=2.30 total=47529551\nfull avg10=9.0 avg60=0 avg300=0 total=1\n"
    )
    assert read_pressure("io", Machine(tmp_path)) == Pressure(2.12, 47.529551)


@dataclass
class Simulation:
    """A machine in simulated time: `disturbed` says until when each kind of disturbance lasts."""

    disturbed: dict[str, float]
    now_s: float = 0.0
    share: dict[str, float] = field(default_factory=dict)

    def clock(self) -> Clock:
        """The time of this machine."""
        return Clock(now=lambda: self.now_s, sleep=self.sleep)

    def sleep(self, seconds: float) -> None:
        """Let time pass."""
        self.now_s += seconds

    def meter(self) -> Meter:
        """A meter on this machine."""

        def take(_: Iterable[int]) -> Snapshot:
            used = {name: min(self.now_s, end) * self.share.get(name, 1.0) for name, end in self.disturbed.items()}
            return later(self.now_s, **used)

        return Meter(take)


def test_a_quiet_machine_opens_the_gate_after_the_quiet_time() -> None:
    """Five seconds are looked at, whatever the wait allows."""
    machine = Simulation({})
    assert wait_idle(machine.meter(), [], within_s=60, clock=machine.clock()) is None
    assert machine.now_s == pytest.approx(5.0)


def test_our_own_load_is_no_disturbance() -> None:
    """Foreign is what counts: what we use ourselves keeps no gate closed."""
    machine = Simulation({"busy": 100, "own": 100})
    assert wait_idle(machine.meter(), [], within_s=60, clock=machine.clock()) is None


@pytest.mark.parametrize("kind", ["busy", "cpu", "io", "steal"])
def test_the_gate_opens_five_seconds_after_a_disturbance(kind: str) -> None:
    """Each kind of disturbance holds it, and costs its own length and one step at most."""
    machine = Simulation({kind: 20.0}, share={kind: 0.5})
    assert wait_idle(machine.meter(), [], within_s=60, clock=machine.clock()) is None
    assert 24.0 <= machine.now_s <= 26.0


@pytest.mark.parametrize(
    ("kind", "share", "clause"),
    [
        ("busy", 0.8, "foreign processes used 0.80 of a core"),
        ("cpu", 0.3, "tasks waited for a CPU 30.0 % of the time"),
        ("io", 0.2, "tasks waited for a disk 20.0 % of the time"),
        ("steal", 0.1, "5.0 % of the CPU time was stolen"),
    ],
)
def test_a_machine_that_gets_no_rest_is_told_with_its_reason(kind: str, share: float, clause: str) -> None:
    """The wait ends when it was to end, and says what disturbed."""
    machine = Simulation({kind: 1e9}, share={kind: share})
    reason = wait_idle(machine.meter(), [], within_s=12, clock=machine.clock())
    assert reason == f"the machine was not quiet for 5 s within 12 s: {clause}"
    assert machine.now_s == pytest.approx(12.0)


def test_a_wait_shorter_than_the_quiet_time_looks_once() -> None:
    """One whole window is looked at before anything is said."""
    machine = Simulation({"busy": 1e9})
    assert "not quiet" in (wait_idle(machine.meter(), [], within_s=0, clock=machine.clock()) or "")
    assert machine.now_s == pytest.approx(5.0)


# The method's limits: foreign < 5 % of a core, cpu some < 2 %, io some < 5 %, steal < 1 % (of the time of two cores).
@pytest.mark.parametrize(("kind", "share"), [("busy", 0.05), ("cpu", 0.02), ("io", 0.05), ("steal", 0.02)])
def test_the_limits_are_those_of_the_method(kind: str, share: float) -> None:
    """Just under a limit is quiet, just over it is not."""
    assert what_disturbs(START, later(5, **{kind: 5 * share * 0.98})) is None
    assert what_disturbs(START, later(5, **{kind: 5 * share * 1.02})) is not None


def test_counters_that_a_system_lacks_disturb_nothing() -> None:
    """Without pressure and steal the gate goes by foreign CPU alone."""
    poor = replace(START, cpu=None, io=None, steal_s=None)
    assert what_disturbs(poor, replace(poor, at_s=105.0, total_s=5010.0)) is None
