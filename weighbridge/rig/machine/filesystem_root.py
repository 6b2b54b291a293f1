"""Where facts of the machine are read from: the kernel's file trees, below a root that tests may replace.

A file that is not there is an absent fact, never an error.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Machine:
    """The system that facts are read from; `root` stands for `/`."""

    root: Path = Path("/")
    system: str = field(default_factory=platform.system)

    @property
    def is_linux(self) -> bool:
        """Whether the kernel tells its facts in /proc and /sys."""
        return self.system == "Linux"

    def path(self, name: str) -> Path:
        """Place of a file such as `/proc/stat`."""
        return self.root / name.lstrip("/")

    def text(self, name: str) -> str | None:
        """Text of a file without blanks around it; None when it is absent, unreadable or empty."""
        try:
            return self.path(name).read_text(encoding="utf-8", errors="replace").strip("\0 \t\n") or None
        except OSError:
            return None


# The system that we run on.
HERE = Machine()
