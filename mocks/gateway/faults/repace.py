"""A stream that is held until the provider has ended it, and then let out event by event at a pace of its own.

Built by the faulty wrapper. It is what gateways do that look at the whole response first and then simulate streaming.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import partial

from mocks.gateway.faults import values
from mocks.gateway.faults.bent import Bent
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.faults.streams import Events
from mocks.gateway.visit import ClientRequest, Handle, Wrap
from mocks.wire import DueTimes


class Repaced:
    """One stream: all of its events are kept, and from its end on one is sent every `gap_ns`."""

    def __init__(self, visit: ClientRequest, gap_ns: int, due_times: DueTimes) -> None:
        self._visit = visit
        self._gap_ns = gap_ns
        self._due_times = due_times
        self._events = Events()
        self._kept: list[bytes] = []

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Nothing yet."""
        self._kept += self._events.cut(data)
        return ()

    def end(self) -> Iterable[bytes] | None:
        """Begin to send; the end is told behind the last event."""
        rest, now_ns = self._events.rest(), time.monotonic_ns()
        for place, event in enumerate(self._kept):
            self._at(now_ns + place * self._gap_ns, partial(self._visit.send_chunk, event))

        def finish() -> None:
            if rest:
                self._visit.send_chunk(rest)
            self._visit.end_stream()

        self._at(now_ns + len(self._kept) * self._gap_ns, finish)
        return None

    def _at(self, due_ns: int, send: Callable[[], None]) -> None:
        def fire() -> None:
            if not self._visit.gone and not self._visit.finished:
                send()

        self._due_times.at(due_ns, fire)


def repace(value: str, truth: GroundTruth) -> Wrap:
    """`re-pace:5ms`: each stream is held until it is complete, then its events come one every 5 ms."""
    gap_ns = values.read_duration_ns(value)

    def wrap(proxy: Handle) -> Handle:
        due_times = DueTimes()

        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            proxy(Bent(visit, Repaced(visit, gap_ns, due_times)))

        return handle

    return wrap
