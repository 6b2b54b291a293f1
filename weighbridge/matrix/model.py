"""The matrix: what the user asks for, as a frozen document in seconds, bytes and requests per second.

It says what is wanted and knows no gateway: whether a recipe exists or serves a chain is found by `expand`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from weighbridge.matrix.calibration import Calibration
from weighbridge.matrix.cells import with_settings
from weighbridge.matrix.drivers import DriverName
from weighbridge.matrix.loads import Loads
from weighbridge.matrix.recipe import SettingName
from weighbridge.matrix.requests import AnswerSpec, GoodputBounds, Mode, PayloadSpec
from weighbridge.matrix.strict import Line, Name, SettingValue, Strict, duration, number, refused, shown, size, whole
from weighbridge.matrix.warmup import LaneWarmup

RUNS_LIMIT = 1000
# How long a machine must be quiet before a block (METHOD section 5).
QUIET_S = 5.0
# How long idle use is looked at before and after each visit (METHOD section 6), in a quick run the second.
IDLE_LOOK_S, QUICK_IDLE_LOOK_S = 10.0, 4.0

Grade = Literal["smoke", "ci", "standard", "publish"]
# Blocks that each grade asks for (METHOD section 5).
GRADE_RUNS: dict[Grade, int] = {"smoke": 1, "ci": 3, "standard": 6, "publish": 10}


def _entry(value: Any) -> Any:
    """Return the long form of a gateway that is listed by its id alone."""
    if isinstance(value, str):
        return {"id": value}
    if not isinstance(value, dict):
        raise refused(f"is {shown(value)}", "expected the id of a gateway, or {id: …, settings: {…}}")
    return value


class GatewayEntry(Strict):
    """A gateway to be measured, with the settings that this matrix changes."""

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
        """Return the payload as cells carry it."""
        return PayloadSpec(name, self.system_bytes, self.user_bytes)


class ProviderProfile(Strict):
    """Timing of the mock provider's response."""

    delay_s: Annotated[float, duration(0, 600)] = Field(
        alias="delay", description="Time to the response, such as 20ms."
    )
    chunk_count: Annotated[int, whole(1, 10_000)] = Field(
        default=16, alias="chunks", description="Chunks of a streamed response."
    )
    gap_s: Annotated[float, duration(0, 60)] = Field(
        default=0.005, alias="gap", description="Time between two chunks, such as 5ms."
    )

    def spec(self, name: str) -> AnswerSpec:
        """Return the response as cells carry it."""
        return AnswerSpec(name, self.delay_s, self.chunk_count, self.gap_s)


class Accept(Strict):
    """Rules of acceptance, known before the run; null switches a rule off."""

    load_limit_per_cpu: Annotated[float, number(0.01, 100, "a share of the CPUs")] | None = Field(
        default=None, description="Limit on the one-minute load as a share of the CPUs."
    )
    gate_wait_s: Annotated[float, duration(0, 3600)] | None = Field(
        default=60.0, alias="gate_wait", description="Longest wait for an idle machine."
    )
    attempts_per_run: Annotated[int, whole(1, 10)] = Field(
        default=2, description="Attempts for each wanted run; again is tried only what the rig spoiled."
    )


class Idle(Strict):
    """How long idleness is looked at: of the machine before a block, of a gateway before and after its windows."""

    quiet_s: Annotated[float, duration(0.5, 600)] = Field(
        default=QUIET_S, alias="quiet", description="How long the machine must be quiet, such as 5s."
    )
    gateway_s: Annotated[float, duration(0.1, 600)] | None = Field(
        default=None,
        alias="gateway",
        description="Look at a gateway's own work before its first window and after its last; null: 10s, quick: 4s.",
    )


class Goodput(Strict):
    """In what time a response counts as goodput, from its intended start."""

    ttft_s: Annotated[float, duration(0.001, 600)] | None = Field(
        default=None, alias="ttft", description="Longest time to the first content of a stream, such as 200ms."
    )
    end_s: Annotated[float, duration(0.001, 600)] | None = Field(
        default=None, alias="end", description="Longest time to the end of a response, such as 1s."
    )

    @property
    def bounds(self) -> GoodputBounds:
        """Return the bounds as windows and records carry them."""
        return GoodputBounds(self.ttft_s, self.end_s)


class Matrix(Strict):
    """What is to be measured."""

    schema_: Literal["weighbridge.matrix/1"] = Field(alias="schema", description="weighbridge.matrix/1.")
    title: Line = Field(description="Title of the page.")
    seed: Annotated[int, whole(0, 2**53)] = Field(description="Seed of prompts and order, such as 20261023.")
    subject: Name = Field(description="Gateway under test, one of gateways.")
    gateways: Annotated[tuple[Annotated[GatewayEntry, BeforeValidator(_entry)], ...], Field(min_length=1)] = Field(
        description="Gateways to measure; direct is always there."
    )
    chains: Annotated[tuple[Name, ...], Field(min_length=1)] = Field(description="Policy chains, such as [none].")
    disks: Annotated[dict[Name, Disk], Field(min_length=1)] = Field(description="Disks by name, such as {work: {}}.")
    modes: Annotated[tuple[Mode, ...], Field(min_length=1)] = Field(description="Modes: plain, stream.")
    payloads: Annotated[dict[Name, Payload], Field(min_length=1)] = Field(description="Prompt sizes by name.")
    answers: Annotated[dict[Name, ProviderProfile], Field(min_length=1)] = Field(
        description="Provider responses by name."
    )
    loads: Loads = Field(description=f"Loads: {', '.join(Loads.model_fields)}.")
    driver: DriverName = Field(default="oha", description="Load generator.")
    runs: Annotated[int, whole(1, RUNS_LIMIT)] = Field(description="Accepted runs wanted of each cell, such as 3.")
    grade: Grade = Field(default="ci", description="What may be said of the figures.")
    accept: Accept = Field(default=Accept(), description="Rules of acceptance.")
    warmup: LaneWarmup = Field(default=LaneWarmup(), description="How long lanes are warmed up.")
    idle: Idle = Field(default=Idle(), description="How long idleness is looked at.")
    goodput: Goodput | None = Field(
        default=None, description="Bounds within which a response counts as goodput, shown with it; null: none."
    )
    recipes: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), description="Folders with more recipes, read from the folder of the matrix."
    )
    include: tuple[Annotated[str, Field(min_length=1)], ...] = Field(
        default=(), description="Patterns on cell ids; empty: all."
    )
    exclude: tuple[Annotated[str, Field(min_length=1)], ...] = Field(default=(), description="Patterns on cell ids.")
    calibration: Calibration | None = Field(
        default=None, description="Known delays and injected faults; the campaign then ends with a certificate."
    )
    quick: dict[str, Any] = Field(default={}, description="Keys that a quick run replaces.")
