"""The part of a matrix that asks for a calibration: known delays, injected faults and what is read beside them.

Part of `model.Matrix`. It names delays and faults by the values of the recipe's setting `delay`; whether the recipe
has them is checked by `calibration_check`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, ValidationInfo

from weighbridge.matrix.cells import LaneKey
from weighbridge.matrix.drivers import DriverName
from weighbridge.matrix.requests import Mode
from weighbridge.matrix.strict import Name, SettingValue, Strict, duration, number, whole

SETTING = "delay"
CONTROL = "delay-0"
# One process with every delay: each request names its own in the header.
DELAY_BY_HEADER = "delay-by-header"
DELAY_HEADER = "x-weighbridge-delay"
# Arrival rate of the streams through an injected fault.
FAULT_RATE_RPS = 37.0
# Start and stop of a gateway of ours, and what stands around a window.
OWN_LANE_S = 2.5
AROUND_WINDOW_S = 3.0

Condition = Literal["quiet", "jitter", "busy"]


def _every_driver(value: object, info: ValidationInfo) -> object:
    """Return all drivers in the place of the default, which no file can give: an empty list is refused there."""
    if value == ():
        return tuple(info.context or ())
    return tuple(value) if isinstance(value, list) else value


class MixedLoad(Strict):
    """Requests of one mode, each drawn for a lane of its own, so that all lanes see the same seconds."""

    rate_rps: Annotated[float, number(1, 5000, "requests per second")] = Field(
        alias="per_second", description="Arrival rate over all lanes; take one whose period is no round number."
    )
    lane_count: Annotated[int, whole(20, 100_000)] = Field(
        default=600, alias="requests_per_lane", description="Requests of each lane in a block, on average."
    )
    block_count: Annotated[int, whole(1, 100)] = Field(
        default=3, alias="blocks", description="Blocks in each condition."
    )
    more_count: Annotated[int, whole(0, 100)] = Field(
        default=0,
        alias="more_if_off",
        description="Further blocks under conditions where some percentile is off after these; all are judged then.",
    )
    conditions: Annotated[tuple[Condition, ...], Field(min_length=1)] = Field(
        default=("quiet", "jitter", "busy"), description="What the blocks are measured in."
    )


class Neighbour(Strict):
    """The noisy neighbour that is injected beside some blocks."""

    core_count: Annotated[int, whole(1, 64)] = Field(default=1, alias="cores", description="Cores it is busy on.")
    share: Annotated[float, number(0.01, 1, "a share of a core")] = Field(
        default=0.25, description="Share of each core that it takes."
    )


class KnownBurn(Strict):
    """The lane that burns a known CPU time for each request, read at one rate beside the control."""

    delay: SettingValue = Field(default="burn-2ms", description="Value of the setting delay.")
    rate_rps: Annotated[float, number(1, 1000, "requests per second")] = Field(
        default=97.0, alias="per_second", description="Arrival rate."
    )
    request_count: Annotated[int, whole(20, 1_000_000)] = Field(
        default=2000, alias="requests", description="Requests of each of the two lanes."
    )


class Baselines(Strict):
    """The direct lane by each driver, in the same campaign."""

    drivers: Annotated[tuple[DriverName, ...], BeforeValidator(_every_driver), Field(min_length=1)] = Field(
        default=(), validate_default=True, description="Drivers, else all; one that is not there is named."
    )
    rate_rps: Annotated[float, number(1, 5000, "requests per second")] = Field(
        default=290.0, alias="per_second", description="Arrival rate."
    )
    request_count: Annotated[int, whole(100, 1_000_000)] = Field(
        default=1000, alias="requests", description="Requests of each window."
    )
    window_count: Annotated[int, whole(1, 20)] = Field(
        default=2, alias="windows", description="Windows of each driver, interleaved; medians are shown."
    )


class Calibration(Strict):
    """What a calibration measures besides the cells; the certificate is made of both."""

    recipe: Name = Field(default="control", description="Gateway recipe with a setting delay.")
    known_delays: Annotated[tuple[SettingValue, ...], Field(min_length=1)] = Field(
        default=("delay-1ms", "delay-3ms", "delay-10ms", "delay-two-valued", "delay-slow"),
        description="Known delays; delay-0, the control, is always there.",
    )
    two_valued: tuple[SettingValue, ...] = Field(
        default=("delay-two-valued",), description="Those with two values: their p50 is judged under jitter."
    )
    plain: MixedLoad | None = Field(default=None, description="Mixed blocks of plain requests; null leaves them out.")
    stream: MixedLoad | None = Field(default=None, description="Mixed blocks of streams; null leaves them out.")
    repeat_count: Annotated[int, whole(0, 1000)] = Field(
        default=6, alias="repeats", description="Most mixed blocks that are repeated, over all of them."
    )
    jitter_s: Annotated[float, duration(0, 1)] = Field(
        default=0.001, alias="jitter", description="Mean of what the provider adds at random, such as 1ms."
    )
    neighbour: Neighbour = Field(default=Neighbour(), description="The noisy neighbour.")
    faults: tuple[SettingValue, ...] = Field(
        default=("buffer", "coalesce-4", "drop-chunk-5", "error500", "stall-5"),
        description="Faults that a check must catch.",
    )
    fault_request_count: Annotated[int, whole(20, 100_000)] = Field(
        default=60, alias="requests_per_fault", description="Streams of each fault's window."
    )
    burn: KnownBurn | None = Field(default=None, description="A known CPU burn; null leaves it out.")
    baselines: Baselines | None = Field(default=None, description="Baselines of the drivers; null leaves them out.")

    @property
    def modes(self) -> tuple[Mode, ...]:
        """Modes that have mixed blocks."""
        both: tuple[Mode, ...] = ("plain", "stream")
        return tuple(mode for mode in both if self.mixed(mode) is not None)

    def mixed(self, mode: Mode) -> MixedLoad | None:
        """Return the mixed blocks of a mode."""
        return self.plain if mode == "plain" else self.stream

    def conditions_of(self, mode: Mode) -> tuple[Condition, ...]:
        """Tell what the mixed blocks of a mode are measured in."""
        load = self.mixed(mode)
        return () if load is None else load.conditions

    def lane_key(self, delay: str, disk: str) -> LaneKey:
        """Lane of the recipe with this value of its setting."""
        return LaneKey(self.recipe, ((SETTING, delay),), "none", disk)

    @property
    def window_count(self) -> int:
        """Windows besides the matrix's cells, none repeated."""
        mixed = sum(one.block_count * len(one.conditions) for one in self._mixed)
        drivers = 0 if self.baselines is None else self.baselines.window_count * (len(self.baselines.drivers) + 2) + 1
        return mixed + len(self.faults) + 1 + (0 if self.burn is None else 2) + drivers

    @property
    def idle_look_count(self) -> int:
        """Looks at idle use: before and after each of the two windows whose CPU is judged."""
        return 0 if self.burn is None else 4

    @property
    def estimated_s(self) -> float:
        """About how long those windows and the start of their lanes take."""
        lanes = len(self.known_delays) + 2
        start_count = 1 + len(self.faults) + (0 if self.burn is None else 2)
        found = start_count * OWN_LANE_S + self.window_count * AROUND_WINDOW_S
        for load in self._mixed:
            found += load.block_count * len(load.conditions) * load.lane_count * (lanes + 0.5) / load.rate_rps
        found += (len(self.faults) + 1) * self.fault_request_count / FAULT_RATE_RPS
        if self.burn is not None:
            found += 2 * self.burn.request_count / self.burn.rate_rps
        if self.baselines is not None:
            windows = self.baselines.window_count * (len(self.baselines.drivers) + 2)
            found += windows * self.baselines.request_count / self.baselines.rate_rps
        return found

    @property
    def _mixed(self) -> tuple[MixedLoad, ...]:
        return tuple(load for load in (self.plain, self.stream) if load is not None)
