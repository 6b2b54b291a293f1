"""What a client holds of one HTTP response while it arrives, and the one error that says it never became whole.

It knows no socket: pausing and closing are asked of its connection.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Protocol

BUFFER_LIMIT_BYTES = 256 * 1024

Header = tuple[bytes, bytes]


class UpstreamLost(Exception):
    """The other side refused, broke off or stayed silent; the text says which.

    `stale`: a connection was gone before any byte of the response. `timed_out`: it stayed silent for too long.
    """

    def __init__(self, sentence: str, *, stale: bool = False, timed_out: bool = False) -> None:
        super().__init__(sentence)
        self.stale = stale
        self.timed_out = timed_out


class UpstreamLine(Protocol):
    """The connection that a response comes through."""

    def resume(self) -> None:
        """Read on after a pause."""

    def close(self) -> None:
        """Cut the connection."""


class UpstreamResponse:
    """One response while it arrives: status and headers first, then a piece a read."""

    def __init__(self, connection: UpstreamLine, silence_limit_s: float) -> None:
        self.status = 0
        self.headers: list[Header] = []
        self.started = False  # any byte of it has been read
        self._connection = connection
        self._silence_limit_s = silence_limit_s
        self._loop = asyncio.get_running_loop()
        self._heard_at_s = self._loop.time()
        self._watch = self._loop.call_later(silence_limit_s, self._look)
        self._head: asyncio.Future[None] = self._loop.create_future()
        self._pieces: deque[bytes] = deque()
        self._buffered_bytes = 0
        self._wake: asyncio.Future[None] | None = None
        self._ended = False
        self._lost: UpstreamLost | None = None

    async def head(self) -> None:
        """Return when status and headers are there; raises UpstreamLost."""
        await self._head

    async def piece(self) -> bytes | None:
        """Return the bytes of the next read, None at the proper end; raises UpstreamLost when it broke off."""
        while not self._pieces:
            if self._lost is not None:
                raise self._lost
            if self._ended:
                return None
            self._wake = self._loop.create_future()
            await self._wake
        piece = self._pieces.popleft()
        self._buffered_bytes -= len(piece)
        if self._buffered_bytes < BUFFER_LIMIT_BYTES:
            self._connection.resume()
        return piece

    async def whole(self, limit_bytes: int) -> bytes:
        """Return the complete body; raises UpstreamLost when it broke off or outgrew the limit."""
        pieces: list[bytes] = []
        size = 0
        while (piece := await self.piece()) is not None:
            pieces.append(piece)
            size += len(piece)
            if size > limit_bytes:
                self.abandon()
                raise UpstreamLost(f"the response is larger than {limit_bytes} bytes")
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def abandon(self) -> None:
        """Close the connection of a response that nobody will read to its end."""
        if not self._ended and self._lost is None:
            self.fail(UpstreamLost("the response was given up"))
            self._connection.close()

    def begin(self, status: int, headers: list[Header]) -> None:
        """Take status and headers from the connection."""
        self.status, self.headers = status, headers
        if not self._head.done():
            self._head.set_result(None)

    def push(self, piece: bytes) -> bool:
        """Take the body bytes of one read; True asks the connection to stop reading for now."""
        self._heard_at_s = self._loop.time()
        self._pieces.append(piece)
        self._buffered_bytes += len(piece)
        self._rouse()
        return self._buffered_bytes >= BUFFER_LIMIT_BYTES

    def finish(self) -> None:
        """Take the proper end."""
        self._ended = True
        self._watch.cancel()
        self._rouse()

    def fail(self, lost: UpstreamLost) -> None:
        """Take an end that is none."""
        if self._ended or self._lost is not None:
            return
        self._lost = lost
        self._watch.cancel()
        if not self._head.done():
            self._head.set_exception(lost)
            self._head.exception()  # a caller that went away must not leave a complaint behind
        self._rouse()

    def _rouse(self) -> None:
        if self._wake is not None and not self._wake.done():
            self._wake.set_result(None)

    def _look(self) -> None:
        silent_s = self._loop.time() - self._heard_at_s
        if silent_s >= self._silence_limit_s:
            self.fail(UpstreamLost(f"no byte came for {self._silence_limit_s:g} s", timed_out=True))
            self._connection.close()
        else:
            self._watch = self._loop.call_later(self._silence_limit_s - silent_s, self._look)
