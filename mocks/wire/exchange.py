"""One request and its response, as a handler sees them.

The handler responses at once or later, whole or chunk by chunk. It must not know sockets: every byte goes through the
connection, which keeps responses in order.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from http import HTTPStatus
from typing import Any, Protocol

Headers = Iterable[tuple[str, str]]

_STATUS_LINES = {status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus}
_BODILESS = frozenset({204, 304})
JSON_HEADERS = (("content-type", "application/json"),)


class Outlet(Protocol):
    """Where an exchange's bytes go: the connection."""

    def emit(self, exchange: HttpExchange, data: bytes, *, last: bool) -> None:
        """Bytes of this response, in its turn; `last` ends the response."""

    def abort(self) -> None:
        """End of the connection at once, nothing flushed."""


class HttpExchange:
    """A request that was read whole, and the means to respond to it once.

    `received_ns` is the monotonic clock on entry of the read that completed the request. `query` is the text
    after the `?`, not decoded. Every answering method is silent when the client is gone.
    """

    __slots__ = (
        "_callbacks",
        "_chunked",
        "_headers",
        "_outlet",
        "_raw_headers",
        "body",
        "finished",
        "gone",
        "http_11",
        "keep_alive",
        "linger",
        "method",
        "path",
        "pending",
        "query",
        "received_ns",
        "started",
    )

    def __init__(self, outlet: Outlet, method: str, target: str, raw_headers: list[tuple[bytes, bytes]]) -> None:
        self._outlet = outlet
        self._raw_headers = raw_headers
        self._headers: dict[str, str] | None = None
        self._callbacks: list[Callable[[], None]] = []
        self._chunked = False
        self.method = method
        self.path, _, self.query = target.partition("?")
        self.body = b""
        self.received_ns = 0
        self.keep_alive = True
        self.http_11 = True
        self.linger = False
        self.started = False
        self.finished = False
        self.gone = False
        self.pending: list[bytes] = []

    @property
    def headers(self) -> dict[str, str]:
        """Request headers by lower-case name; repeated ones joined by a comma."""
        if self._headers is None:
            headers: dict[str, str] = {}
            for raw_name, raw_value in self._raw_headers:
                name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
                headers[name] = f"{headers[name]}, {value}" if name in headers else value
            self._headers = headers
        return self._headers

    def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Send the whole response; content-length is added, so `headers` must hold no framing header."""
        head = self.head(status, headers, len(body))
        if self.method == "HEAD" or status in _BODILESS:
            body = b""
        self.write(head + body, last=True)

    def respond_json(self, status: int, document: object) -> None:
        """Send the whole response, made of a JSON document."""
        body = json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "replace")
        self.respond(status, JSON_HEADERS, body)

    def start_stream(self, status: int, headers: Headers) -> None:
        """Head of a response whose body comes by `send_chunk`; leaves with the first chunk of the same loop turn."""
        self.write(self.head(status, headers, None))

    def send_chunk(self, data: bytes) -> None:
        """One HTTP chunk with `data`; no data, no chunk. An HTTP/1.0 client gets the bare bytes."""
        if data:
            self.write(self.frame(data))

    def end_stream(self) -> None:
        """End of a streamed response."""
        self.write(b"0\r\n\r\n" if self._chunked else b"", last=True)

    def abort(self) -> None:
        """Cut of the connection in the middle of whatever was sent; not counted as a client that went."""
        self.finished = True
        if not self.gone:
            self._outlet.abort()

    def on_gone(self, callback: Callable[[], None]) -> None:
        """Call `callback` once if the client goes before the response has ended; at once if it already has."""
        if self.gone:
            callback()
        elif not self.finished:
            self._callbacks.append(callback)

    def head(self, status: int, headers: Headers, length: int | None) -> bytes:
        """Status line and headers for this client, to be built before they are due; no length means a stream."""
        lines = [_STATUS_LINES.get(status) or f"HTTP/1.1 {status} Status\r\n"]
        lines += [f"{name}: {value}\r\n" for name, value in headers]
        if length is None:
            self._chunked = self.http_11
            if self._chunked:
                lines.append("transfer-encoding: chunked\r\n")
            else:
                self.keep_alive = False
        elif status not in _BODILESS:
            lines.append(f"content-length: {length}\r\n")
        if not self.keep_alive:
            lines.append("connection: close\r\n")
        elif not self.http_11:
            lines.append("connection: keep-alive\r\n")
        lines.append("\r\n")
        return "".join(lines).encode("latin-1", "replace")

    def frame(self, data: bytes) -> bytes:
        """Return `data` as one HTTP chunk of this stream, to be built before it is due; call `head` first."""
        return b"%x\r\n%b\r\n" % (len(data), data) if self._chunked else data

    def write(self, data: bytes, *, last: bool = False) -> None:
        """Ready-made bytes of the response, made by `head` and `frame`; `last` ends it.

        Raises RuntimeError when the response has already ended: a handler's bug.
        """
        if self.gone:
            return
        if self.finished:
            raise RuntimeError(f"{self.method} {self.path} was answered twice")
        self.started = True
        if last:
            self.finished = True
            self._callbacks.clear()
        self._outlet.emit(self, data, last=last)

    def lost(self) -> None:
        """For the connection: the client went. Callbacks are called if the response had not ended."""
        self.gone = True
        callbacks, self._callbacks = self._callbacks, []
        if not self.finished:
            for callback in callbacks:
                callback()

    def json(self) -> Any:
        """Return the body read as JSON. Raises ValueError for what is not JSON."""
        return json.loads(self.body)
