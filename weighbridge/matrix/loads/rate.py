"""Arrival rates: an open loop of so many requests per second for a time, alone or with a companion probe."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, ConfigDict, Field

from weighbridge.errors import InputError
from weighbridge.matrix.arrivals import ARRIVALS, Arrivals
from weighbridge.matrix.loads.companion import (
    AskedCompanion,
    Companion,
    CompanionRate,
    Whole,
    companion_for,
    most_rps,
)
from weighbridge.matrix.loads.contract import CheckContext, LoadPart, Remark, Target, Timeout, Warmup, check_timeout
from weighbridge.matrix.loads.samples import few_samples
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.matrix.strict import STRICT, Strict, duration, number, refused, shown, whole_or_auto
from weighbridge.matrix.suggest import listed, nearest
from weighbridge.matrix.yamltext import KeyPath
from weighbridge.units import DAY_S

# More than this in one window is a slip of the pen, not a measurement.
REQUEST_LIMIT = 10_000_000
# What a response may take beyond the provider's own time before a cap on connections is felt (METHOD section 2).
GATEWAY_ALLOWANCE_S = 0.05
AUTO_CONNECTIONS_MIN = 32
# Room that a cap on connections should leave (METHOD section 2).
ROOM = 1.5

_PATH = ("loads", "rate")


def _rate_with_a_name(value: float) -> float:
    """Refuse a rate with more digits than a cell id, which it becomes a part of, keeps."""
    if float(f"{value:g}") != value:
        raise refused(f"{value} has more digits than a cell id keeps", "expected at most six digits")
    return value


def _known_arrivals(value: Any) -> Any:
    if value not in ARRIVALS:
        suggestion = nearest(value, ARRIVALS) if isinstance(value, str) else ""
        raise refused(f"{shown(value)} are no arrivals", f"expected {listed(ARRIVALS)}", suggestion)
    return value


AskedArrivals = Annotated[Arrivals, BeforeValidator(_known_arrivals)]
PerSecond = Annotated[float, BeforeValidator(_rate_with_a_name), number(0.01, 100_000, "requests per second")]


@dataclass(frozen=True)
class RateLoad:
    """One arrival rate. With a companion rate and counts are those of both, `connections` are the driver's.

    `request_count` is how many requests are measured. The window asks for more, at the same rate and without a pause:
    the warm-up comes first, and as many as there are connections are left out too, for the first request on each
    pays its connect.
    """

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    rate_rps: Annotated[float, Field(description="Arrival rate, requests/s.")]
    duration_s: Annotated[float, Field(description="Length of a window.")]
    request_count: Annotated[int, Field(description="Requests measured.")]
    connections: Annotated[int, Field(description="Cap on connections of the driver.")]
    warmup_count: Annotated[int, Field(description="Requests at the front of each window that only warm up.")]
    timeout_s: Annotated[float, Field(description="Limit of one request.")]
    companion: Annotated[
        Companion | None, Field(description="A probe that takes a part of the rate; null without one.")
    ] = None
    no_companion: Annotated[str | None, Field(description="Why there is none where the driver sees no stamps.")] = (
        None
    )
    arrivals: Annotated[Arrivals, Field(description="How the driver spaces its requests.")] = "poisson"
    kind: Annotated[Literal["rate"], Field(description="An open loop.")] = "rate"

    has_schedule: ClassVar[bool] = True
    measures_times: ClassVar[bool] = True
    is_serial: ClassVar[bool] = False
    concurrency: ClassVar[int] = 1
    # The warm-up runs into the window, so none is driven before it.
    warmup_before_count: ClassVar[int] = 0

    @property
    def name(self) -> str:
        """Return `rate-50`."""
        return f"rate-{self.rate_rps:g}"

    @property
    def size(self) -> float:
        """Return what loads of this kind are sorted by."""
        return self.rate_rps

    @property
    def offered_rps(self) -> float:
        """Return the requests per second that are asked for."""
        return self.rate_rps

    @property
    def window_count(self) -> int:
        """Return how many requests the window asks for."""
        return self.request_count + self.left_out_count + (self.companion.connections if self.companion else 0)

    @property
    def left_out_count(self) -> int:
        """Return how many of the driver's requests, the first by their start, are left out of every time."""
        return self.warmup_count + self.connections

    def expected_s(self, _answer: AnswerSpec, _mode: Mode, *, added_s: float = 0.0) -> float:  # noqa: ARG002
        """Return how long the window takes on a lane that keeps up, whatever it adds to a request."""
        return self.window_count / self.rate_rps

    def window_answer(self, answer: AnswerSpec) -> AnswerSpec:
        """Return what the provider sends in the window."""
        return answer

    def parts(self) -> tuple[LoadPart[RateLoad], ...]:
        """Return what each load generator drives: the driver all but the companion's part, both equally long."""
        own = self.companion
        if own is None:
            return (LoadPart("driver", None, self),)
        own_count = own.window_count(self.window_count, self.rate_rps)
        own_warmup = own.window_count(self.warmup_count, self.rate_rps)
        whole = self.without_companion()
        beside = replace(
            whole,
            rate_rps=own.rate_rps,
            request_count=own_count - own.connections - own_warmup,
            connections=own.connections,
            warmup_count=own_warmup,
            arrivals=own.arrivals,
        )
        main = replace(
            whole,
            # Rounded, for a difference of two decimal fractions is none.
            rate_rps=round(self.rate_rps - own.rate_rps, 9),
            request_count=self.window_count - own_count - self.left_out_count + own_warmup,
            warmup_count=self.warmup_count - own_warmup,
        )
        return (LoadPart("driver", None, main), LoadPart("companion", own.driver, beside))

    def with_companion(self, driver: str, asked: CompanionRate, arrivals: Arrivals = "poisson") -> RateLoad:
        """Return the same load with a companion by this driver, or with the reason why it has none."""
        whole = Whole(self.rate_rps, self.duration_s, self.request_count, self.connections, self.warmup_count)
        found = companion_for(whole, driver, asked, arrivals)
        return self.without_companion(found) if isinstance(found, str) else replace(self, companion=found)

    def without_companion(self, reason: str | None = None) -> RateLoad:
        """Return the same load by its driver alone, with the reason."""
        return replace(self, companion=None, no_companion=reason)

    def pass_load(self, _answer: AnswerSpec, _mode: Mode) -> None:
        """Return None: beside arrivals the probe can be a companion, in the very seconds."""
        return

    def with_connections(self, factor: int) -> RateLoad:
        """Return the same load with so many times the connections."""
        own = self.companion
        more = None if own is None else replace(own, connections=factor * own.connections)
        return replace(self, connections=factor * self.connections, companion=more)

    def warm_up(self, count: int) -> RateLoad:
        """Return so many requests at the same rate, by one client."""
        connections = max(1, min(self.connections, count - 1))
        return replace(
            self.without_companion(),
            duration_s=count / self.rate_rps,
            request_count=max(1, count - connections),
            connections=connections,
            warmup_count=0,
        )

    def advice(self, answer: AnswerSpec, mode: Mode) -> Iterator[Remark]:
        """Yield what weakens the figures of this load, with the key to change."""
        main = self.parts()[0].load
        few = few_samples(main.request_count)
        if few is not None:
            by = " by the driver, beside the companion probe" if self.companion else ""
            remark = f"{self.rate_rps:g} per second measures {main.request_count:,} requests in a run{by}; {few}"
            yield "requests_below_percentile", (*_PATH, "duration"), remark
        needed = ROOM * self.rate_rps * (answer.provider_time_s(mode) + GATEWAY_ALLOWANCE_S)
        if self.connections < needed:
            remark = (
                f"{self.connections} connections are few for {self.rate_rps:g} requests/s of mode {mode}; "
                f"{math.ceil(needed)} leave room for a gateway that adds 50 ms"
            )
            yield "connections_few", (*_PATH, "connections"), remark


