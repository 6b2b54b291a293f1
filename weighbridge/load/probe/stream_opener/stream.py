"""One stream that is kept open: the probe's connection, and a look whether content has come.

A stream has a connection of its own, so that as many are open at the gateway as are counted here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from weighbridge.load.probe.program.capture import Exchange
from weighbridge.load.probe.program.connection import Connection
from weighbridge.load.probe.program.content import content_of, stream_content
from weighbridge.load.probe.program.outcome import outcome_of
from weighbridge.load.probe.program.plan import ProbeLane
from weighbridge.load.probe.program.response import Response


class Stream(asyncio.Protocol):
    """From its opening to its end. `told` is called when content has come and when it has ended."""

    def __init__(self, line: bytes, reported: Callable[[], None]) -> None:
        self._exchange = Exchange(line, 0)
        self._connection = Connection(self)
        self._reported = reported
        self.has_content = False
        self.has_ended = False

    async def open(self, lane: ProbeLane) -> None:
        """Connect and ask; a connection that cannot be made is the stream's end."""
        exchange = self._exchange
        try:
            await asyncio.get_running_loop().create_connection(lambda: self, lane.host, lane.port)
        except OSError as error:
            self._refuse((error.strerror or str(error)).lower())
            return
        if self._connection.usable:
            self._connection.ask(exchange, lane.head(len(exchange.line)) + exchange.line)
        else:
            self._refuse("closed as soon as it was open")

    def close(self) -> None:
        """Let it go, whatever state it is in."""
        self._connection.close()

    @property
    def outcome(self) -> str:
        """How it ended, by the probe's words; empty while it has not."""
        answer = Response(self._exchange.reads)
        return outcome_of(self._exchange, answer, content_of(answer, is_stream=True), is_stream=True)

    @property
    def fault(self) -> str:
        """What went wrong, for people: the status where there is a bad one, else the transport's words."""
        status = Response(self._exchange.reads).status
        return f"status {status}" if status and status // 100 != 2 else self._exchange.error

    def _refuse(self, error: str) -> None:
        self._exchange.end_ns = time.monotonic_ns()
        self._exchange.fault, self._exchange.error = "connect_error", error
        self.done(self._exchange)

    # asyncio
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Hand it on (asyncio)."""
        self._connection.connection_made(transport)

    def data_received(self, data: bytes) -> None:
        """Hand it on, and look for the first content (asyncio)."""
        self._connection.data_received(data)
        if not self.has_content and stream_content(Response(self._exchange.reads).parts).counted:
            self.has_content = True
            self._reported()

    def connection_lost(self, exc: Exception | None) -> None:
        """Hand it on (asyncio)."""
        self._connection.connection_lost(exc)

    # Keeper
    def give_back(self, connection: Connection) -> None:
        """Keep it idle: it is used once."""

    def lost(self, connection: Connection) -> None:
        """Nothing to forget."""

    def done(self, _exchange: Exchange) -> None:
        """Note that it has ended, well or not."""
        self.has_ended = True
        self._reported()
