"""The matrix: what the user asks for, as a frozen document in seconds, bytes and requests per second.

Made by `matrix.load`, read by everyone who expands, orders or advises. It says what is wanted and knows no
gateway: whether a recipe exists or serves a chain is found by `expand`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from weighbridge.matrix.calibration import Calibration
from weighbridge.matrix.cells import AnswerSpec, DriverName, Mode, PayloadSpec, with_settings
from weighbridge.matrix.recipe import SettingName
from weighbridge.matrix.ride_along import MOST_RPS, RideAlong
from weighbridge.matrix.strict import Line, Name, SettingValue, Strict, duration, number, refused, shown, size, whole

DAY_S = 24 * 3600.0
RUNS_LIMIT = 1000
# Each held stream is two connections of the gateway and as many open files.
HELD_LIMIT = 1000
# Drivers that a matrix may name.
SELECTABLE_DRIVERS: tuple[DriverName, ...] = ("oha", "wrk", "probe")

Grade = Literal["smoke", "ci", "standard", "publish"]
# Blocks that each grade asks for (METHOD section 5).
GRADE_RUNS: dict[Grade, int] = {"smoke": 1, "ci": 3, "standard": 6, "publish": 10}


def _rate_with_a_name(value: float) -> float:
    """A rate becomes part of a cell id, which keeps six digits."""
    if float(f"{value:g}") != value:
        raise refused(f"{value} has more digits than a cell id keeps", "expected at most six digits")
    return value


Rate = Annotated[float, BeforeValidator(_rate_with_a_name), number(0.01, 100_000, "requests per second")]


def _entry(value: Any) -> Any:
    """The long form of a gateway that is listed by its id alone."""
    if isinstance(value, str):
        return {"id": value}
    if not isinstance(value, dict):
        raise refused(f"is {shown(value)}", "expected the id of a gateway, or {id: …, settings: {…}}")
    return value


def _auto(value: Any) -> Any:
    if value == "auto":
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        raise refused(f"{shown(value)} is no number of connections", "expected auto or a whole number", "auto")
    if not 1 <= value <= 20_000:
        raise refused(f"{value:,} is out of range", "expected auto or a whole number from 1 to 20,000")
    return value


def _ride(value: Any) -> Any:
    if value in ("auto", "off"):
        return value
    expected = "expected auto, off or requests per second from 0.01 to 100"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refused(
            f"{shown(value)} is no part for the probe", expected, "off" if value in (False, None) else "auto"
        )
    if not 0.01 <= value <= MOST_RPS:
        raise refused(f"{value:,} is out of range", expected)
    return float(value)


class GatewayEntry(Strict):
    """A gateway to be weighed, with the settings that this matrix changes."""

    id: Name = Field(description="Folder name of a gateway recipe.")
    settings: dict[SettingName, SettingValue] = Field(default={}, description="Settings that the recipe declares.")

    @property
    def name(self) -> str:
        """`litellm` or `litellm@workers=2`, settings in alphabetical order."""
        return with_settings(self.id, tuple(sorted(self.settings.items())))


class Disk(Strict):
    """Where gateways keep their state; without a path the folder `.weighbridge/state` beside the matrix."""

    path: Annotated[str, Field(min_length=1)] | None = Field(
        default=None, description="Existing folder, read from the folder of the matrix."
    )


class Payload(Strict):
    """Size of the prompt; every prompt is different."""

    system_bytes: Annotated[int, size(1, 1024**2)] = Field(alias="system", description="Size such as 256B.")
    # The user message begins with a reference of 25 letters.
    user_bytes: Annotated[int, size(64, 1024**2)] = Field(alias="user", description="Size such as 1KiB.")

    def spec(self, name: str) -> PayloadSpec:
        """The payload as cells carry it."""
        return PayloadSpec(name, self.system_bytes, self.user_bytes)


class Answer(Strict):
    """Timing of the mock provider's answer."""

    delay_s: Annotated[float, duration(0, 600)] = Field(
        alias="delay", description="Time to the answer, such as 20ms."
    )
    chunk_count: Annotated[int, whole(1, 10_000)] = Field(
        default=16, alias="chunks", description="Chunks of a streamed answer."
    )
    gap_s: Annotated[float, duration(0, 60)] = Field(
        default=0.005, alias="gap", description="Time between two chunks, such as 5ms."
    )

    def spec(self, name: str) -> AnswerSpec:
        """The answer as cells carry it."""
        return AnswerSpec(name, self.delay_s, self.chunk_count, self.gap_s)


Warmup = Annotated[int, whole(0, 100_000)]
Timeout = Annotated[float, duration(0.001, 3600)]


