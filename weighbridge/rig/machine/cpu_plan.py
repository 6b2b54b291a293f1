"""Which CPUs the gateway has for itself, and which the mocks and the load generator use: whole physical cores.

Below four CPUs there is no plan: two parts that share one core queue behind each other, and the baseline's tail gets
slower than without one.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from weighbridge.rig.machine.filesystem_root import HERE, Machine

MINIMUM_CPU_COUNT = 4


@dataclass(frozen=True)
class Core:
    """One physical core: its logical CPUs, and how fast it can go (0: not told)."""

    cpus: tuple[int, ...]
    speed: int = 0


@dataclass(frozen=True)
class CpuPlan:
    """Logical CPUs of each part; those of mocks and driver may be the same, the gateway's are its own."""

    gateway: tuple[int, ...]
    mocks: tuple[int, ...]
    driver: tuple[int, ...]

    @property
    def beside_gateway(self) -> tuple[int, ...]:
        """All CPUs that are not the gateway's."""
        return tuple(sorted({*self.mocks, *self.driver}))


def plan(cores: Iterable[Core], *, cpu_count: int, minimum_cpu_count: int = MINIMUM_CPU_COUNT) -> CpuPlan | None:
    """Half of the cores to the gateway (the fastest, then the highest), the rest to mocks and driver.

    `cpu_count` is how many CPUs we may use, a container's quota counted. None below `minimum_cpu_count` CPUs or two
    whole cores.
    """
    ordered = sorted(cores, key=lambda core: (core.speed, core.cpus))
    if cpu_count < minimum_cpu_count or len(ordered) < 2:
        return None
    split = len(ordered) - len(ordered) // 2
    beside, gateway = ordered[:split], ordered[split:]
    mocks = beside[: len(beside) // 2] or beside
    driver = beside[len(beside) // 2 :]
    return CpuPlan(_cpus(gateway), _cpus(mocks), _cpus(driver))


def read_cores(machine: Machine = HERE, usable: Iterable[int] | None = None) -> tuple[Core, ...]:
    """Find the physical cores that we may use whole; empty where the system does not tell."""
    if usable is None:
        if not machine.is_linux:
            return ()
        usable = os.sched_getaffinity(0)
    ours = set(usable)
    found: dict[tuple[int, ...], Core] = {}
    for cpu in sorted(ours):
        base = f"/sys/devices/system/cpu/cpu{cpu}"
        text = machine.text(f"{base}/topology/core_cpus_list") or machine.text(
            f"{base}/topology/thread_siblings_list"
        )
        if text is None:
            return ()
        cpus = parse_list(text)
        if ours.issuperset(cpus):
            speed = machine.text(f"{base}/cpu_capacity") or machine.text(f"{base}/cpufreq/cpuinfo_max_freq") or "0"
            found[cpus] = Core(cpus, int(speed) if speed.isdigit() else 0)
    return tuple(found.values())


def parse_list(text: str) -> tuple[int, ...]:
    """Numbers of a kernel list such as `0-3,8`."""
    numbers: list[int] = []
    for first, last in re.findall(r"(\d+)(?:-(\d+))?", text):
        numbers += range(int(first), int(last or first) + 1)
    return tuple(sorted(set(numbers)))


@contextmanager
def confined(cpus: tuple[int, ...] | None) -> Iterator[None]:
    """Run this thread, and what it starts meanwhile, on `cpus` alone; None changes nothing.

    Set before a fork and not after it, so that no child has run elsewhere. Raises OSError when no such CPU is there.
    """
    if cpus is None:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _cpus(cores: Iterable[Core]) -> tuple[int, ...]:
    return tuple(sorted(cpu for core in cores for cpu in core.cpus))
