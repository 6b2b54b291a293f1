"""CPU seconds of a process tree where it has no control group: the clocks of its processes and of what they reaped.

A clock is exact while its process sleeps and lags by up to a tick while it runs: read it when the lane is drained.
What was reaped by somebody outside the tree is not seen.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from weighbridge.rig.tree.process_tree import Member, start_of

_CLOCK_STEP_S = 1e-9
# The kernel shows the seconds of children that ended and were waited for in ticks only.
TICK_S = 1 / os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 0.01


@dataclass(frozen=True)
class CpuTimeReading:
    """CPU seconds of a tree at one moment: of its processes by pid and start, and of those they waited for."""

    of_process: dict[Member, float]
    reaped_s: float

    @property
    def total_s(self) -> float:
        """All of it."""
        return sum(self.of_process.values()) + self.reaped_s


@dataclass(frozen=True)
class Used:
    """What a tree used between two readings; `lost_count` processes ended and were waited for by somebody else."""

    cpu_s: float
    step_s: float
    lost_count: int


def read(members: Iterable[Member]) -> CpuTimeReading:
    """Read the clocks of all `members` and of their children that ended and wait to be reaped."""
    family = tuple(members)
    clocks: dict[Member, float] = {}
    reaped_s = 0.0
    for member in (*family, *_zombies({member.pid for member in family})):
        try:
            clocks[member] = clock_s(member.pid)
            reaped_s += _reaped_s(member.pid)
        except (OSError, psutil.Error):
            clocks.pop(member, None)  # ended since it was found: its parent has taken its seconds over
    return CpuTimeReading(clocks, reaped_s)


def between(before: CpuTimeReading, now: CpuTimeReading) -> Used:
    """CPU that a tree used from one reading to the next.

    Who ended in between and was reaped by the tree is in its parent's sum with all it ever used, so that the
    difference of the sums is right. When that sum does not hold as much as the ended ones had used before, somebody
    else reaped them: the difference is taken over those that are left, and they are counted as lost.
    """
    ended_s = sum(seconds for member, seconds in before.of_process.items() if member not in now.of_process)
    ended_count = sum(1 for member in before.of_process if member not in now.of_process)
    reaped_s = now.reaped_s - before.reaped_s
    living_s = sum(seconds - before.of_process.get(member, 0.0) for member, seconds in now.of_process.items())
    step_s = _CLOCK_STEP_S if sys.platform == "linux" and reaped_s <= 0 else TICK_S
    if reaped_s + 2 * TICK_S < ended_s:
        return Used(max(0.0, living_s + max(0.0, reaped_s)), step_s, ended_count)
    return Used(max(0.0, living_s + reaped_s - ended_s), step_s, 0)


def clock_s(pid: int) -> float:
    """CPU seconds of one process with all its threads, the ended ones too; of a zombie as well. Raises OSError.

    The clock id is made as `clock_getcpuclockid(3)` does. Elsewhere than on Linux in steps of a tick.
    """
    if sys.platform == "linux":
        return time.clock_gettime_ns((~pid << 3) | 2) / 1e9
    times = psutil.Process(pid).cpu_times()
    return float(times.user + times.system)


def _reaped_s(pid: int) -> float:
    if sys.platform != "linux":
        times = psutil.Process(pid).cpu_times()
        return float(getattr(times, "children_user", 0.0) + getattr(times, "children_system", 0.0))
    fields = _stat_fields(pid)
    return (int(fields[13]) + int(fields[14])) * TICK_S


def _zombies(parents: set[int]) -> list[Member]:
    """Children of the tree that ended and were not waited for yet; their clocks can still be read."""
    if sys.platform != "linux":
        return []
    found = []
    for pid in psutil.pids():
        try:
            fields = _stat_fields(pid)
        except OSError:
            continue
        if fields[0] == b"Z" and int(fields[1]) in parents and start_of(pid) is None:
            found.append(Member(pid, fields[19].decode()))
    return found


def _stat_fields(pid: int) -> list[bytes]:
    """Fields of /proc/PID/stat from the state on; raises OSError."""
    text = Path(f"/proc/{pid}/stat").read_bytes()
    return text[text.rindex(b")") + 2 :].split()
