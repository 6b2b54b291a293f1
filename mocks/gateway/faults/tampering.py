"""Faults of what a gateway passes on: another token usage than the provider's, another request than the client's.

Built by the faulty wrapper from a fault's value; each sees chat requests only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from mocks.gateway.faults import values
from mocks.gateway.faults.bent import Bent
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.faults.streams import Events
from mocks.gateway.faults.switched import Switched
from mocks.gateway.visit import ClientRequest, Handle, Wrap

_COMPLETION = re.compile(rb'("completion_tokens":\s*)(\d+)')
ADDED_KEY = "temperature"
DROPPED_KEY = "stream_options"


def one_more_token(body: bytes) -> bytes:
    """Return a body whose usage tells one more token of completion, and the same total."""
    return _COMPLETION.sub(lambda found: found[1] + b"%d" % (int(found[2]) + 1), body)


class _OneMoreToken:
    """A stream whose usage tells one more token."""

    def __init__(self) -> None:
        self._events = Events()

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Return the whole events, with the other usage."""
        return [one_more_token(event) for event in self._events.cut(data)]

    def end(self) -> Iterable[bytes] | None:
        """Return what is left."""
        return (self._events.rest(),)


def wrong_usage(value: str, truth: GroundTruth) -> Wrap:
    """`wrong-usage[:N]`: every Nth response, without N every one, tells one more token of completion."""
    every = values.read_count(value, default=1)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            if truth.request_count % every:
                proxy(visit)
                return
            mine = Switched(visit)
            mine.change = one_more_token
            proxy(Bent(mine, _OneMoreToken()))

        return handle

    return wrap


def change_request(value: str, truth: GroundTruth) -> Wrap:
    """`change-request`: a temperature is added to every request, and the options of a stream are dropped."""
    values.read_nothing(value)

    def wrap(proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            document = {**json.loads(visit.body), ADDED_KEY: 0.5}
            document.pop(DROPPED_KEY, None)
            proxy(Switched(visit, body=json.dumps(document, separators=(",", ":")).encode()))

        return handle

    return wrap
