"""What a child of ours uses: CPU, memory, context switches and flushes between `begin` and `end`.

`begin` comes when the lane is warm, `end` when it is drained, so that work which a request leaves behind is the
request's.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weighbridge.record.figures import Absent
from weighbridge.record.run import IdleLook, Resources
from weighbridge.rig.machine.flush_counter import FlushCounter, counter_of
from weighbridge.rig.machine.host import usable_cpus
from weighbridge.rig.processes.child import Child
from weighbridge.rig.tree import context_switches, cpu_time, memory, thread_cpu
from weighbridge.rig.tree.cgroup import ControlGroup
from weighbridge.rig.tree.process_tree import Member

# A look is cut into slices of a second, a shorter one into two: their spread says how far idle use can be trusted.
SLICE_S = 1.0
_LEAST_SLICES = 2
_NO_DISK = FlushCounter(None, "no_disk_named")


@dataclass(frozen=True)
class CpuReading:
    """CPU of a tree at one moment: of its control group where it has one, and of its processes' clocks."""

    at_s: float
    group: ControlGroup | None
    group_s: float
    clocks: cpu_time.CpuTimeReading


@dataclass(frozen=True)
class CpuUsed:
    """CPU seconds between two readings, where they were read, and the smallest difference that this can show."""

    cpu_s: float
    span_s: float
    source: str
    step_s: float
    lost_count: int = 0

    @property
    def cores(self) -> float:
        """CPU seconds per second."""
        return self.cpu_s / self.span_s if self.span_s > 0 else 0.0


@dataclass(frozen=True)
class _FirstReadings:
    cpu: CpuReading
    memory: memory.MemoryReading
    switches: context_switches.SwitchesReading | None
    threads: thread_cpu.Reading | None
    flush_count: int | None
    is_peak_anew: bool


class UsageMeter:
    """Readings of one child; `disk` is the directory whose device's flushes are counted."""

    def __init__(self, child: Child, disk: Path | None = None) -> None:
        self._child = child
        self._flushes = counter_of(disk) if disk else _NO_DISK
        self._begun: _FirstReadings | None = None
        self._idle: IdleLook | None = None
        self._idle_flush_rps: float | None = None

    @property
    def idle(self) -> IdleLook | None:
        """What the child used without a request in the first look; None before that was made."""
        return self._idle

    def look_before(self, for_s: float, sleep: Callable[[float], object] = time.sleep) -> IdleLook | None:
        """Look at what the child uses without a request; the result is kept, and told with every later `end`."""
        flushes, begun = self._flushes.read(), time.monotonic()
        self._idle = look_idle(self._child, for_s, sleep)
        after = self._flushes.read()
        if flushes is not None and after is not None and self._idle:
            self._idle_flush_rps = (after - flushes) / (time.monotonic() - begun)
        return self._idle

    def look_after(self, for_s: float, sleep: Callable[[float], object] = time.sleep) -> IdleLook | None:
        """Look once more when all windows are over; None where the first look was not made."""
        return None if self._idle is None else look_idle(self._child, for_s, sleep)

    def begin(self) -> None:
        """Take the readings before the load, the CPU last."""
        members = self._members()
        is_peak_anew = memory.forget_peaks(members)
        self._begun = _FirstReadings(
            memory=memory.read(members),
            switches=context_switches.read(members),
            threads=thread_cpu.read(members),
            flush_count=self._flushes.read(),
            is_peak_anew=is_peak_anew,
            cpu=read_cpu(self._child),
        )

    def end(self) -> Resources:
        """Return what was used since `begin`; what could not be read is named with the reason."""
        begun = self._begun
        if begun is None:
            raise RuntimeError("the usage of a window was ended before it was begun")
        cpu = cpu_between(begun.cpu, read_cpu(self._child))
        flush_count = self._flushes.read()
        members = self._child.members()
        cores = self._child.service.cores
        reported: dict[str, Any] = {
            "process_count": len(members),
            "cores": cores,
            "core_count": usable_cpus() if cores is None else len(cores),
            "busiest_thread_s": _busiest_thread_s(begun, members),
            "idle_before": self._idle,
        }
        absent: dict[str, Absent] = {}
        _report_cpu(reported, absent, cpu, self._child)
        _report_memory(reported, absent, begun, memory.read(members))
        _report_switches(reported, absent, begun.switches, context_switches.read(members))
        if begun.flush_count is None or flush_count is None:
            absent["flush_count"] = Absent(absent=self._flushes.absent or "device_has_gone")
        else:
            reported["flush_count"] = flush_count - begun.flush_count
            reported["flush_idle_rps"] = self._idle_flush_rps
        return Resources(**reported, absent=absent)

    def _members(self) -> tuple[Member, ...]:
        """All processes of the child, those that were started before it was put into its group put into it now."""
        members = self._child.members()
        group = self._child.group
        if group is not None:
            for pid in {member.pid for member in members} - group.pids():
                group.add(pid)
        return members