class RateSchema(Strict):
    """Open loop: requests at fixed arrival rates."""

    per_second: Annotated[tuple[PerSecond, ...], Field(min_length=1)] = Field(
        description="Arrival rates, such as [50]."
    )
    duration_s: Annotated[float, duration(0.1, DAY_S)] = Field(
        alias="duration", description="Length of a window, such as 30s."
    )
    warmup_count: Warmup = Field(
        default=25,
        alias="warmup",
        description="Requests at the front of each window, at its rate, that only warm up.",
    )
    # None: computed for each rate, mode and response.
    connections: Annotated[int | None, whole_or_auto(1, 20_000, "connections")] = Field(
        default=None, description="Cap on connections, or auto."
    )
    timeout_s: Timeout = Field(default=60.0, alias="timeout", description="Limit of one request, such as 60s.")
    companion: AskedCompanion = Field(
        default="auto",
        description="Part of the rate that the probe takes beside oha or wrk: auto, off, or requests per second.",
    )
    arrivals: AskedArrivals = Field(
        default="poisson",
        description="How the probe spaces its requests, driving or beside a driver: poisson (at random, as users "
        "come; exact in number), dithered (one in each slot) or even; oha and wrk always space theirs evenly.",
    )

    def loads(self, target: Target) -> Iterator[RateLoad]:
        """Yield one load for each rate."""
        for rate_rps in self.per_second:
            load = self._load(rate_rps, target)
            beside = target.companion
            yield load if beside is None else load.with_companion(beside, self.companion, self.arrivals)

    def lists(self) -> Iterator[tuple[KeyPath, Sequence[Hashable]]]:
        """Yield the rates, as cell ids name them."""
        yield (*_PATH, "per_second"), [f"{rate:g}" for rate in self.per_second]

    def check(self, around: CheckContext) -> None:
        """Raise InputError for the first value that does not fit the others."""
        for number_, rate in enumerate(self.per_second):
            self._check_rate(around, number_, rate)
        check_timeout(self.timeout_s, around, (*_PATH, "timeout"))

    def _load(self, rate_rps: float, target: Target) -> RateLoad:
        auto = auto_connections(rate_rps, target.answer, target.mode)
        return RateLoad(
            rate_rps=rate_rps,
            duration_s=self.duration_s,
            request_count=round(rate_rps * self.duration_s),
            connections=auto if self.connections is None else self.connections,
            warmup_count=self.warmup_count,
            timeout_s=self.timeout_s,
            arrivals=self.arrivals if self.arrivals in target.arrivals else target.arrivals[0],
        )

    def _check_rate(self, around: CheckContext, number_: int, rate: float) -> None:
        count = round(rate * self.duration_s)
        if count < 1:
            problem = f"{rate:g} per second for {self.duration_s:g} s is no request at all"
            place = around.locate((*_PATH, "per_second", number_))
            raise InputError(problem, place=place, expected="expected a longer duration or a higher rate")
        if isinstance(self.companion, float) and self.companion > most_rps(rate):
            problem = f"{self.companion:g} per second are more than a quarter of the rate {rate:g}"
            place = around.locate((*_PATH, "companion"))
            raise InputError(problem, place=place, expected=f"expected auto, off or at most {most_rps(rate):g}")
        if count > REQUEST_LIMIT:
            problem = f"{rate:g} per second for {self.duration_s:g} s is {count:,} requests a window"
            place = around.locate((*_PATH, "duration"))
            raise InputError(problem, place=place, expected=f"expected at most {REQUEST_LIMIT:,} requests a window")


def auto_connections(rate_rps: float, answer: AnswerSpec, mode: Mode) -> int:
    """Return connections that leave twice the room that a gateway needs which adds 50 ms to each response."""
    expected_s = answer.provider_time_s(mode) + GATEWAY_ALLOWANCE_S
    return max(AUTO_CONNECTIONS_MIN, math.ceil(round(2 * rate_rps * expected_s, 6)))
