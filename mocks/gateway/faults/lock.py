"""A lock that every request holds for a while: what a gateway that works off one request after the other does."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from mocks import stamps
from mocks.gateway.faults import values
from mocks.gateway.faults.ground_truth import GroundTruth, Rows
from mocks.gateway.visit import ClientRequest, Handle, Wrap
from mocks.wire import DueTimes

Turn = Callable[[], None]


def lock(value: str, truth: GroundTruth) -> Wrap:
    """`lock:8ms`: each request waits for its turn and holds the lock so long, then goes on to the proxy.

    The rows say from when to when each held it, which is the lock's service time: a hold ends when the gateway wakes
    up, and that is later than asked.
    """
    held_ns = values.read_duration_ns(value)

    def wrap(proxy: Handle) -> Handle:
        due_times = DueTimes()
        turns: deque[Turn] = deque()

        def take_turn() -> None:
            turns[0]()

        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            rows: Rows = truth.rows
            letters = stamps.find_reference(visit.body)
            reference = letters.decode() if letters else None

            def hold() -> None:
                start_ns = time.monotonic_ns()

                def give_up() -> None:
                    rows.add(reference, start_ns, time.monotonic_ns())
                    turns.popleft()
                    if turns:
                        take_turn()
                    proxy(visit)

                due_times.at(start_ns + held_ns, give_up)

            turns.append(hold)
            if len(turns) == 1:
                take_turn()

        return handle

    return wrap
