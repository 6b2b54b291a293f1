"""A visit whose streamed response is bent on its way to the client; a non-streaming response goes through as it is.

The proxy responds to it as it would respond to the client.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Protocol

from mocks.gateway.visit import ClientRequest
from mocks.wire.exchange import Headers


class Bend(Protocol):
    """What becomes of one stream."""

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Return what to send now that the proxy sends `data`."""

    def end(self) -> Iterable[bytes] | None:
        """Return what to send before the end; None: the end is never told."""


class Bent:
    """The client's visit behind a bend."""

    def __init__(self, visit: ClientRequest, bend: Bend) -> None:
        self._visit = visit
        self._bend = bend
        self._ended = False

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self._visit.method

    @property
    def path(self) -> str:
        """The path without its query."""
        return self._visit.path

    @property
    def query(self) -> str:
        """The text after the `?`."""
        return self._visit.query

    @property
    def body(self) -> bytes:
        """The request body."""
        return self._visit.body

    @property
    def received_ns(self) -> int:
        """When the request was read whole."""
        return self._visit.received_ns

    @property
    def started(self) -> bool:
        """Whether any of the response was sent."""
        return self._visit.started

    @property
    def finished(self) -> bool:
        """Whether the proxy has ended the response, whatever the client sees."""
        return self._ended or self._visit.finished

    @property
    def gone(self) -> bool:
        """Whether the client went first."""
        return self._visit.gone

    @property
    def headers(self) -> dict[str, str]:
        """Request headers by lower-case name."""
        return self._visit.headers

    def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Send the whole response, as it is."""
        self._visit.respond(status, headers, body)

    def respond_json(self, status: int, document: object) -> None:
        """Send the whole response, as it is."""
        self._visit.respond_json(status, document)

    def start_stream(self, status: int, headers: Headers) -> None:
        """Head of a streamed response, as it is."""
        self._visit.start_stream(status, headers)

    def send_chunk(self, data: bytes) -> None:
        """Send what the bend makes of a piece."""
        for piece in self._bend.feed(data):
            self._visit.send_chunk(piece)

    def end_stream(self) -> None:
        """Send what the bend makes of the end."""
        self._ended = True
        rest = self._bend.end()
        if rest is None:
            return
        for piece in rest:
            self._visit.send_chunk(piece)
        self._visit.end_stream()

    def abort(self) -> None:
        """Cut the connection."""
        self._visit.abort()

    def on_gone(self, callback: Callable[[], None]) -> None:
        """Call `callback` once if the client goes before the response has ended."""
        self._visit.on_gone(callback)
