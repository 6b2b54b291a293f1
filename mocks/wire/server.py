"""A listening server on a loopback address, and its open connections.

It must not bind to anything that other machines can reach.
"""

from __future__ import annotations

import asyncio
import ipaddress

from mocks.wire.protocol import Handler, HttpConnection

__all__ = ["Handler", "Server", "serve"]

LISTEN_BACKLOG_COUNT = 4096


class Server:
    """A server that listens, with counts of its connections."""

    def __init__(self) -> None:
        self.port = 0
        self.connection_count = 0
        self.open_max_count = 0
        self._listener: asyncio.AbstractServer | None = None
        self._open: set[HttpConnection] = set()
        self._empty = asyncio.Event()
        self._empty.set()

    @property
    def open_count(self) -> int:
        """Connections that are open now."""
        return len(self._open)

    def listening(self, listener: asyncio.Server) -> None:
        """For `serve`: the socket is bound."""
        self._listener = listener
        self.port = listener.sockets[0].getsockname()[1]

    def opened(self, connection: HttpConnection) -> None:
        """For a connection: it was accepted."""
        self._open.add(connection)
        self._empty.clear()
        self.connection_count += 1
        self.open_max_count = max(self.open_max_count, len(self._open))

    def closed(self, connection: HttpConnection) -> None:
        """For a connection: it has ended."""
        self._open.discard(connection)
        if not self._open:
            self._empty.set()

    def reset_counts(self) -> None:
        """Start the counts anew; what is open now stays counted as open."""
        self.connection_count = 0
        self.open_max_count = len(self._open)

    async def close(self, grace_s: float = 2.0) -> None:
        """Stop listening, let requests at hand be answered for `grace_s`, then cut what is left."""
        if self._listener is not None:
            self._listener.close()
        for connection in list(self._open):
            connection.retire()
        try:
            await asyncio.wait_for(self._empty.wait(), grace_s)
        except TimeoutError:
            for connection in list(self._open):
                connection.abort()
            await self._empty.wait()


async def serve(handler: Handler, port: int, host: str = "127.0.0.1") -> Server:
    """Start a server on `host:port` (port 0: a free one, see `Server.port`) that calls `handler` for each request.

    Raises ValueError when `host` is no loopback address, OSError when the port cannot be bound.
    """
    if not ipaddress.ip_address(host).is_loopback:
        raise ValueError(f"{host} is not a loopback address; a mock serves its own machine only")
    server = Server()
    listener = await asyncio.get_running_loop().create_server(
        lambda: HttpConnection(handler, server), host, port, backlog=LISTEN_BACKLOG_COUNT
    )
    server.listening(listener)
    return server
