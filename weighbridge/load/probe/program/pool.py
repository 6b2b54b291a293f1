"""The connections to one lane: the last one used first, a new one when none is free, up to a size if one is given.

It repeats nothing: a request that met a dying connection is a failure that shows, for a silent second send would look
like a retry of the gateway.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

from weighbridge.load.probe.program.capture import Exchange
from weighbridge.load.probe.program.connection import Connection
from weighbridge.load.probe.program.plan import ProbeLane, Timeouts
from weighbridge.units import NS_PER_S

# Servers close idle connections after five seconds and more; a request written at that instant would be lost.
_REUSE_LIMIT_NS = 4 * NS_PER_S


class Pool:
    """Sends exchanges of one lane. `open_count` are connections now, `connection_count` all that were ever opened."""

    def __init__(
        self, lane: ProbeLane, limit: int | None, timeouts: Timeouts, done: Callable[[Exchange], None]
    ) -> None:
        self._lane = lane
        self._limit = limit
        self._timeouts = timeouts
        self._done = done
        self._heads: dict[int, bytes] = {}
        self._idle: list[Connection] = []
        self._live: set[Connection] = set()
        self._queue: deque[Exchange] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False
        self.open_count = 0
        self.connection_count = 0

    def dispatch(self, exchange: Exchange) -> None:
        """Write it now, on a new connection, or as soon as one is free."""
        connection = self._take()
        if connection is not None:
            connection.ask(exchange, self._payload(exchange))
        elif self._limit is None or self.open_count < self._limit:
            self._open(exchange)
        else:
            self._queue.append(exchange)

    def end_overdue(self, now_ns: int) -> None:
        """Give up what has waited too long."""
        for connection in tuple(self._live):
            exchange = connection.exchange
            if exchange is not None and (fault := self._overdue(exchange, now_ns)):
                connection.give_up(fault)

    def close(self) -> None:
        """Drop everything; what is under way stays without an end."""
        self._closed = True
        self._queue.clear()
        for task in tuple(self._tasks):
            task.cancel()
        for connection in tuple(self._live):
            connection.close()

    # Keeper
    def give_back(self, connection: Connection) -> None:
        """Use it for what waits, or keep it."""
        if self._queue:
            exchange = self._queue.popleft()
            connection.ask(exchange, self._payload(exchange))
        else:
            self._idle.append(connection)

    def lost(self, connection: Connection) -> None:
        """Forget it; what waits gets a new one."""
        self._live.discard(connection)
        if connection in self._idle:
            self._idle.remove(connection)
        self._one_less()

    def done(self, exchange: Exchange) -> None:
        """Tell the engine."""
        self._done(exchange)

    def _take(self) -> Connection | None:
        limit_ns = time.monotonic_ns() - _REUSE_LIMIT_NS
        while self._idle:
            connection = self._idle.pop()
            if connection.usable and connection.idle_since_ns > limit_ns:
                return connection
            connection.close()
        return None

    def _open(self, exchange: Exchange) -> None:
        self.open_count += 1
        task = asyncio.get_running_loop().create_task(self._connect(exchange))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, exchange: Exchange) -> None:
        lane, loop = self._lane, asyncio.get_running_loop()
        began_ns = time.monotonic_ns()
        try:
            async with asyncio.timeout(self._timeouts.connect_s):
                _, connection = await loop.create_connection(lambda: Connection(self), lane.host, lane.port)
        except TimeoutError:
            self._one_less()
            self._refuse(exchange, "connect_timeout", "no connection in time")
        except OSError as error:
            self._one_less()
            number = "" if error.errno is None else f" (os error {error.errno})"
            self._refuse(exchange, "connect_error", (error.strerror or str(error)).lower() + number)
        else:
            self.connection_count += 1
            exchange.connect_ns = time.monotonic_ns() - began_ns
            if self._closed:
                connection.close()
            elif connection.usable:
                self._live.add(connection)
                connection.ask(exchange, self._payload(exchange))
            else:
                # `lost` is called for it, or was already: it counts it out.
                self._refuse(exchange, "connect_error", "closed as soon as it was open")

    def _refuse(self, exchange: Exchange, fault: str, error: str) -> None:
        exchange.end_ns = time.monotonic_ns()
        exchange.fault, exchange.error = fault, error
        self._done(exchange)

    def _one_less(self) -> None:
        self.open_count -= 1
        if self._queue and not self._closed:
            self._open(self._queue.popleft())

    def _payload(self, exchange: Exchange) -> bytes:
        length = len(exchange.line)
        head = self._heads.get(length)
        if head is None:
            head = self._heads[length] = self._lane.head(length)
        return head + exchange.line

    def _overdue(self, exchange: Exchange, now_ns: int) -> str:
        limits = self._timeouts
        if not exchange.headers_ns:
            waited, limit_s, name = now_ns - exchange.sent_ns, limits.headers_s, "header_timeout"
        elif not exchange.body_begun:
            waited, limit_s, name = now_ns - exchange.headers_ns, limits.first_byte_s, "first_byte_timeout"
        else:
            waited, limit_s, name = now_ns - exchange.last_read_ns, limits.idle_s, "idle_stall"
        if waited > limit_s * NS_PER_S:
            return name
        return "total_timeout" if now_ns - exchange.sent_ns > limits.total_s * NS_PER_S else ""
