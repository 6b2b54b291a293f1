"""One kept-alive connection: writes a request, keeps time and bytes of each read, knows when it is complete.

In the window it parses no more than it must: the end of the headers and of the message. Everything else is read from
the kept bytes afterwards.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol, cast

import httptools

from weighbridge.load.probe.program.capture import CLOSED, RESET, Exchange

_HEAD_END = b"\r\n\r\n"


class Keeper(Protocol):
    """Who owns the connection."""

    def give_back(self, connection: Connection) -> None:
        """Take it: the response is complete and the connection can serve again."""
        ...

    def lost(self, connection: Connection) -> None:
        """Forget it: it is gone."""
        ...

    def done(self, exchange: Exchange) -> None:
        """Hear that an exchange came to its end, well or not."""
        ...


class Connection(asyncio.Protocol):
    """At most one exchange at a time. `idle_since_ns` is when the last one ended."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._exchange: Exchange | None = None
        self._complete = self._beyond = self._keep = self._used = False
        self.idle_since_ns = 0

    @property
    def exchange(self) -> Exchange | None:
        """The one that is under way."""
        return self._exchange

    @property
    def usable(self) -> bool:
        """Whether a request can be written now."""
        return self._transport is not None and not self._transport.is_closing()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport (asyncio)."""
        # uvloop's transports are no subclass of asyncio's, so no check would hold.
        self._transport = cast(asyncio.Transport, transport)

    def ask(self, exchange: Exchange, payload: bytes) -> None:
        """Write a request."""
        if self._transport is None:
            raise RuntimeError("asked before the connection was made")
        self._exchange = exchange
        self._complete = self._beyond = False
        exchange.reused = self._used
        self._used = True
        exchange.sent_ns = exchange.last_read_ns = time.monotonic_ns()
        self._transport.write(payload)

    def give_up(self, fault: str) -> None:
        """End the exchange with this outcome, and the connection with it."""
        exchange, self._exchange = self._exchange, None
        self._abort()
        if exchange is not None:
            self._end(exchange, fault, "")

    def close(self) -> None:
        """Close at once; an exchange under way stays without an end."""
        self._exchange = None
        self._abort()

    def data_received(self, data: bytes) -> None:
        """Keep a read (asyncio)."""
        now = time.monotonic_ns()
        exchange = self._exchange
        if exchange is None:
            # Bytes that nobody asked for: the next response on this connection could not be trusted.
            self._abort()
            return
        had_headers = exchange.headers_ns
        exchange.reads.append((now, data))
        exchange.last_read_ns = now
        try:
            self._parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            exchange.error = str(error)[:200]
            self.give_up("protocol")
            return
        if self._beyond:
            exchange.error = "bytes behind the end of the answer"
            self.give_up("protocol")
        elif self._complete:
            self._finish(exchange, now)
        elif exchange.headers_ns:
            exchange.body_begun = bool(had_headers) or not data.endswith(_HEAD_END)

    def connection_lost(self, exc: Exception | None) -> None:
        """End what is under way (asyncio)."""
        self._transport = None
        exchange, self._exchange = self._exchange, None
        self._keeper.lost(self)
        if exchange is not None:
            self._end(exchange, RESET if exc else CLOSED, str(exc or ""))

    # httptools
    def on_headers_complete(self) -> None:
        """Note the read that completed the headers; interim responses are passed over."""
        exchange = self._exchange
        if self._complete:
            self._beyond = True
        elif exchange is not None and self._parser.get_status_code() >= 200:
            exchange.headers_ns = exchange.last_read_ns

    def on_message_complete(self) -> None:
        """Note that the response is whole."""
        if self._exchange is not None and self._exchange.headers_ns:
            self._complete = True
            self._keep = self._parser.should_keep_alive()

    def _finish(self, exchange: Exchange, now: int) -> None:
        self._exchange = None
        exchange.end_ns = now
        self.idle_since_ns = now
        keeper = self._keeper
        if not self._keep:
            self._abort()
        elif self.usable:
            keeper.give_back(self)
        keeper.done(exchange)

    def _end(self, exchange: Exchange, fault: str, error: str) -> None:
        exchange.end_ns = time.monotonic_ns()
        exchange.fault = fault
        exchange.error = exchange.error or error
        self._keeper.done(exchange)

    def _abort(self) -> None:
        if self._transport is not None:
            self._transport.abort()
