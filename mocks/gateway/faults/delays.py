"""Known delays: so much time right before a request goes to the provider, or so much work before the proxy sees it.

Built by the faulty wrapper from a delay's value; each sees chat requests only. Time is slept on absolute due times,
never spun, and what was really slept or burned is in the rows: that, and not the asked one, is the known delay.
Every request naps before its delay begins, that of `delay-0` too: all wake up, so that what waking on a core
that has gone cold costs is in the control, and no part of a delay.
"""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b

from mocks import stamps
from mocks.burn import burn as burn_cpu
from mocks.gateway.answer import UpstreamResponse
from mocks.gateway.faults import values
from mocks.gateway.faults.ground_truth import ASKED_COLUMNS, CPU_COLUMNS, GroundTruth, Rows
from mocks.gateway.proxy import ProviderClient
from mocks.gateway.refusal import Refused
from mocks.gateway.upstream import Call
from mocks.gateway.visit import ClientRequest, Handle, Wrap
from mocks.wire import DueTimes

_MS_NS = 1_000_000
NAP_NS = _MS_NS
DRIFT_NS = 30 * _MS_NS
_DRAW_BYTES = 8
BY_HEADER = "by-header"
DELAY_HEADER = "x-weighbridge-delay"
_HEADER_BYTES = DELAY_HEADER.encode()

DrawNs = Callable[[bytes], int]


@dataclass(frozen=True, slots=True)
class Mixture:
    """A low or, for `high_share` of the requests, a high time.

    Which one is drawn from the request's reference alone: the same request has the same delay in every run, in
    whatever order requests come. Each mixture draws for itself, by its name.
    """

    name: str
    low_ns: int
    high_ns: int
    high_share: float

    def draw_ns(self, reference: bytes) -> int:
        """Time for the request with these letters."""
        digest = blake2b(reference, digest_size=_DRAW_BYTES, person=self.name.encode()).digest()
        is_high = int.from_bytes(digest, "big") < self.high_share * 2 ** (8 * _DRAW_BYTES)
        return self.high_ns if is_high else self.low_ns


# The steps lie off the percentiles that are judged: p50, p95 and p99 each fall well inside one of the two values.
MIXTURES: Mapping[str, Mixture] = {
    mixture.name: mixture
    for mixture in (
        Mixture("two-valued", 1 * _MS_NS, 9 * _MS_NS, 0.3),
        Mixture("slow", 0, 50 * _MS_NS, 1 / 40),
    )
}


def add(value: str, truth: GroundTruth) -> Wrap:
    """`add:30ms`: so much time for every request."""
    added_ns = values.read_duration_ns(value)
    return _before_proxy(lambda _: added_ns, _pass, truth)


def drift(value: str, truth: GroundTruth) -> Wrap:
    """`drift:N`: 30 ms for the first request, less for each, none from the Nth on: a lane that is slow to warm up."""
    count = values.read_count(value)
    numbers = itertools.count()
    return _before_proxy(lambda _: round(DRIFT_NS * max(0.0, 1 - next(numbers) / count)), _pass, truth)


def delay(value: str, truth: GroundTruth) -> Wrap:  # noqa: ARG001 - every fault is built alike
    """`delay:0`, `delay:3ms`, `delay:two-valued` or `delay:slow`: a time that is the request's own.

    `delay:by-header` leaves the choice to each request's own header, so that one process holds every delay and no
    difference of processes is taken for one of delays. Nothing stands before the proxy: `delayed` delays the requests
    behind it.
    """
    if value != BY_HEADER:
        draw_of(value)
    return lambda proxy: proxy


def delayed(value: str, truth: GroundTruth) -> Callable[[ProviderClient], ProviderClient]:
    """Return what delays each request right before it is sent to the provider, and records it.

    There the gateway's own work on the request lies behind it: were it to come after a sleep, on a core that has gone
    cold, the delay would be more than what was recorded.
    """
    truth.columns = ASKED_COLUMNS
    return lambda provider: _DelayedProvider(provider, value, truth)


def draw_of(value: str) -> DrawNs:
    """Return the draw of how many ns a delay such as `3ms` delays each request; ValueError for what is none."""
    if value in MIXTURES:
        return MIXTURES[value].draw_ns
    try:
        delay_ns = 0 if value == "0" else values.read_duration_ns(value)
    except ValueError:
        raise ValueError(f"a delay is 0, a duration such as 3ms, {' or '.join(MIXTURES)}, not {value!r}") from None
    return lambda _: delay_ns


class _DelayedProvider:
    """The provider behind a delay."""

    def __init__(self, provider: ProviderClient, value: str, truth: GroundTruth) -> None:
        self._provider = provider
        self._value = value
        self._truth = truth
        self._due_times = DueTimes()
        self._draws: dict[str, DrawNs] = {}

    async def send(self, call: Call, opened: Callable[[UpstreamResponse], None]) -> UpstreamResponse:
        """Delay a call, then send it and return the provider's response."""
        truth = self._truth
        truth.request_count += 1
        rows: Rows = truth.rows
        start_ns = time.monotonic_ns() + NAP_NS  # so that the work of choosing a delay is done within the nap
        letters = stamps.find_reference(call.body)
        delay_ns = self._draw(call)(letters or b"")
        due: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._due_times.at(start_ns + delay_ns, lambda: _release(due))
        await due
        rows.add(letters.decode() if letters else None, start_ns, time.monotonic_ns(), delay_ns)
        return await self._provider.send(call, opened)

    def _draw(self, call: Call) -> DrawNs:
        name = self._value
        if name == BY_HEADER:
            name = next((value.decode() for key, value in call.headers if key == _HEADER_BYTES), "0")
        if name not in self._draws:
            try:
                self._draws[name] = draw_of(name.removeprefix("delay-"))
            except ValueError as error:
                raise Refused(400, "invalid_delay", f"{DELAY_HEADER}: {error}") from None
        return self._draws[name]


def _release(due: asyncio.Future[None]) -> None:
    if not due.done():  # the request may have been given up
        due.set_result(None)


def burn(value: str, truth: GroundTruth) -> Wrap:
    """`burn:2ms`: so much CPU time of the gateway for every request, behind a sleep of zero."""
    burned_ns = values.read_duration_ns(value)
    truth.columns = CPU_COLUMNS
    return _before_proxy(lambda _: 0, lambda: (burn_cpu(burned_ns),), truth)


def _pass() -> tuple[int, ...]:
    return ()


def _before_proxy(draw_ns: DrawNs, work: Callable[[], tuple[int, ...]], truth: GroundTruth) -> Wrap:
    """Return a wrapper that sleeps what is drawn, works, records both and goes on."""

    def wrap(proxy: Handle) -> Handle:
        due_times = DueTimes()

        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            rows: Rows = truth.rows
            letters = stamps.find_reference(visit.body)
            slept_ns = draw_ns(letters or b"")
            reference = letters.decode() if letters else None
            start_ns = time.monotonic_ns()

            def go_on() -> None:
                done = work()
                rows.add(reference, start_ns, time.monotonic_ns(), *done)
                proxy(visit)

            due_times.at(start_ns + slept_ns, go_on)

        return handle

    return wrap
