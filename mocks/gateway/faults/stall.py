"""A stream that stands still once: everything from one chunk on comes later by the same time.

Built by the faulty wrapper. The gaps before and after the stall are as they were, so that nothing but the stall
is there to be seen.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from mocks import stamps
from mocks.gateway.faults import values
from mocks.gateway.faults.bent import Bent
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.faults.streams import Events, is_content
from mocks.gateway.visit import ClientRequest, Handle, Wrap
from mocks.wire import DueTimes

STALL_NS = 500_000_000


class Stalled:
    """One stream, held back from its content event `number` on, counted from 1."""

    def __init__(
        self, visit: ClientRequest, number: int, due_times: DueTimes, reported: Callable[[int], None]
    ) -> None:
        self._visit = visit
        self._number = number
        self._due_times = due_times
        self._reported = reported
        self._events = Events()
        self._seen_count = 0
        self._late = False

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Yield the events before the stall; those behind it are sent when they are due."""
        for event in self._events.cut(data):
            self._seen_count += is_content(event)
            if self._late:
                self._later(event)
            elif self._seen_count == self._number:
                self._late = True
                self._stall(event)
            else:
                yield event

    def end(self) -> Iterable[bytes] | None:
        """Release what is left, at once or behind what is held back."""
        rest = self._events.rest()
        if not self._late:
            return (rest,)

        def finish() -> None:
            self._visit.send_chunk(rest)
            self._visit.end_stream()

        self._at_due(finish)
        return None

    def _stall(self, event: bytes) -> None:
        start_ns = time.monotonic_ns()

        def go_on() -> None:
            self._reported(start_ns)
            self._visit.send_chunk(event)

        self._at_due(go_on)

    def _later(self, event: bytes) -> None:
        self._at_due(lambda: self._visit.send_chunk(event))

    def _at_due(self, send: Callable[[], None]) -> None:
        def fire() -> None:
            if not self._visit.gone and not self._visit.finished:
                send()

        self._due_times.at(time.monotonic_ns() + STALL_NS, fire)


def stall(value: str, truth: GroundTruth) -> Wrap:
    """`stall:N`: each stream stands still for 500 ms before its Nth content event; when is in the rows."""
    number = values.read_count(value)

    def wrap(proxy: Handle) -> Handle:
        due_times = DueTimes()

        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            rows = truth.rows
            letters = stamps.find_reference(visit.body)
            reference = letters.decode() if letters else None

            def reported(start_ns: int) -> None:
                rows.add(reference, start_ns, time.monotonic_ns())

            proxy(Bent(visit, Stalled(visit, number, due_times, reported)))

        return handle

    return wrap
