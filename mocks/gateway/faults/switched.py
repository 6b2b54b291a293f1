"""A client's request whose answer goes elsewhere: to another client, to several, or changed on its way."""

from __future__ import annotations

from collections.abc import Callable

from mocks.gateway.visit import ClientRequest
from mocks.wire.exchange import Headers

_LAST = frozenset({"respond", "respond_json", "end_stream", "abort"})
# What was called on the way to the client, in order: a response that can be given again.
Given = list[tuple[str, tuple[object, ...]]]


class Switched:
    """The request is that of `asked`, its body may be another; the answer goes to each client in `to`.

    `given` is what has been answered so far, `is_given` says that it is whole.
    """

    def __init__(self, asked: ClientRequest, *, body: bytes | None = None) -> None:
        self._asked = asked
        self._body = asked.body if body is None else body
        self.to: list[ClientRequest] = [asked]
        self.change: Callable[[bytes], bytes] | None = None
        self.given: Given = []

    @property
    def method(self) -> str:
        """The HTTP method."""
        return self._asked.method

    @property
    def path(self) -> str:
        """The path without its query."""
        return self._asked.path

    @property
    def query(self) -> str:
        """The text after the `?`."""
        return self._asked.query

    @property
    def body(self) -> bytes:
        """The request body."""
        return self._body

    @property
    def received_ns(self) -> int:
        """When the request was read whole."""
        return self._asked.received_ns

    @property
    def headers(self) -> dict[str, str]:
        """Request headers by lower-case name."""
        return self._asked.headers

    @property
    def started(self) -> bool:
        """Whether any of the response was sent."""
        return bool(self.given)

    @property
    def finished(self) -> bool:
        """Whether the response has ended."""
        return self.is_given or all(client.finished for client in self.to)

    @property
    def is_given(self) -> bool:
        """Whether the whole response was given."""
        return bool(self.given) and self.given[-1][0] in _LAST

    @property
    def gone(self) -> bool:
        """Whether every client went first."""
        return all(client.gone for client in self.to)

    def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Send the whole response, changed where it is to be."""
        self._give("respond", status, tuple(headers), body if self.change is None else self.change(body))

    def respond_json(self, status: int, document: object) -> None:
        """Send the whole response, made of a JSON document."""
        self._give("respond_json", status, document)

    def start_stream(self, status: int, headers: Headers) -> None:
        """Send the head of a streamed response."""
        self._give("start_stream", status, tuple(headers))

    def send_chunk(self, data: bytes) -> None:
        """Send a piece of a streamed response."""
        self._give("send_chunk", data)

    def end_stream(self) -> None:
        """End a streamed response."""
        self._give("end_stream")

    def abort(self) -> None:
        """Cut the connection."""
        self._give("abort")

    def on_gone(self, callback: Callable[[], None]) -> None:
        """Call `callback` once if the client that asked goes before its answer has ended."""
        self._asked.on_gone(callback)

    def _give(self, name: str, *values: object) -> None:
        self.given.append((name, values))
        for client in self.to:
            give(client, [(name, values)])


def give(client: ClientRequest, given: Given) -> None:
    """Answer a client with what another one was given."""
    for name, values in given:
        if not client.gone and not client.finished:
            getattr(client, name)(*values)
