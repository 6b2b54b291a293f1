"""How busy the machine is, and how much of it is not our doing.

`Meter.read` is called before and after each run, `gate` calls it while it waits. A reading costs some
milliseconds of CPU: never take one inside a window.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import psutil

from weighbridge.record.host import LoadReading
from weighbridge.rig.machine.filesystem_root import HERE, Machine


@dataclass(frozen=True)
class Pressure:
    """Share of time in which some task waited: per cent of the last ten seconds, and in all, seconds."""

    avg10_pct: float
    total_s: float


@dataclass(frozen=True)
class Snapshot:
    """Counters of the machine at one moment; seconds are CPU seconds over all cores.

    `busy_s` is time that any process or the kernel used, `own_s` the part of it that our processes used.
    """

    at_s: float
    load_1m: float | None
    cpu: Pressure | None
    io: Pressure | None
    busy_s: float
    total_s: float
    steal_s: float | None
    own_s: float


class Meter:
    """Readings since the previous reading. One for a campaign: it keeps the last snapshot."""

    def __init__(self, take: Callable[[Iterable[int]], Snapshot] | None = None) -> None:
        self._take = take or take_snapshot
        self._last: Snapshot | None = None

    def read(self, own_pids: Iterable[int]) -> LoadReading:
        """Read the machine now; steal and foreign CPU are since the last reading, None in the first one.

        `own_pids` are our processes besides this one; their children are ours as well.
        """
        now = self._take(own_pids)
        before, self._last = self._last, now
        return reading(before, now)

    def snapshot(self, own_pids: Iterable[int]) -> Snapshot:
        """Counters now, without touching what `read` counts from."""
        return self._take(own_pids)


def reading(before: Snapshot | None, now: Snapshot) -> LoadReading:
    """Tell what two snapshots say of the time between them."""
    return LoadReading(
        load_1m=now.load_1m,
        cpu_some_pct=now.cpu.avg10_pct if now.cpu else None,
        io_some_pct=now.io.avg10_pct if now.io else None,
        steal_pct=steal_pct(before, now) if before else None,
        foreign_cpu_cores=foreign_cores(before, now) if before else None,
    )


def steal_pct(before: Snapshot, now: Snapshot) -> float | None:
    """Stolen share of all CPU time between two snapshots, per cent; None where the kernel does not count it."""
    if before.steal_s is None or now.steal_s is None or now.total_s <= before.total_s:
        return None
    return max(0.0, 100 * (now.steal_s - before.steal_s) / (now.total_s - before.total_s))


def foreign_cores(before: Snapshot, now: Snapshot) -> float | None:
    """Cores that others used between two snapshots: all that was used less what we used, never below zero.

    Counted as a remainder and not by summing other processes, because those that live for a moment would be missed.
    """
    span_s = now.at_s - before.at_s
    if span_s <= 0:
        return None
    return max(0.0, (now.busy_s - before.busy_s) - (now.own_s - before.own_s)) / span_s


def pressure_pct(before: Pressure | None, now: Pressure | None, span_s: float) -> float | None:
    """Share of a span in which some task waited, per cent; None where not reported by the kernel."""
    if before is None or now is None or span_s <= 0:
        return None
    return max(0.0, 100 * (now.total_s - before.total_s) / span_s)


def take_snapshot(own_pids: Iterable[int], machine: Machine = HERE) -> Snapshot:
    """Counters of this machine now."""
    times = psutil.cpu_times()
    idle_s = times.idle + getattr(times, "iowait", 0.0)
    steal_s = getattr(times, "steal", None)
    # Guest time is contained in user time already.
    parts = ("user", "nice", "system", "irq", "softirq")
    busy_s = sum(getattr(times, part, 0.0) for part in parts)
    return Snapshot(
        at_s=time.monotonic(),
        load_1m=_load_1m(),
        cpu=read_pressure("cpu", machine),
        io=read_pressure("io", machine),
        busy_s=busy_s,
        total_s=busy_s + idle_s + (steal_s or 0.0),
        steal_s=steal_s,
        own_s=own_cpu_s(own_pids),
    )


def read_pressure(kind: str, machine: Machine = HERE) -> Pressure | None:
    """Read the `some` line of /proc/pressure/KIND; None where the kernel has none."""
    text = machine.text(f"/proc/pressure/{kind}") or ""
    match = re.search(r"^some avg10=([\d.]+) .*\btotal=(\d+)", text, re.MULTILINE)
    return Pressure(float(match.group(1)), int(match.group(2)) / 1e6) if match else None


def own_cpu_s(own_pids: Iterable[int]) -> float:
    """CPU seconds of this process, the given ones and all below them, with those that ended and were waited for."""
    family: dict[int, psutil.Process] = {}
    for pid in {os.getpid(), *own_pids}:
        try:
            root = psutil.Process(pid)
            family[pid] = root
            family.update((child.pid, child) for child in root.children(recursive=True))
        except psutil.Error:
            continue  # ended; whoever waited for it has its seconds
    return sum(_cpu_s(process) for process in family.values())


def _cpu_s(process: psutil.Process) -> float:
    try:
        return float(sum(process.cpu_times()[:4]))
    except psutil.Error:
        return 0.0


def _load_1m() -> float | None:
    try:
        return os.getloadavg()[0]
    except OSError:
        return None
