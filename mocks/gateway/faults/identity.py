"""Faults of whose a response is: crossed, repeated, old.

Built by the faulty wrapper from a fault's value; each sees chat requests only. `crossed` and `repeat` take two
requests that are open at the same time, so one client alone never meets them.
"""

from __future__ import annotations

import re

from mocks.gateway.faults import values
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.faults.switched import Given, Switched, give
from mocks.gateway.visit import ClientRequest, Handle, Wrap

_STREAM = re.compile(rb'"stream":\s*true')


class _OpenRequests:
    """Requests on their way whose response has not begun, the oldest first."""

    def __init__(self) -> None:
        self._requests: list[Switched] = []

    def add(self, one: Switched) -> None:
        """Add a request."""
        self._requests.append(one)

    def take(self) -> Switched | None:
        """Return the oldest one that nobody has answered yet, and forget it; None without any."""
        self._requests = [one for one in self._requests if not one.started and not one.gone]
        return self._requests.pop(0) if self._requests else None


def crossed(value: str, truth: GroundTruth) -> Wrap:
    """`crossed:N`: every Nth request, where another one is open, gets the other's response, and the other its own."""
    every = values.read_count(value)

    def wrap(proxy: Handle) -> Handle:
        others = _OpenRequests()

        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            mine = Switched(visit)
            other = None if truth.request_count % every else others.take()
            if other is None:
                others.add(mine)
            else:
                mine.to, other.to = other.to, mine.to
            proxy(mine)

        return handle

    return wrap


def repeat(value: str, truth: GroundTruth) -> Wrap:
    """`repeat:N`: every Nth request, where another one is open, gets the same response as that one."""
    every = values.read_count(value)

    def wrap(proxy: Handle) -> Handle:
        others = _OpenRequests()

        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            other = None if truth.request_count % every else others.take()
            if other is not None:
                other.to.append(visit)
                return
            mine = Switched(visit)
            others.add(mine)
            proxy(mine)

        return handle

    return wrap


def old(value: str, truth: GroundTruth) -> Wrap:
    """`old:N`: every Nth request gets the response that an earlier request of its mode was given, without a call."""
    every = values.read_count(value)

    def wrap(proxy: Handle) -> Handle:
        last: dict[bool, Switched] = {}
        kept: dict[bool, Given] = {}

        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            is_stream = _STREAM.search(visit.body) is not None
            if is_stream in last and last[is_stream].is_given:
                kept[is_stream] = last.pop(is_stream).given
            if truth.request_count % every == 0 and is_stream in kept:
                give(visit, kept[is_stream])
                return
            mine = Switched(visit)
            last.setdefault(is_stream, mine)
            proxy(mine)

        return handle

    return wrap
