"""The idle gate before each block: waits until nothing but us has used the machine for a while.

It decides by the machine's counters alone, never by a figure of a gateway, and a machine that gets no rest is told,
not refused.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from weighbridge.record.host import FOREIGN_LIMIT_CORES, STEAL_LIMIT_PCT
from weighbridge.rig.machine.load_meter import Meter, Snapshot, foreign_cores, pressure_pct, steal_pct


@dataclass(frozen=True)
class Limits:
    """What counts as quiet, over `quiet_s` seconds."""

    quiet_s: float = 5.0
    cpu_some_pct: float = 2.0
    io_some_pct: float = 5.0
    steal_pct: float = STEAL_LIMIT_PCT
    foreign_cpu_cores: float = FOREIGN_LIMIT_CORES


@dataclass(frozen=True)
class Clock:
    """Time as the gate sees it; tests bring their own."""

    now: Callable[[], float] = time.monotonic
    sleep: Callable[[float], None] = time.sleep
    step_s: float = field(default=1.0)


_LIMITS = Limits()
_CLOCK = Clock()


def wait_idle(
    meter: Meter,
    own_pids: Iterable[int],
    *,
    within_s: float,
    limits: Limits = _LIMITS,
    clock: Clock = _CLOCK,
) -> str | None:
    """None once the machine was quiet for `limits.quiet_s`; else why it was not, when `within_s` are over.

    Windows slide by a step, so a disturbance costs its own length and no more. With `within_s` below the quiet
    time one window is looked at.
    """
    pids = tuple(own_pids)
    started_s = clock.now()
    kept = deque([meter.snapshot(pids)])
    while True:
        clock.sleep(min(clock.step_s, limits.quiet_s))
        now = meter.snapshot(pids)
        kept.append(now)
        while len(kept) > 2 and now.at_s - kept[1].at_s >= limits.quiet_s:
            kept.popleft()
        if now.at_s - kept[0].at_s < limits.quiet_s:
            continue
        disturbance = what_disturbs(kept[0], now, limits)
        if disturbance is None:
            return None
        if clock.now() - started_s >= within_s:
            return f"the machine was not quiet for {limits.quiet_s:g} s within {within_s:g} s: {disturbance}"


def what_disturbs(before: Snapshot, now: Snapshot, limits: Limits = _LIMITS) -> str | None:
    """Everything over its limit between two snapshots, in one clause; None when it was quiet.

    A counter that this system does not have disturbs nothing.
    """
    span_s = now.at_s - before.at_s
    seen = (
        ("foreign processes used {:.2f} of a core", foreign_cores(before, now), limits.foreign_cpu_cores),
        ("tasks waited for a CPU {:.1f} % of the time", _pressure(before, now, "cpu", span_s), limits.cpu_some_pct),
        ("tasks waited for a disk {:.1f} % of the time", _pressure(before, now, "io", span_s), limits.io_some_pct),
        ("{:.1f} % of the CPU time was stolen", steal_pct(before, now), limits.steal_pct),
    )
    clauses = [text.format(value) for text, value, limit in seen if value is not None and value >= limit]
    return ", ".join(clauses) or None


def _pressure(before: Snapshot, now: Snapshot, kind: str, span_s: float) -> float | None:
    return pressure_pct(getattr(before, kind), getattr(now, kind), span_s)
