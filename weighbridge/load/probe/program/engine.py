"""The window itself: sends on schedule (open loop) or one after the other (closed loop) until all is answered.

An open loop looks at no answer: a stalled server gets its requests on time all the same, or they wait in the pool's
queue with their intended start kept. It parses nothing and judges nothing.
"""

from __future__ import annotations

import asyncio
import signal
import time
from collections.abc import Callable, Sequence

from weighbridge.load.probe.program.arrivals import draw_lanes, offsets_ns
from weighbridge.load.probe.program.capture import Capture, Exchange
from weighbridge.load.probe.program.heartbeat import Heartbeat
from weighbridge.load.probe.program.pacing import Alarm
from weighbridge.load.probe.program.plan import ProbePlan
from weighbridge.load.probe.program.pool import Pool
from weighbridge.load.probe.program.quiet import ask_short_slice, no_collections

# The first arrival lies a little ahead, so that the loop is at rest when it comes.
_AHEAD_NS = 50_000_000


async def drive(plan: ProbePlan, lines: Sequence[bytes]) -> Capture:
    """Return what one window left; `lines` are the bodies, used again from the first one when there are too few."""
    lanes = draw_lanes([lane.delay for lane in plan.lanes], plan.count, plan.seed)
    exchanges = [Exchange(lines[number % len(lines)], lane) for number, lane in enumerate(lanes)]
    capture = Capture(exchanges, short_slice=ask_short_slice())
    window = _ProbeWindow(plan, capture)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, window.interrupt)
    with no_collections():
        cpu_s = time.process_time()
        await window.run()
        capture.cpu_s = time.process_time() - cpu_s
    return capture


class _ProbeWindow:
    """Pools, pacing and heartbeat of one window."""

    def __init__(self, plan: ProbePlan, capture: Capture) -> None:
        self._plan = plan
        self._capture = capture
        self._pools = [Pool(lane, plan.connections, plan.timeouts, self._done) for lane in plan.lanes]
        self._heartbeat = Heartbeat(self._end_overdue)
        self._finished = asyncio.Event()
        self._in_flight_count = self._done_count = 0
        self._next: Callable[[], None] | None = None

    async def run(self) -> None:
        """Until every request has an end, or an interrupt."""
        capture = self._capture
        if self._plan.ready is not None:
            self._plan.ready.touch()
        capture.started_ns = time.monotonic_ns() + _AHEAD_NS
        pacer = Alarm(lambda: None) if self._plan.rate_rps is None else self._open_loop(self._plan.rate_rps)
        capture.pacing = pacer.kind
        self._heartbeat.start()
        if self._plan.clients is not None:
            self._closed_loop(self._plan.clients)
        await self._finished.wait()
        capture.ended_ns = time.monotonic_ns()
        pacer.close()
        self._heartbeat.close()
        capture.beats = self._heartbeat.beats
        capture.connection_count = sum(pool.connection_count for pool in self._pools)
        for pool in self._pools:
            pool.close()

    def interrupt(self) -> None:
        """Stop sending and wait for nothing."""
        self._capture.interrupted = True
        self._finished.set()

    def _open_loop(self, rate_rps: float) -> Alarm:
        plan, capture = self._plan, self._capture
        for exchange, offset in zip(
            capture.exchanges, offsets_ns(plan.arrivals, rate_rps, plan.count, plan.seed), strict=True
        ):
            exchange.intended_ns = capture.started_ns + offset

        def fire() -> None:
            # Only what was due on entry: sockets are polled between two turns, however late we are.
            now, exchanges, place = time.monotonic_ns(), capture.exchanges, capture.released_count
            while place < len(exchanges) and exchanges[place].intended_ns <= now:
                self._dispatch(exchanges[place])
                place += 1
            alarm.arm(exchanges[place].intended_ns if place < len(exchanges) else None)

        alarm = Alarm(fire)
        alarm.arm(capture.exchanges[0].intended_ns)
        return alarm

    def _closed_loop(self, clients: int) -> None:
        capture = self._capture
        capture.started_ns = time.monotonic_ns()

        def send_next() -> None:
            if capture.released_count < len(capture.exchanges):
                self._dispatch(capture.exchanges[capture.released_count])

        self._next = send_next
        for _ in range(min(clients, len(capture.exchanges))):
            send_next()

    def _dispatch(self, exchange: Exchange) -> None:
        capture = self._capture
        capture.released_count += 1
        self._in_flight_count += 1
        capture.in_flight_max_count = max(capture.in_flight_max_count, self._in_flight_count)
        exchange.released_ns = time.monotonic_ns()
        self._pools[exchange.lane].dispatch(exchange)

    def _done(self, _exchange: Exchange) -> None:
        self._in_flight_count -= 1
        self._done_count += 1
        if self._finished.is_set():
            return
        if self._done_count == len(self._capture.exchanges):
            self._finished.set()
        elif self._next is not None:
            self._next()

    def _end_overdue(self, now_ns: int) -> None:
        for pool in self._pools:
            pool.end_overdue(now_ns)