class RateLoad(Strict):
    """Open loop: requests at fixed arrival rates."""

    per_second: Annotated[tuple[Rate, ...], Field(min_length=1)] = Field(description="Arrival rates, such as [50].")
    duration_s: Annotated[float, duration(0.1, DAY_S)] = Field(
        alias="duration", description="Length of a window, such as 30s."
    )
    warmup_count: Warmup = Field(default=25, alias="warmup", description="Requests before each window.")
    # None: computed for each rate, mode and answer by `expand`.
    connections: Annotated[int | None, BeforeValidator(_auto)] = Field(
        default=None, description="Cap on connections, or auto."
    )
    timeout_s: Timeout = Field(default=60.0, alias="timeout", description="Limit of one request, such as 60s.")
    ride_along: Annotated[RideAlong, BeforeValidator(_ride)] = Field(
        default="auto",
        description="Part of the rate that the probe takes beside oha or wrk: auto, off, or requests per second.",
    )


class ClientsLoad(Strict):
    """Closed loop: so many clients, each with one request at a time."""

    counts: Annotated[tuple[Annotated[int, whole(1, 10_000)], ...], Field(min_length=1)] = Field(
        description="Numbers of clients, such as [1, 10]."
    )
    request_count: Annotated[int, whole(1, 10_000_000)] = Field(alias="requests", description="Requests measured.")
    warmup_count: Warmup = Field(default=25, alias="warmup", description="Requests before each window.")
    timeout_s: Timeout = Field(default=60.0, alias="timeout", description="Limit of one request, such as 60s.")


class StreamsLoad(Strict):
    """Streams that are held open, more at each step: what one more of them takes of the gateway's memory."""

    held_counts: Annotated[tuple[Annotated[int, whole(0, HELD_LIMIT)], ...], Field(min_length=1)] = Field(
        alias="held", description="Streams open at each step, rising, such as [0, 20, 50, 100]."
    )
    hold_s: Annotated[float, duration(0.5, 60)] = Field(
        default=3.0, alias="hold", description="Time that a step has to open its streams, such as 3s."
    )


class Loads(Strict):
    """How the gateways are driven; null drops a kind."""

    rate: RateLoad | None = Field(default=None, description="Arrival rates.")
    clients: ClientsLoad | None = Field(default=None, description="Numbers of clients.")
    streams: StreamsLoad | None = Field(default=None, description="Streams held open, for the memory of each.")


class Accept(Strict):
    """Rules of acceptance, known before the run; null switches a rule off."""

    load_limit_per_cpu: Annotated[float, number(0.01, 100, "a share of the CPUs")] | None = Field(
        default=None, description="Limit on the one-minute load as a share of the CPUs."
    )
    gate_wait_s: Annotated[float, duration(0, 3600)] | None = Field(
        default=60.0, alias="gate_wait", description="Longest wait for an idle machine."
    )
    attempts_per_run: Annotated[int, whole(1, 10)] = Field(default=2, description="Attempts for each wanted run.")


class Matrix(Strict):
    """What is to be measured."""

    schema_: Literal["weighbridge.matrix/1"] = Field(alias="schema", description="weighbridge.matrix/1.")
    title: Line = Field(description="Title of the page.")
    seed: Annotated[int, whole(0, 2**53)] = Field(description="Seed of prompts and order, such as 20261023.")
    subject: Name = Field(description="Gateway under test, one of gateways.")
    gateways: Annotated[tuple[Annotated[GatewayEntry, BeforeValidator(_entry)], ...], Field(min_length=1)] = Field(
        description="Gateways to weigh; direct is always there."
    )
    chains: Annotated[tuple[Name, ...], Field(min_length=1)] = Field(description="Policy chains, such as [none].")
    disks: Annotated[dict[Name, Disk], Field(min_length=1)] = Field(description="Disks by name, such as {work: {}}.")
    modes: Annotated[tuple[Mode, ...], Field(min_length=1)] = Field(description="Modes: plain, stream.")
    payloads: Annotated[dict[Name, Payload], Field(min_length=1)] = Field(description="Prompt sizes by name.")
    answers: Annotated[dict[Name, Answer], Field(min_length=1)] = Field(description="Provider answers by name.")
    loads: Loads = Field(description="Loads: rate, clients, streams.")
    driver: DriverName = Field(default="oha", description="Load generator.")
    runs: Annotated[int, whole(1, RUNS_LIMIT)] = Field(description="Accepted runs wanted of each cell, such as 3.")
    grade: Grade = Field(default="ci", description="What may be said of the figures.")
    accept: Accept = Field(default=Accept(), description="Rules of acceptance.")
    recipes: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), description="Folders with more recipes, read from the folder of the matrix."
    )
    include: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), description="Patterns on cell ids; empty: all."
    )
    exclude: tuple[Annotated[str, Field(min_length=1)], ...] = Field(default=(), description="Patterns on cell ids.")
    calibration: Calibration | None = Field(
        default=None, description="Known weights and planted faults; the campaign then ends with a certificate."
    )
    quick: dict[str, Any] = Field(default={}, description="Keys that a quick run replaces.")
