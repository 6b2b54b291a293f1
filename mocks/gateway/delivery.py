"""Background delivery of durable events to the control plane, at least once, with a checkpoint in the state folder.

Fed by the ledger, run by the service. A few workers take events in log order; what is refused for good goes to a
quarantine file and makes the gateway unready. It is never in the path of a request.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections import deque
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from mocks.gateway.control import ControlPlaneDown, ControlPlaneRefused
from mocks.gateway.ledger import LedgerEntry, flush_folder

WORKER_COUNT = 4
FIRST_WAIT_S = 0.1
LONGEST_WAIT_S = 5.0
CHECKPOINT_EVERY_S = 0.5

Send = Callable[[bytes], Awaitable[None]]


class Delivery:
    """Events on their way to the control plane; `send` raises ControlPlaneDown or ControlPlaneRefused."""

    def __init__(self, send: Send, folder: Path | None) -> None:
        self.delivered_count = 0
        self.quarantined_count = 0
        self._send = send
        self._folder = folder
        self._queue: deque[LedgerEntry] = deque()
        self._open: dict[int, None] = {}  # starts of what is not acknowledged, in log order
        self._last_end_bytes = 0
        self._written_bytes = 0
        self._wake = asyncio.Event()
        self._settled = asyncio.Event()
        self._settled.set()
        self._tasks: list[asyncio.Task[None]] = []
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="checkpoint")

    @property
    def undelivered_count(self) -> int:
        """Events that the control plane has not acknowledged."""
        return len(self._open)

    def offer(self, entry: LedgerEntry) -> None:
        """Take a durable record; called in log order."""
        self._open[entry.start_bytes] = None
        self._last_end_bytes = entry.end_bytes
        self._queue.append(entry)
        self._settled.clear()
        self._wake.set()

    def start(self) -> None:
        """Start the workers."""
        self._tasks = [asyncio.ensure_future(self._work()) for _ in range(WORKER_COUNT)]
        if self._folder is not None:
            self._tasks.append(asyncio.ensure_future(self._keep_checkpoint(self._folder)))

    async def drain(self, within_s: float) -> int:
        """Wait for the events to be delivered and return the number of those still undelivered."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, within_s)):
                await self._settled.wait()
        return self.undelivered_count

    async def stop(self) -> None:
        """Stop the workers and write the last checkpoint."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._folder is not None and self._last_end_bytes:
            await self._write_checkpoint(self._folder)
        self._thread.shutdown()

    async def _work(self) -> None:
        while True:
            while not self._queue:
                self._wake.clear()
                await self._wake.wait()
            entry = self._queue.popleft()
            await self._deliver(entry)
            del self._open[entry.start_bytes]
            if not self._open:
                self._settled.set()

    async def _deliver(self, entry: LedgerEntry) -> None:
        wait_s = FIRST_WAIT_S
        while True:
            try:
                await self._send(entry.record)
            except ControlPlaneDown:
                await asyncio.sleep(wait_s)
                wait_s = min(2 * wait_s, LONGEST_WAIT_S)
            except ControlPlaneRefused as refused:
                self._quarantine(entry, str(refused))
                return
            else:
                self.delivered_count += 1
                return

    def _quarantine(self, entry: LedgerEntry, reason: str) -> None:
        self.quarantined_count += 1
        if self._folder is not None:
            line = json.dumps({"reason": reason, "record": entry.record.decode("utf-8", "replace")})
            with (self._folder / "quarantine.jsonl").open("a", encoding="utf-8") as file:
                file.write(line + "\n")

    async def _keep_checkpoint(self, folder: Path) -> None:
        while True:
            await asyncio.sleep(CHECKPOINT_EVERY_S)
            await self._write_checkpoint(folder)

    async def _write_checkpoint(self, folder: Path) -> None:
        place_bytes = self._delivered_to_bytes()
        if place_bytes > self._written_bytes:
            loop = asyncio.get_running_loop()
            await loop.run_in_executor(self._thread, write_checkpoint, folder, place_bytes)
            self._written_bytes = place_bytes

    def _delivered_to_bytes(self) -> int:
        """Return the place that only acknowledged records precede: the end of the record before the first open."""
        return next(iter(self._open), self._last_end_bytes)


def write_checkpoint(folder: Path, delivered_to_bytes: int) -> None:
    """Write the place in the log before which everything is delivered, whole or not at all."""
    building = folder / "checkpoint.json.new"
    with building.open("w", encoding="utf-8") as file:
        json.dump({"delivered_to_bytes": delivered_to_bytes}, file)
        file.flush()
        os.fsync(file.fileno())
    building.replace(folder / "checkpoint.json")
    flush_folder(folder)


def read_checkpoint(folder: Path) -> int:
    """Return the place in the log before which everything is delivered; 0 when none was written."""
    try:
        document = json.loads((folder / "checkpoint.json").read_text(encoding="utf-8"))
        return max(0, int(document["delivered_to_bytes"]))
    except FileNotFoundError:
        return 0
    except (ValueError, KeyError, TypeError):
        return 0  # delivering again is harmless: delivery ids tell repeats
