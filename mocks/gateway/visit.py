"""A client's request and the means to respond to it: the part of the server's exchange that the gateway uses.

The proxy knows no more of its server than this, so that a wrapper can stand between the two.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from mocks.wire.exchange import Headers


class ClientRequest(Protocol):
    """A client's request and the means to respond to it: what the gateway uses of the server's exchange."""

    @property
    def method(self) -> str:
        """The HTTP method."""

    @property
    def path(self) -> str:
        """The path without its query."""

    @property
    def query(self) -> str:
        """The text after the `?`, not decoded."""

    @property
    def body(self) -> bytes:
        """The request body."""

    @property
    def received_ns(self) -> int:
        """When the request was read whole, on the monotonic clock."""

    @property
    def started(self) -> bool:
        """Whether any of the response was sent."""

    @property
    def finished(self) -> bool:
        """Whether the response has ended."""

    @property
    def gone(self) -> bool:
        """Whether the client went first."""

    @property
    def headers(self) -> dict[str, str]:
        """Request headers by lower-case name."""

    def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Send the whole response."""

    def respond_json(self, status: int, document: object) -> None:
        """Send the whole response, made of a JSON document."""

    def start_stream(self, status: int, headers: Headers) -> None:
        """Head of a streamed response."""

    def send_chunk(self, data: bytes) -> None:
        """Send a piece of a streamed response."""

    def end_stream(self) -> None:
        """End of a streamed response."""

    def abort(self) -> None:
        """Cut the connection."""

    def on_gone(self, callback: Callable[[], None]) -> None:
        """Call `callback` once if the client goes before the response has ended."""


Handle = Callable[[ClientRequest], None]
# Something put between a client and the gateway.
Wrap = Callable[[Handle], Handle]
