"""What a faulty gateway tells about its fault: how many requests it met and what it did to each.

Filled by the faults, served by the wrapper at `/faults`, so that a scale can be checked against what really happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mocks.gateway.visit import Handle

COLUMNS = ("reference", "start_ns", "end_ns")


@dataclass(slots=True)
class Witness:
    """Counts and, where time was added, when it began and ended for each request (monotonic clock)."""

    fault: str
    request_count: int = 0
    stray_pid: int | None = None
    rows: list[tuple[str | None, int, int]] = field(default_factory=list)

    def document(self) -> dict[str, Any]:
        """The answer at `/faults`."""
        return {
            "fault": self.fault,
            "request_count": self.request_count,
            "stray_pid": self.stray_pid,
            "columns": COLUMNS,
            "rows": self.rows,
        }


Wrap = Callable[[Handle], Handle]
Build = Callable[[str, Witness], Wrap]
