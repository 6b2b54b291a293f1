"""A server of the tests' own that closes connections when it should not, and keeps what it was sent."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

ANSWER = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
HALF = ANSWER[:-1]


@dataclass
class Faulty:
    """Answers every request but those of `closed` (by number), of which it sends `before_close` only.

    `idle_s` is how long a connection may wait for a request, `slow` are seconds by number of request.
    """

    every: int = 0
    before_close: bytes = b""
    idle_s: float | None = None
    delay_s: float = 0.0
    slow: dict[int, float] = field(default_factory=dict)
    one_at_a_time: bool = False
    port: int = 0
    bodies: list[bytes] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    closed: list[int] = field(default_factory=list)
    answered_count: int = 0
    connection_count: int = 0

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connection_count += 1
        self._open.add(writer)
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, TimeoutError):
            pass
        finally:
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()
            self._open.discard(writer)

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), self.idle_s)
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        number = len(self.bodies)
        self.heads.append(head)
        self.bodies.append(await reader.readexactly(length))
        if self.every and number % self.every == 0:
            self.closed.append(number)
            writer.write(self.before_close)
            await writer.drain()
            return False
        async with self._turn if self.one_at_a_time else asyncio.Lock():
            await asyncio.sleep(self.slow.get(number, self.delay_s))
        writer.write(ANSWER)
        await writer.drain()
        self.answered_count += 1
        return True

    async def _run(self, ready: threading.Event) -> None:
        self._loop, self._over, self._turn = asyncio.get_running_loop(), asyncio.Event(), asyncio.Lock()
        self._open: set[asyncio.StreamWriter] = set()
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._over.wait()
        server.close()
        while self._open:
            for writer in tuple(self._open):
                writer.close()
            await asyncio.sleep(0.01)

    @contextmanager
    def running(self) -> Iterator[Faulty]:
        """The server while it listens."""
        ready = threading.Event()
        thread = threading.Thread(target=lambda: asyncio.run(self._run(ready)))
        thread.start()
        try:
            assert ready.wait(10)
            yield self
        finally:
            self._loop.call_soon_threadsafe(self._over.set)
            thread.join(10)
