"""The event log of a campaign, `events.jsonl`: one line an event, appended and flushed at once; never rewritten."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self


def utc_now() -> str:
    """Now, UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class EventLog:
    """Appends events; a full disk never stops the walk, it ends the event_log."""

    def __init__(self, path: Path, *, now: Callable[[], str] = utc_now) -> None:
        self._file = path.open("a", encoding="utf-8")
        self._now = now
        self.is_full = False

    def __enter__(self) -> Self:
        """Return the event log itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the file; what a full disk had no room for is lost."""
        try:
            self._file.close()
        except OSError:
            if not self.is_full:
                raise

    def write(self, event: str, **facts: object) -> None:
        """Append one event with its facts; values must be JSON."""
        if self.is_full:
            return
        line = json.dumps({"at": self._now(), "event": event, **facts}, ensure_ascii=False)
        try:
            self._file.write(line + "\n")
            self._file.flush()
        except OSError:
            self.is_full = True
