"""Faults of connections: closed behind every answer, though the client would keep them."""

from __future__ import annotations

from mocks.gateway.faults import values
from mocks.gateway.faults.bent import Bent
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.faults.streams import Unbent
from mocks.gateway.visit import ClientRequest, Handle, Wrap
from mocks.wire.exchange import Headers

_CLOSE = ("connection", "close")


class _Closing(Bent):
    """The client's visit, whose answer says that it is the last one of its connection."""

    def respond(self, status: int, headers: Headers, body: bytes) -> None:
        """Send the whole answer, and that no other will follow."""
        super().respond(status, (*headers, _CLOSE), body)

    def start_stream(self, status: int, headers: Headers) -> None:
        """Head of a streamed answer, and that no other will follow."""
        super().start_stream(status, (*headers, _CLOSE))


def close(value: str, truth: GroundTruth) -> Wrap:
    """`close`: the connection ends with every answer."""
    values.read_nothing(value)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            proxy(_Closing(visit, Unbent()))

        return handle

    return wrap
