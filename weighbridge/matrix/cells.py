"""Cells and lanes: what the matrix expands to. Pure data; `expand` makes them, everyone else reads them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

Mode = Literal["plain", "stream"]
LoadKind = Literal["rate", "clients", "streams"]
DriverName = Literal["oha", "wrk", "probe"]

FLOOR = "direct"


@dataclass(frozen=True)
class PayloadSpec:
    """Size of the prompt in bytes: a system and a user message; every prompt is different and seeded."""

    name: str
    system_bytes: int
    user_bytes: int


@dataclass(frozen=True)
class AnswerSpec:
    """What the mock provider answers: after `delay_s`; streams send `chunk_count` chunks `gap_s` apart."""

    name: str
    delay_s: float
    chunk_count: int
    gap_s: float

    def provider_time_s(self, mode: Mode) -> float:
        """Time from the whole request to the last byte of the answer by the provider's own schedule."""
        return self.delay_s + (self.chunk_count - 1) * self.gap_s if mode == "stream" else self.delay_s


@dataclass(frozen=True)
class RideSpec:
    """A probe that rides along: its part of the offered rate, and its own cap on connections."""

    rate_rps: float
    connections: int


@dataclass(frozen=True)
class HeldSpec:
    """Streams that are held open: how many at each step, and how long a step may take once the provider answers."""

    counts: tuple[int, ...]
    hold_s: float

    @property
    def most_count(self) -> int:
        """Streams of the last step; each of them is opened once and stays open."""
        return self.counts[-1]

    def step_s(self, answer: AnswerSpec) -> float:
        """Longest time of a step: the provider's delay and `hold_s`."""
        return answer.delay_s + self.hold_s

    def answer(self, answer: AnswerSpec) -> AnswerSpec:
        """The provider's answer with its chunks a step apart, so many that it lasts one step more than needed."""
        steps = sum(count > 0 for count in self.counts)
        return replace(answer, chunk_count=steps + 2, gap_s=self.step_s(answer))


@dataclass(frozen=True)
class LoadSpec:
    """One load of one cell: an arrival rate for a time, a number of clients for a number of requests, held streams.

    `request_count` is how many requests are measured; the window asks for `request_count + connections`,
    because oha's first request on each connection pays its connect and is left out by rule.
    With a probe that rides along (`ride`) rate and counts are those of both clients together, `connections` are
    the main driver's; `no_ride` says why there is no such probe where one was asked for.
    """

    kind: LoadKind
    rate_rps: float | None
    clients: int | None
    duration_s: float | None
    request_count: int
    connections: int
    warmup_count: int
    timeout_s: float
    ride: RideSpec | None = None
    no_ride: str | None = None
    held: HeldSpec | None = None

    @property
    def name(self) -> str:
        """`rate-50`, `clients-10` or `streams-100`."""
        if self.held is not None:
            return f"streams-{self.held.most_count}"
        return f"rate-{self.rate_rps:g}" if self.kind == "rate" else f"clients-{self.clients}"

    @property
    def window_count(self) -> int:
        """Requests that the window asks for."""
        if self.held is not None:
            return self.request_count
        return self.request_count + self.connections + (self.ride.connections if self.ride else 0)

    @property
    def rider(self) -> LoadSpec | None:
        """The part of the probe that rides along; it lasts as long as the main driver's. None without one."""
        if self.ride is None or self.rate_rps is None:
            return None
        own = self.ride
        count = round(own.rate_rps * self.window_count / self.rate_rps)
        return replace(
            self,
            rate_rps=own.rate_rps,
            request_count=count - own.connections,
            connections=own.connections,
            warmup_count=0,
            ride=None,
        )

    @property
    def main(self) -> LoadSpec:
        """The part of the main driver: all but what the probe that rides along takes."""
        rider = self.rider
        if rider is None or rider.rate_rps is None or self.rate_rps is None:
            return self
        count = self.window_count - rider.window_count
        # Rounded, for a difference of two decimal fractions is none.
        rate_rps = round(self.rate_rps - rider.rate_rps, 9)
        return replace(self, rate_rps=rate_rps, request_count=count - self.connections, ride=None)

    def alone(self, reason: str | None = None) -> LoadSpec:
        """The same load without a probe that rides along, and why."""
        return replace(self, ride=None, no_ride=reason)

    def expected_s(self, answer: AnswerSpec, mode: Mode) -> float:
        """How long the window is expected to take on a lane that keeps up."""
        if self.held is not None:
            return self.held.answer(answer).provider_time_s(mode)
        if self.rate_rps is not None:
            return self.window_count / self.rate_rps
        clients = self.clients or 1
        return math.ceil(self.window_count / clients) * answer.provider_time_s(mode)


@dataclass(frozen=True)
class LaneKey:
    """What is started once a block: a gateway with its settings, a chain and a disk."""

    gateway: str
    settings: tuple[tuple[str, str], ...]
    chain: str
    disk: str

    @property
    def name(self) -> str:
        """`litellm@workers=2.none.work`."""
        return f"{with_settings(self.gateway, self.settings)}.{self.chain}.{self.disk}"


@dataclass(frozen=True)
class Cell:
    """One combination of the matrix; `id` names it in files, patterns and pages."""

    id: str
    lane: LaneKey
    mode: Mode
    payload: PayloadSpec
    answer: AnswerSpec
    load: LoadSpec
    driver: DriverName
    # `not_supported` when the recipe does not claim chain or mode: shown with this reason, never run.
    not_supported: str | None = None

    @property
    def window_answer(self) -> AnswerSpec:
        """What the provider answers in the window: to held streams as their load says, else `answer`."""
        return self.answer if self.load.held is None else self.load.held.answer(self.answer)

    @property
    def is_floor(self) -> bool:
        """Whether this is a cell of the lane without a gateway."""
        return self.lane.gateway == FLOOR


def with_settings(gateway: str, settings: tuple[tuple[str, str], ...]) -> str:
    """`litellm` or `litellm@workers=2,log=off`."""
    return f"{gateway}@{','.join(f'{k}={v}' for k, v in settings)}" if settings else gateway
