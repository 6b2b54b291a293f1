"""Numbers of clients: a closed loop, each client with one request at a time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from weighbridge.matrix.loads.contract import CheckContext, LoadPart, Remark, Target, Timeout, Warmup, check_timeout
from weighbridge.matrix.loads.samples import few_samples
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.matrix.strict import STRICT, Strict, whole, whole_or_auto
from weighbridge.matrix.yamltext import KeyPath

# A closed loop counts over so many requests of each client, or for so long, whichever comes first (METHOD section 2).
REQUESTS_PER_CLIENT = 100
LONG_ENOUGH_S = 60.0
# A pass of the probe after a closed loop of many clients takes no longer.
PASS_S = 10.0
# So many, at least, are planned where the matrix leaves the number to us: a p99 needs them.
_LEAST_REQUESTS = 1000

_PATH = ("loads", "clients")


def planned_requests(clients: int, provider_time_s: float) -> int:
    """Return how many requests `requests: auto` measures with so many clients.

    A hundred of each client, but no more than they can do in 60 s while the provider alone takes `provider_time_s`
    seconds; 1,000 in any case.
    """
    wanted = REQUESTS_PER_CLIENT * clients
    if provider_time_s > 0:
        wanted = min(wanted, int(clients * LONG_ENOUGH_S / provider_time_s))
    return max(_LEAST_REQUESTS, wanted)


@dataclass(frozen=True)
class ClientsLoad:
    """So many clients for so many measured requests; the first request on each connection is not measured."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    clients: Annotated[int, Field(description="Number of clients.")]
    request_count: Annotated[int, Field(description="Requests measured.")]
    connections: Annotated[int, Field(description="Connections: one for each client.")]
    warmup_count: Annotated[int, Field(description="Requests before each window.")]
    timeout_s: Annotated[float, Field(description="Limit of one request.")]
    kind: Annotated[Literal["clients"], Field(description="A closed loop.")] = "clients"

    has_schedule: ClassVar[bool] = False
    measures_times: ClassVar[bool] = True
    duration_s: ClassVar[None] = None
    offered_rps: ClassVar[None] = None
    companion: ClassVar[None] = None
    no_companion: ClassVar[None] = None
    arrivals: ClassVar[None] = None

    @property
    def warmup_before_count(self) -> int:
        """Return how many requests warm up before the window opens."""
        return self.warmup_count

    @property
    def left_out_count(self) -> int:
        """Return how many requests, the first by their start, are left out of every time."""
        return self.connections

    @property
    def name(self) -> str:
        """Return `clients-10`."""
        return f"clients-{self.clients}"

    @property
    def size(self) -> float:
        """Return what loads of this kind are sorted by."""
        return float(self.clients)

    @property
    def concurrency(self) -> int:
        """Return how many requests are open at a time."""
        return self.clients

    @property
    def is_serial(self) -> bool:
        """Return whether there is one request after the other."""
        return self.clients == 1

    @property
    def window_count(self) -> int:
        """Return how many requests the window asks for."""
        return self.request_count + self.connections

    def expected_s(self, answer: AnswerSpec, mode: Mode, *, added_s: float = 0.0) -> float:
        """Return how long the window takes on a lane that adds so much to each request."""
        return math.ceil(self.window_count / self.clients) * (answer.provider_time_s(mode) + added_s)

    def window_answer(self, answer: AnswerSpec) -> AnswerSpec:
        """Return what the provider sends in the window."""
        return answer

    def parts(self) -> tuple[LoadPart[ClientsLoad], ...]:
        """Return what each load generator drives: all of it."""
        return (LoadPart("driver", None, self),)

    def pass_load(self, answer: AnswerSpec, mode: Mode) -> ClientsLoad:
        """Return what the probe drives after a driver that reads no stamps: the same, of many clients 10 s of it."""
        if self.is_serial:
            return replace(self, warmup_count=0)
        time_s = max(answer.provider_time_s(mode), 0.001)
        count = min(self.request_count, max(self.clients, int(self.clients * PASS_S / time_s)))
        return replace(self, request_count=count, warmup_count=0)

    def without_companion(self, _reason: str | None = None) -> ClientsLoad:
        """Return the load as it is, since it has no companion."""
        return self

    def with_connections(self, _factor: int) -> None:
        """Return None: more connections would be more clients, another load."""
        return

    def warm_up(self, count: int) -> ClientsLoad:
        """Return so many requests of the same clients."""
        return warm_up_by_clients(self.clients, count, self.timeout_s)

    def advice(self, _answer: AnswerSpec, _mode: Mode) -> Iterator[Remark]:
        """Yield what weakens the figures of this load, with the key to change."""
        few = few_samples(self.request_count)
        if few is not None:
            remark = f"{self.request_count:,} requests are measured in a run; {few}"
            yield "requests_below_percentile", (*_PATH, "requests"), remark


def warm_up_by_clients(clients: int, count: int, timeout_s: float) -> ClientsLoad:
    """Return a closed loop of `count` requests in all, by no more clients than that."""
    most = max(1, min(clients, count - 1))
    return ClientsLoad(most, max(1, count - most), most, 0, timeout_s)


class ClientsSchema(Strict):
    """Closed loop: so many clients, each with one request at a time."""

    counts: Annotated[tuple[Annotated[int, whole(1, 10_000)], ...], Field(min_length=1)] = Field(
        description="Numbers of clients, such as [1, 10]."
    )
    request_count: Annotated[int | None, whole_or_auto(1, 10_000_000, "requests")] = Field(
        default=None, alias="requests", description="Requests measured, or auto: 100 of each client."
    )
    warmup_count: Warmup = Field(default=25, alias="warmup", description="Requests before each window.")
    timeout_s: Timeout = Field(default=60.0, alias="timeout", description="Limit of one request, such as 60s.")

    def loads(self, target: Target) -> Iterator[ClientsLoad]:
        """Yield one load for each number of clients."""
        time_s = target.answer.provider_time_s(target.mode)
        for clients in self.counts:
            count = planned_requests(clients, time_s) if self.request_count is None else self.request_count
            yield ClientsLoad(clients, count, clients, self.warmup_count, self.timeout_s)

    def lists(self) -> Iterator[tuple[KeyPath, Sequence[Hashable]]]:
        """Yield the numbers of clients."""
        yield (*_PATH, "counts"), self.counts

    def check(self, around: CheckContext) -> None:
        """Raise InputError for a limit that a response alone would reach."""
        check_timeout(self.timeout_s, around, (*_PATH, "timeout"))
