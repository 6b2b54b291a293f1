"""What a faulty gateway tells about its fault: how many requests it met and what it did to each.

Filled by the faults, served by the wrapper at `/faults`, so that a measurement can be checked against what really
happened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mocks.gateway.visit import Wrap

SLEEP_COLUMNS = ("reference", "start_ns", "end_ns")
CPU_COLUMNS = (*SLEEP_COLUMNS, "cpu_ns")
ASKED_COLUMNS = (*SLEEP_COLUMNS, "asked_ns")
SLEEP_LIMIT_COUNT = 1_000_000


class Rows:
    """One row per request; rows beyond the limit are counted, not kept."""

    def __init__(self) -> None:
        self.rows: list[tuple[str | int | None, ...]] = []
        self.unrecorded_count = 0

    def add(self, *row: str | int | None) -> None:
        """One more."""
        if len(self.rows) < SLEEP_LIMIT_COUNT:
            self.rows.append(row)
        else:
            self.unrecorded_count += 1


class GroundTruth:
    """Counts and, where time or work was added, when it began and ended for each request (monotonic clock)."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.columns: tuple[str, ...] = SLEEP_COLUMNS
        self.orphan_pid: int | None = None
        self.reset()

    def reset(self) -> None:
        """Start anew, faults that count requests included; requests at hand end in the old rows."""
        self.request_count = 0
        self.rows = Rows()

    def document(self, offset: int = 0, limit: int | None = None) -> dict[str, Any]:
        """Return the response at `/faults`, with a page of the rows; `row_count` is that of all pages."""
        rows = self.rows.rows
        return {
            "fault": self.fault,
            "request_count": self.request_count,
            "orphan_pid": self.orphan_pid,
            "unrecorded_count": self.rows.unrecorded_count,
            "columns": self.columns,
            "row_count": len(rows),
            "rows": rows[offset : None if limit is None else offset + limit],
        }


BuildFault = Callable[[str, GroundTruth], Wrap]
