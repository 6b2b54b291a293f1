"""HTTP/1.1 client side: kept-alive connections taken last in, first out, and responses handed on as they arrive.

It repeats a call only when a kept-alive connection turns out dead before any byte of the response; it never follows
redirects and never reads a body's meaning.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast
from urllib.parse import urlsplit

import httptools

from mocks.gateway.answer import Header, UpstreamLost, UpstreamResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

LOOPBACK_HOSTS = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, slots=True)
class Call:
    """One request to send: headers without host and content-length, which the connection writes."""

    method: str
    target: str
    headers: Sequence[Header] = ()
    body: bytes = b""

    def encode(self, host: bytes) -> bytes:
        """Request head and body as one piece of bytes."""
        lines = [f"{self.method} {self.target} HTTP/1.1\r\nhost: ".encode("latin-1"), host, b"\r\n"]
        for name, value in self.headers:
            lines += (name, b": ", value, b"\r\n")
        if self.body or self.method != "GET":
            lines.append(b"content-length: %d\r\n" % len(self.body))
        lines += (b"\r\n", self.body)
        return b"".join(lines)


class _UpstreamConnection(asyncio.Protocol):
    """One connection: at most one call at a time."""

    def __init__(self, pool: UpstreamPool) -> None:
        self.used = False
        self._pool = pool
        self._parser = httptools.HttpResponseParser(self)
        self._transport: asyncio.Transport | None = None
        self._answer: UpstreamResponse | None = None
        self._headers: list[Header] = []
        self._parts: list[bytes] = []
        self._complete = False
        self._keep = False
        self._until_close = True
        self._paused = False

    def ask(self, payload: bytes, silence_limit_s: float) -> UpstreamResponse:
        """Send these request bytes and return the response to come."""
        if self._transport is None or self._transport.is_closing():
            raise UpstreamLost("the connection closed before the request was sent", stale=True)
        self._answer = UpstreamResponse(self, silence_limit_s)
        self._headers, self._complete, self._until_close = [], False, True
        self._transport.write(payload)
        return self._answer

    def resume(self) -> None:
        """Read on after a pause."""
        if self._paused and self._transport is not None and not self._transport.is_closing():
            self._paused = False
            self._transport.resume_reading()

    def close(self) -> None:
        """Cut the connection; what lies in it is lost."""
        if self._transport is not None:
            self._transport.abort()

    # asyncio.Protocol
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's are no subclass
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def data_received(self, data: bytes) -> None:
        answer = self._answer
        if answer is None:
            self.close()
            return
        answer.started = True
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            answer.fail(UpstreamLost(f"the response is not HTTP: {error}"))
            self.close()
            return
        if self._parts:
            piece = self._parts[0] if len(self._parts) == 1 else b"".join(self._parts)
            self._parts.clear()
            if answer.push(piece) and not self._complete and self._transport is not None:
                self._paused = True
                self._transport.pause_reading()
        if self._complete:
            self._end(answer)

    def connection_lost(self, exc: Exception | None) -> None:
        self._pool.forget(self)
        answer, self._answer = self._answer, None
        if answer is None:
            return
        if answer.status and self._until_close and exc is None:
            answer.finish()
        else:
            lost = UpstreamLost("the connection broke before the response was complete", stale=not answer.started)
            answer.fail(lost)

    # httptools
    def on_header(self, name: bytes, value: bytes) -> None:
        name = name.lower()
        if name in (b"content-length", b"transfer-encoding"):
            self._until_close = False
        self._headers.append((name, value))

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        headers, self._headers = self._headers, []
        if status >= 200 and self._answer is not None:
            self._until_close = self._until_close and status not in (204, 304)
            self._answer.begin(status, headers)

    def on_body(self, body: bytes) -> None:
        self._parts.append(body)

    def on_message_complete(self) -> None:
        if self._answer is not None and self._answer.status:
            self._complete = True
            self._keep = self._parser.should_keep_alive()

    def _end(self, answer: UpstreamResponse) -> None:
        self._answer = None
        answer.finish()
        if self._keep:
            self.used = True
            self._pool.give_back(self)
        elif self._transport is not None:
            self._transport.close()


class UpstreamPool:
    """Kept-alive connections to one origin on loopback; raises ValueError for any other host."""

    def __init__(self, url: str, *, silence_limit_s: float = 120.0, connect_limit_s: float = 5.0) -> None:
        parts = urlsplit(url)
        if parts.scheme != "http" or parts.hostname not in LOOPBACK_HOSTS or parts.port is None:
            raise ValueError(f"{url!r} is not http://127.0.0.1:PORT; this gateway speaks to loopback only")
        self._where = (parts.hostname, parts.port)
        self._host = f"{parts.hostname}:{parts.port}".encode("latin-1")
        self._silence_limit_s = silence_limit_s
        self._connect_limit_s = connect_limit_s
        self._idle: list[_UpstreamConnection] = []
        self._closed = False
        self.connect_count = 0
        self.repeat_count = 0

    async def send(self, call: Call, opened: Callable[[UpstreamResponse], None] = lambda _: None) -> UpstreamResponse:
        """Return the response, as soon as its headers are there; raises UpstreamLost.

        `opened` gets the response before anything of it has come, so that it can be given up early.
        """
        payload = call.encode(self._host)
        connection = self._idle.pop() if self._idle else await self._connect()
        while True:
            try:
                answer = connection.ask(payload, self._silence_limit_s)
                opened(answer)
                await answer.head()
                return answer
            except UpstreamLost as lost:
                if not (lost.stale and connection.used):
                    raise
            self.repeat_count += 1
            connection = await self._connect()

    def give_back(self, connection: _UpstreamConnection) -> None:
        """Keep a connection for the next call."""
        if self._closed:
            connection.close()
        else:
            self._idle.append(connection)

    def forget(self, connection: _UpstreamConnection) -> None:
        """Drop a connection that is gone."""
        if connection in self._idle:
            self._idle.remove(connection)

    def close(self) -> None:
        """Close what is idle; running calls end by themselves."""
        self._closed = True
        for connection in self._idle:
            connection.close()
        self._idle.clear()

    async def _connect(self) -> _UpstreamConnection:
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(self._connect_limit_s):
                _, connection = await loop.create_connection(lambda: _UpstreamConnection(self), *self._where)
        except (OSError, TimeoutError) as error:
            raise UpstreamLost(f"no connection to port {self._where[1]}: {error}") from error
        self.connect_count += 1
        return connection
