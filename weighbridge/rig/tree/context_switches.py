"""Context switches of a process tree, thread by thread.

The kernel drops a thread's count with the thread: what a thread that ended had done in the window is not seen.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from weighbridge.rig.tree.process_tree import Member

_LINE = re.compile(r"^(voluntary|nonvoluntary)_ctxt_switches:\s+(\d+)$", re.MULTILINE)


class Switches(NamedTuple):
    """Times that a thread gave the CPU away (it waited) and that it was taken from it."""

    voluntary_count: int
    involuntary_count: int


SwitchesReading = dict[tuple[int, int], Switches]


def read(members: Iterable[Member]) -> SwitchesReading | None:
    """Read counts by process and thread; None where the system does not tell."""
    if sys.platform != "linux":
        return None
    found: SwitchesReading = {}
    for member in members:
        for status in Path(f"/proc/{member.pid}/task").glob("[0-9]*/status"):
            try:
                counts = dict(_LINE.findall(status.read_text(errors="replace")))
                switches = Switches(int(counts["voluntary"]), int(counts["nonvoluntary"]))
            except (OSError, KeyError):
                continue  # ended since it was found
            found[member.pid, int(status.parent.name)] = switches
    return found


def between(before: SwitchesReading, now: SwitchesReading) -> Switches:
    """Switches from one reading to the next, of the threads that live at its end."""
    zero = Switches(0, 0)
    differences = [
        (one.voluntary_count - old.voluntary_count, one.involuntary_count - old.involuntary_count)
        for thread, one in now.items()
        for old in (before.get(thread, zero),)
    ]
    return Switches(*(sum(max(0, pair[i]) for pair in differences) for i in (0, 1)))
