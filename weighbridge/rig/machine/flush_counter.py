"""Flushes of the device under a directory, by the kernel's own counter.

The counter is the whole device's: what other programs on it flush is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weighbridge.rig.machine.disks import device_folder
from weighbridge.rig.machine.filesystem_root import HERE, Machine

# Documentation/block/stat of the kernel: the sixteenth number counts flushes, since 5.5.
_FIELD = 15


@dataclass(frozen=True)
class FlushCounter:
    """Where the flushes of a directory's device are counted, or why nowhere (a reason code)."""

    file: Path | None
    absent: str | None = None

    def read(self) -> int | None:
        """Flushes since the device came up; None where they are not counted."""
        if self.file is None:
            return None
        try:
            return int(self.file.read_text().split()[_FIELD])
        except (OSError, IndexError, ValueError):
            return None


def counter_of(directory: Path, machine: Machine = HERE) -> FlushCounter:
    """Return the flush counter of the device that a directory lies on."""
    if not machine.is_linux:
        return FlushCounter(None, "not_linux")
    folder = device_folder(directory, machine)
    if folder is None:
        return FlushCounter(None, "no_device")
    counter = FlushCounter(folder / "stat")
    return counter if counter.read() is not None else FlushCounter(None, "not_counted_by_kernel")
