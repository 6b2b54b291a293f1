"""CPU seconds of each thread of a process tree: where one thread does the work, more cores do not help it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from weighbridge.rig.tree.cpu_time import TICK_S
from weighbridge.rig.tree.process_tree import Member

# Seconds by process and thread.
Reading = dict[tuple[int, int], float]


def read(members: Iterable[Member]) -> Reading | None:
    """Read the CPU seconds of all threads; None where the system does not tell."""
    if sys.platform != "linux":
        return None
    found: Reading = {}
    for member in members:
        for folder in Path(f"/proc/{member.pid}/task").glob("[0-9]*"):
            try:
                found[member.pid, int(folder.name)] = _seconds(folder)
            except (OSError, ValueError, IndexError):
                continue  # ended since it was found
    return found


def busiest_s(before: Reading, now: Reading) -> float | None:
    """Return the most that a thread which lives at the end used between two readings; None where none does."""
    return max((seconds - before.get(thread, 0.0) for thread, seconds in now.items()), default=None)


def _seconds(folder: Path) -> float:
    """Return the seconds of one thread: in ns by the scheduler's own count, in ticks where the kernel keeps none."""
    schedstat = folder / "schedstat"
    if schedstat.exists():
        return int(schedstat.read_text().split()[0]) / 1e9
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * TICK_S
