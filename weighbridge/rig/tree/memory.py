"""Memory of a process tree: resident (shared pages counted in each process) and proportional (shared out)."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import psutil

from weighbridge.rig.tree.process_tree import Member

_LINE = re.compile(r"^(VmRSS|VmHWM|Pss):\s+(\d+) kB$", re.MULTILINE)
_RESET_PEAK = "5\n"


@dataclass(frozen=True)
class Footprint:
    """Memory of one process, bytes; None where the system does not tell."""

    rss_bytes: int
    peak_bytes: int | None
    pss_bytes: int | None


@dataclass(frozen=True)
class MemoryReading:
    """Memory of a tree at one moment, by process."""

    of_process: dict[Member, Footprint]

    @property
    def rss_bytes(self) -> int:
        """Resident memory of all processes, shared pages counted in each."""
        return sum(one.rss_bytes for one in self.of_process.values())

    @property
    def pss_bytes(self) -> int | None:
        """Proportional memory of all processes; None when one does not tell."""
        return _sum(one.pss_bytes for one in self.of_process.values())


def read(members: Iterable[Member]) -> MemoryReading:
    """Memory of all `members` that still live."""
    found = {}
    for member in members:
        try:
            found[member] = _of(member.pid)
        except (OSError, psutil.Error):
            continue  # ended since it was found
    return MemoryReading(found)


def forget_peaks(members: Iterable[Member]) -> bool:
    """Whether every process now counts its peak anew; False where the system does not let us."""
    done = sys.platform == "linux"
    for member in members:
        try:
            Path(f"/proc/{member.pid}/clear_refs").write_text(_RESET_PEAK)
        except (FileNotFoundError, ProcessLookupError):
            continue
        except OSError:
            done = False
    return done


def peak_bytes(before: MemoryReading, now: MemoryReading) -> int | None:
    """Sum of the peaks of all processes, of one that ended its memory before; None where the kernel keeps no peak.

    Processes need not have peaked at one time, so this is no less than what the tree held at any moment.
    """
    ended = sum(one.rss_bytes for member, one in before.of_process.items() if member not in now.of_process)
    peak = _sum(one.peak_bytes for one in now.of_process.values())
    return None if peak is None else peak + ended


def _of(pid: int) -> Footprint:
    if sys.platform != "linux":
        return Footprint(psutil.Process(pid).memory_info().rss, None, None)
    status = _fields(Path(f"/proc/{pid}/status"))
    if "VmRSS" not in status:
        raise ProcessLookupError(pid)  # a zombie, or a thread of the kernel
    try:
        pss_bytes = _fields(Path(f"/proc/{pid}/smaps_rollup")).get("Pss")
    except OSError:
        pss_bytes = None
    return Footprint(status["VmRSS"], status.get("VmHWM"), pss_bytes)


def _fields(path: Path) -> dict[str, int]:
    text = path.read_text(errors="replace")
    return {name: int(value) * 1024 for name, value in _LINE.findall(text)}


def _sum(values: Iterable[int | None]) -> int | None:
    known = list(values)
    whole = [value for value in known if value is not None]
    return sum(whole) if known and len(whole) == len(known) else None
