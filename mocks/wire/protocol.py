"""The server side of one HTTP/1.1 connection: httptools callbacks in, ordered responses out.

Requests are handed over as soon as they are read whole, responses leave in the order of their requests. It must not
know what is served.
"""

from __future__ import annotations

import asyncio
import socket
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, cast

import httptools

from mocks.wire.exchange import HttpExchange

HEAD_LIMIT_BYTES = 64 * 1024
BODY_LIMIT_BYTES = 16 * 1024 * 1024
PIPELINE_LIMIT_COUNT = 64
LINGER_S = 1.0

Handler = Callable[[HttpExchange], None]


class Site(Protocol):
    """What a connection tells the server that accepted it."""

    def opened(self, connection: HttpConnection) -> None:
        """Note that a connection was accepted."""

    def closed(self, connection: HttpConnection) -> None:
        """Note that a connection has ended."""


class HttpConnection(asyncio.Protocol):
    """One accepted connection."""

    def __init__(self, handler: Handler, site: Site) -> None:
        self._handler = handler
        self._site = site
        self._parser: Any = httptools.HttpRequestParser(self)
        self._queue: deque[HttpExchange] = deque()
        self._exchange: HttpExchange | None = None
        self._transport: asyncio.Transport | None = None
        self._linger: asyncio.TimerHandle | None = None
        self._ignores_input = False  # nothing more is read as a request
        self._retiring = False
        self._reading = True
        self._congested = False
        self._read_ns = 0
        self._read_bytes = 0
        self._raw_head_bytes = 0
        self._begin()

    def _begin(self) -> None:
        self._target = b""
        self._headers: list[tuple[bytes, bytes]] = []
        self._head_bytes = 0
        self._body: list[bytes] = []
        self._body_bytes = 0
        self._expects = b""

    # --- the transport's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take the transport from the loop; small responses leave at once (TCP_NODELAY)."""
        self._transport = cast("asyncio.Transport", transport)
        transport.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._site.opened(self)

    def data_received(self, data: bytes) -> None:
        """Take the bytes of each read from the loop."""
        if self._ignores_input:
            return
        self._read_ns = time.monotonic_ns()
        self._read_bytes = len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._ignores_input = True
        except httptools.HttpParserError as error:
            if not self._ignores_input:
                self._refuse(400, f"the request could not be read: {error}")
        if self._exchange is None and not self._ignores_input:
            self._raw_head_bytes += len(data)
            if self._raw_head_bytes > 2 * HEAD_LIMIT_BYTES:
                self._refuse(431, f"the request head is longer than {HEAD_LIMIT_BYTES} bytes")

    def eof_received(self) -> bool:
        """Let the connection close: one half-closed by the client counts as gone, as with most servers."""
        return False

    def pause_writing(self) -> None:
        """Nothing more is read from a client that does not read its responses."""
        self._congested = True
        self._pace()

    def resume_writing(self) -> None:
        """Note that the client has read."""
        self._congested = False
        self._pace()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        """Let go of the lost connection; unfinished exchanges learn that their client went."""
        self._transport = None
        self._parser = None  # it holds our callbacks: a cycle, and collection is off
        self._ignores_input = True
        if self._linger is not None:
            self._linger.cancel()
        self._site.closed(self)
        queue, self._queue = self._queue, deque()
        for exchange in queue:
            exchange.lost()

    # --- the parser's side

    def on_message_begin(self) -> None:
        """Start a request."""
        self._begin()

    def on_url(self, url: bytes) -> None:
        """Take a piece of the target."""
        self._target += url
        self._head_bytes += len(url)

    def on_header(self, name: bytes, value: bytes | None) -> None:
        """One header; what comes after the body (trailers) is dropped."""
        if self._exchange is not None or self._ignores_input:
            return
        value = value or b""
        self._head_bytes += len(name) + len(value)
        self._headers.append((name, value))
        if len(name) == 6 and name.lower() == b"expect":
            self._expects = value.lower()

    def on_headers_complete(self) -> None:
        """Act on the whole head: limits, and the client's wish to be told to go on."""
        if self._ignores_input:
            return
        exchange = HttpExchange(self, self._parser.get_method().decode("ascii"), self._path_text(), self._headers)
        exchange.http_11 = self._parser.get_http_version() != "1.0"
        self._exchange = exchange
        self._raw_head_bytes = 0
        self._queue.append(exchange)
        if self._head_bytes > HEAD_LIMIT_BYTES:
            self._refuse(431, f"the request head is longer than {HEAD_LIMIT_BYTES} bytes")
        elif self._expects == b"100-continue" and exchange.http_11:
            if self._announced_bytes() > BODY_LIMIT_BYTES:
                self._refuse(413, f"the body is longer than {BODY_LIMIT_BYTES} bytes")
            else:
                self.emit(exchange, b"HTTP/1.1 100 Continue\r\n\r\n", last=False)

    def on_body(self, data: bytes) -> None:
        """Take a piece of the body."""
        if self._ignores_input:
            return
        self._body_bytes += len(data)
        if self._body_bytes > BODY_LIMIT_BYTES:
            self._refuse(413, f"the body is longer than {BODY_LIMIT_BYTES} bytes")
        else:
            self._body.append(data)

    def on_message_complete(self) -> None:
        """Hand over the request, which is now whole."""
        exchange, self._exchange = self._exchange, None
        if exchange is None or self._ignores_input:
            return
        self._raw_head_bytes = -self._read_bytes  # this read belongs to the request that it completes
        body = self._body
        exchange.body = body[0] if len(body) == 1 else b"".join(body)
        exchange.received_ns = self._read_ns
        exchange.keep_alive = self._parser.should_keep_alive() and not self._parser.should_upgrade()
        if not exchange.keep_alive:
            self._ignores_input = True
        if len(self._queue) >= PIPELINE_LIMIT_COUNT:
            self._pace()
        try:
            self._handler(exchange)
        except Exception as error:  # noqa: BLE001 - the connection outlives a handler's bug, which is reported
            self._report(error)
            if exchange.started:
                exchange.abort()
            else:
                exchange.respond_json(500, {"error": {"message": "the mock has a bug; see its log", "type": "bug"}})

    # --- the exchanges' side

    def emit(self, exchange: HttpExchange, data: bytes, *, last: bool) -> None:
        """Bytes of an answer: written if it is that answer's turn, else kept for later."""
        if self._transport is None:
            return
        if exchange is not self._queue[0]:
            exchange.pending.append(data)
            return
        if data:
            self._transport.write(data)
        if last:
            self._advance(self._transport)

    def abort(self) -> None:
        """End of the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def retire(self) -> None:
        """End of the connection when the requests at hand are answered."""
        self._retiring = True
        if not self._queue and self._transport is not None:
            self._transport.close()

    def _advance(self, transport: asyncio.Transport) -> None:
        """Lets the responses that waited for their turn go."""
        queue = self._queue
        while queue and queue[0].finished:
            done = queue.popleft()
            if not done.keep_alive:
                self._close(transport, linger=done.linger)
                return
            if queue and queue[0].pending:
                transport.write(b"".join(queue[0].pending))
                queue[0].pending.clear()
        if not self._reading:
            self._pace()
        if self._retiring and not queue:
            transport.close()

    def _close(self, transport: asyncio.Transport, *, linger: bool) -> None:
        """Close; when lingering, read and drop what the client still sends, or its reset would eat the response."""
        self._ignores_input = True
        if not linger:
            transport.close()
            return
        transport.write_eof()
        self._linger = asyncio.get_running_loop().call_later(LINGER_S, self.abort)

    def _refuse(self, status: int, message: str) -> None:
        """Answers a request that is not handed over, in its turn, and ends the connection."""
        self._ignores_input = True
        exchange = self._exchange
        if exchange is None:
            exchange = HttpExchange(self, "GET", "", [])
            self._queue.append(exchange)
        self._exchange = None
        exchange.keep_alive = False
        exchange.linger = True
        exchange.respond_json(status, {"error": {"message": message, "type": "invalid_request_error"}})

    def _pace(self) -> None:
        """Read on, or not: neither a client that does not read nor an endless pipeline may fill the memory."""
        wanted = not self._congested and len(self._queue) < PIPELINE_LIMIT_COUNT
        transport = self._transport
        if transport is None or transport.is_closing() or wanted == self._reading:
            return
        self._reading = wanted
        if wanted:
            transport.resume_reading()
        else:
            transport.pause_reading()

    def _path_text(self) -> str:
        target = self._target
        if not target.startswith(b"/") and b"://" in target:
            target = b"/" + target.split(b"://", 1)[1].partition(b"/")[2]
        return target.decode("latin-1")

    def _announced_bytes(self) -> int:
        lengths = [value for name, value in self._headers if name.lower() == b"content-length"]
        return int(lengths[0]) if lengths and lengths[0].isdigit() else 0

    def _report(self, error: Exception) -> None:
        context = {"message": "a handler failed", "exception": error, "protocol": self}
        asyncio.get_running_loop().call_exception_handler(context)
