"""Cells and lanes: what the matrix expands to. Pure data; `expand` makes them, everyone else reads them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

Mode = Literal["plain", "stream"]
LoadKind = Literal["rate", "clients"]
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
class LoadSpec:
    """One load of one cell: an arrival rate for a time, or a number of clients for a number of requests.

    `request_count` is how many requests are measured; the window asks for `request_count + connections`,
    because oha's first request on each connection pays its connect and is left out by rule.
    """

    kind: LoadKind
    rate_rps: float | None
    clients: int | None
    duration_s: float | None
    request_count: int
    connections: int
    warmup_count: int
    timeout_s: float

    @property
    def name(self) -> str:
        """`rate-50` or `clients-10`."""
        return f"rate-{self.rate_rps:g}" if self.kind == "rate" else f"clients-{self.clients}"

    @property
    def window_count(self) -> int:
        """Requests that the window asks for."""
        return self.request_count + self.connections

    def expected_s(self, answer: AnswerSpec, mode: Mode) -> float:
        """How long the window is expected to take on a lane that keeps up."""
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
    def is_floor(self) -> bool:
        """Whether this is a cell of the lane without a gateway."""
        return self.lane.gateway == FLOOR


def with_settings(gateway: str, settings: tuple[tuple[str, str], ...]) -> str:
    """`litellm` or `litellm@workers=2,log=off`."""
    return f"{gateway}@{','.join(f'{k}={v}' for k, v in settings)}" if settings else gateway