def look_idle(child: Child, for_s: float, sleep: Callable[[float], object]) -> IdleLook | None:
    """Return what a child uses without a request, in slices; None where it cannot be read."""
    count = max(_LEAST_SLICES, round(for_s / SLICE_S))
    cores: list[float] = []
    begun = before = read_cpu(child)
    for _ in range(count):
        sleep(for_s / count)
        now = read_cpu(child)
        used = cpu_between(before, now)
        if used is None or used.lost_count:
            return None
        cores.append(used.cores)
        before = now
    return IdleLook(slice_s=(before.at_s - begun.at_s) / count, cores=tuple(cores))


def _busiest_thread_s(begun: _FirstReadings, members: tuple[Member, ...]) -> float | None:
    now = thread_cpu.read(members)
    return None if begun.threads is None or now is None else thread_cpu.busiest_s(begun.threads, now)


def read_cpu(child: Child) -> CpuReading:
    """CPU of a child's tree now."""
    group, group_s = child.group, 0.0
    try:
        group_s = group.cpu_s() if group else 0.0
    except (OSError, ValueError):
        group = None  # somebody removed it
    at_s = time.monotonic()
    return CpuReading(
        at_s, group, group_s, cpu_time.CpuTimeReading({}, 0.0) if group else cpu_time.read(child.members())
    )


def cpu_between(before: CpuReading, now: CpuReading) -> CpuUsed | None:
    """CPU from one reading to the next; None when their sources differ."""
    span_s = now.at_s - before.at_s
    if before.group != now.group:
        return None
    if now.group is not None:
        return CpuUsed(now.group_s - before.group_s, span_s, now.group.kind, now.group.step_s)
    used = cpu_time.between(before.clocks, now.clocks)
    source = "process_clock" if sys.platform == "linux" else "process_times"
    return CpuUsed(used.cpu_s, span_s, source, used.step_s, used.lost_count)


def nothing_of_ours(*, is_baseline: bool) -> Resources:
    """Return the resources of a lane for which nothing was started: no gateway is there, or it runs elsewhere."""
    names = ("cpu_s", "rss_idle_bytes", "rss_peak_bytes", "pss_idle_bytes", "voluntary_switch_count", "flush_count")
    code = "no_gateway" if is_baseline else "runs_elsewhere"
    return Resources(absent=dict.fromkeys(names, Absent(absent=code)))


def _report_cpu(reported: dict[str, Any], absent: dict[str, Absent], cpu: CpuUsed | None, child: Child) -> None:
    if child.why_no_group:
        absent["cgroup"] = Absent(absent="no_group", detail=child.why_no_group)
    # Of a process that has gone only a group still knows what it used.
    if cpu is None or cpu.lost_count or (child.group is None and not child.alive()):
        absent["cpu_s"] = Absent(absent="group_has_gone" if cpu is None else "process_ended")
        return
    reported |= {"cpu_s": cpu.cpu_s, "cpu_from": cpu.source, "cpu_step_s": cpu.step_s, "cpu_span_s": cpu.span_s}


def _report_memory(
    reported: dict[str, Any], absent: dict[str, Absent], begun: _FirstReadings, after: memory.MemoryReading
) -> None:
    if not after.of_process:
        absent |= dict.fromkeys(("rss_peak_bytes", "rss_after_bytes"), Absent(absent="process_ended"))
        return
    reported["rss_idle_bytes"] = begun.memory.rss_bytes
    reported["rss_after_bytes"] = after.rss_bytes
    reported["rss_peak_bytes"] = memory.peak_bytes(begun.memory, after)
    reported["rss_peak_from"] = "window" if begun.is_peak_anew else "lifetime"
    reported["pss_idle_bytes"] = begun.memory.pss_bytes
    reported["pss_after_bytes"] = after.pss_bytes
    if reported["rss_peak_bytes"] is None:
        absent["rss_peak_bytes"] = Absent(absent="not_reported_by_kernel")
    if reported["pss_idle_bytes"] is None:
        absent["pss_idle_bytes"] = Absent(absent="not_reported_by_kernel")
    # A peak of it would have to be sampled in the window, by walking the page tables of what is measured.
    absent["pss_peak_bytes"] = Absent(absent="kernel_keeps_none")


def _report_switches(
    reported: dict[str, Any],
    absent: dict[str, Absent],
    before: context_switches.SwitchesReading | None,
    now: context_switches.SwitchesReading | None,
) -> None:
    if not before or not now:
        absent["voluntary_switch_count"] = Absent(absent="not_reported_by_kernel" if now is None else "process_ended")
        return
    used = context_switches.between(before, now)
    reported |= {
        "voluntary_switch_count": used.voluntary_count,
        "involuntary_switch_count": used.involuntary_count,
    }
