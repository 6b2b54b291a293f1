"""The audit log: records that are on disk before a request goes on, many waiting for one flush.

`append` returns only when the record is durable; a thread writes and flushes whatever has gathered meanwhile (group
commit). It delivers nothing: what became durable is handed to a callback, in log order.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol


class LedgerFailed(Exception):
    """The log could not be written or flushed; the text says why."""


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One durable record: where it begins in the log, and its bytes without the line end."""

    start_bytes: int
    record: bytes

    @property
    def end_bytes(self) -> int:
        """Where the next record begins."""
        return self.start_bytes + len(self.record) + 1


OnDurable = Callable[[LedgerEntry], None]
# Makes a record. Called when the ledger has a use for it: most of the cost of a record is its JSON.
MakeRecord = Callable[[], bytes]


class Ledger(Protocol):
    """Where audit records go."""

    record_count: int
    flush_count: int
    trouble: str | None

    async def append(self, make: MakeRecord) -> None:
        """Return when the record is durable; raises LedgerFailed."""

    def close(self) -> None:
        """Give up the file."""


class NoLedger:
    """For a gateway that neither audits nor delivers: no record is ever made."""

    record_count = 0
    flush_count = 0
    trouble: str | None = None

    async def append(self, make: MakeRecord) -> None:
        """Return at once."""

    def close(self) -> None:
        """Return at once."""


class MemoryLedger:
    """A ledger without a disk, for a gateway that delivers but keeps no audit log: records are only handed on."""

    def __init__(self, on_durable: OnDurable) -> None:
        self.record_count = 0
        self.flush_count = 0
        self.trouble: str | None = None
        self._on_durable = on_durable
        self._size_bytes = 0

    async def append(self, make: MakeRecord) -> None:
        """Return at once."""
        entry = LedgerEntry(self._size_bytes, make())
        self._size_bytes = entry.end_bytes
        self.record_count += 1
        self._on_durable(entry)

    def close(self) -> None:
        """Return at once."""


class DiskLedger:
    """Records one per line in a file that only grows; what a crash left half written is cut off when it is opened."""

    def __init__(self, path: Path, on_durable: OnDurable) -> None:
        self.record_count = 0
        self.flush_count = 0
        self.trouble: str | None = None
        self._on_durable = on_durable
        self._waiting: list[bytes] = []
        self._batch: asyncio.Future[None] | None = None
        self._flusher: asyncio.Task[None] | None = None
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="flush")
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        self._size_bytes = _cut_torn_end(self._file)
        os.fsync(self._file)
        flush_folder(path.parent)

    async def append(self, make: MakeRecord) -> None:
        """Return when the record is on the disk; raises LedgerFailed."""
        self._waiting.append(make())
        if self._batch is None:
            self._batch = asyncio.get_running_loop().create_future()
        batch = self._batch
        if self._flusher is None or self._flusher.done():
            self._flusher = asyncio.ensure_future(self._flush_all())
        await asyncio.shield(batch)

    def close(self) -> None:
        """Close the file; nothing may wait any more."""
        self._thread.shutdown(wait=True)
        os.close(self._file)

    async def _flush_all(self) -> None:
        loop = asyncio.get_running_loop()
        while self._batch is not None:
            records, batch = self._waiting, self._batch
            self._waiting, self._batch = [], None
            blob = b"".join(record + b"\n" for record in records)
            try:
                await loop.run_in_executor(self._thread, self._write, blob)
            except OSError as error:
                self.trouble = f"the audit log cannot be written: {error.strerror}"
                batch.set_exception(LedgerFailed(self.trouble))
                batch.exception()  # those who wait may all have gone
                continue
            self.trouble = None
            self.flush_count += 1
            self._hand_on(records)
            batch.set_result(None)

    def _hand_on(self, records: list[bytes]) -> None:
        for record in records:
            entry = LedgerEntry(self._size_bytes, record)
            self._size_bytes = entry.end_bytes
            self.record_count += 1
            self._on_durable(entry)

    def _write(self, blob: bytes) -> None:
        """Append and flush, in the thread; on failure the file is cut back to what was whole before."""
        try:
            rest = memoryview(blob)
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, self._size_bytes)
            raise


def read_entries(path: Path, from_bytes: int) -> list[LedgerEntry]:
    """Return the whole records of a log that begin at or after a place in it; none when there is no log."""
    if not path.exists():
        return []
    with path.open("rb") as log:
        log.seek(from_bytes)
        entries, start_bytes = [], from_bytes
        for line in log:
            if line.endswith(b"\n"):
                entries.append(LedgerEntry(start_bytes, line[:-1]))
            start_bytes += len(line)
    return entries


def _cut_torn_end(file: int) -> int:
    """Cut off everything behind the last line end of a log and return the size in bytes of what is left."""
    size_bytes = os.fstat(file).st_size
    end_bytes = size_bytes
    while end_bytes:
        start_bytes = max(0, end_bytes - 65536)
        found = os.pread(file, end_bytes - start_bytes, start_bytes).rfind(b"\n")
        if found >= 0:
            end_bytes = start_bytes + found + 1
            break
        end_bytes = start_bytes
    if end_bytes != size_bytes:
        os.ftruncate(file, end_bytes)
    return end_bytes


def flush_folder(folder: Path) -> None:
    """Make names created or replaced in a folder durable."""
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
