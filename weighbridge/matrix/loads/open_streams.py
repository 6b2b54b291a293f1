"""Streams that are opened and stay open, more at each step: what one more of them takes of the gateway's memory."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from weighbridge.errors import InputError
from weighbridge.matrix.loads.clients import ClientsLoad, warm_up_by_clients
from weighbridge.matrix.loads.contract import CheckContext, LoadPart, Remark, Target
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.matrix.strict import STRICT, Strict, duration, whole
from weighbridge.matrix.yamltext import KeyPath

# Each open stream is two connections of the gateway and as many open files.
OPEN_LIMIT = 1000

_PATH = ("loads", "streams")


@dataclass(frozen=True)
class OpenStreamsLoad:
    """How many streams are open at each step, and how long a step may take once the provider responds."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    counts: Annotated[tuple[int, ...], Field(description="Streams open at each step.")]
    hold_s: Annotated[float, Field(description="Time that a step has once the provider responds.")]
    timeout_s: Annotated[float, Field(description="Longest time of a step: the provider's delay and `hold_s`.")]
    kind: Annotated[Literal["streams"], Field(description="Open streams.")] = "streams"

    has_schedule: ClassVar[bool] = False
    measures_times: ClassVar[bool] = False
    is_serial: ClassVar[bool] = False
    concurrency: ClassVar[int] = 1
    warmup_count: ClassVar[int] = 0
    duration_s: ClassVar[None] = None
    offered_rps: ClassVar[None] = None
    companion: ClassVar[None] = None
    no_companion: ClassVar[None] = None
    arrivals: ClassVar[None] = None
    warmup_before_count: ClassVar[int] = 0
    left_out_count: ClassVar[int] = 0

    @property
    def name(self) -> str:
        """Return `streams-100`."""
        return f"streams-{self.counts[-1]}"

    @property
    def size(self) -> float:
        """Return what loads of this kind are sorted by."""
        return float(self.counts[-1])

    @property
    def request_count(self) -> int:
        """Return the streams of the last step; each of them is opened once and stays open."""
        return self.counts[-1]

    @property
    def connections(self) -> int:
        """Return the connections of the last step: one for each stream."""
        return self.counts[-1]

    @property
    def window_count(self) -> int:
        """Return how many requests the window asks for."""
        return self.counts[-1]

    def expected_s(self, answer: AnswerSpec, mode: Mode, *, added_s: float = 0.0) -> float:  # noqa: ARG002
        """Return how long the window takes: as long as one of its responses."""
        return self.window_answer(answer).provider_time_s(mode)

    def window_answer(self, answer: AnswerSpec) -> AnswerSpec:
        """Return the response with its chunks a step apart, so many that it lasts one step more than needed."""
        steps = sum(count > 0 for count in self.counts)
        return replace(answer, chunk_count=steps + 2, gap_s=step_s(answer, self.hold_s))

    def parts(self) -> tuple[LoadPart[OpenStreamsLoad], ...]:
        """Return what each load generator drives: all of it."""
        return (LoadPart("open_streams", None, self),)

    def without_companion(self, _reason: str | None = None) -> OpenStreamsLoad:
        """Return the load as it is, since it has no companion."""
        return self

    def pass_load(self, _answer: AnswerSpec, _mode: Mode) -> None:
        """Return None: no driver of these loads times anything."""
        return

    def with_connections(self, _factor: int) -> None:
        """Return None: more connections would be more streams, another load."""
        return

    def warm_up(self, count: int) -> ClientsLoad:
        """Return so many requests one after the other: open streams leave nothing to compare."""
        return warm_up_by_clients(1, count, self.timeout_s)

    def advice(self, _answer: AnswerSpec, _mode: Mode) -> Iterator[Remark]:
        """Yield no remark: it has no percentiles."""
        yield from ()


class OpenStreamsSchema(Strict):
    """Streams that are kept open, more at each step: what one more of them takes of the gateway's memory."""

    open_counts: Annotated[tuple[Annotated[int, whole(0, OPEN_LIMIT)], ...], Field(min_length=1)] = Field(
        alias="held", description="Streams open at each step, rising, such as [0, 20, 50, 100]."
    )
    hold_s: Annotated[float, duration(0.5, 60)] = Field(
        default=3.0, alias="hold", description="Time that a step has to open its streams, such as 3s."
    )

    def loads(self, target: Target) -> Iterator[OpenStreamsLoad]:
        """Yield one load, for streams of the first answer: with another one the same would be measured again."""
        if target.mode == "stream" and target.is_first_answer:
            yield OpenStreamsLoad(self.open_counts, self.hold_s, step_s(target.answer, self.hold_s))

    def lists(self) -> Iterator[tuple[KeyPath, Sequence[Hashable]]]:
        """Yield no list: its entries rise anyway."""
        yield from ()

    def check(self, around: CheckContext) -> None:
        """Raise InputError for the first value that does not fit the others."""
        if len(self.open_counts) < 2:
            expected = "expected two or more, such as [0, 20, 50, 100]"
            raise InputError("has one step only", place=around.locate((*_PATH, "held")), expected=expected)
        for number, (before, count) in enumerate(pairwise(self.open_counts), start=1):
            if count <= before:
                place = around.locate((*_PATH, "held", number))
                raise InputError(f"{count} is not above {before}", place=place, expected="expected more at each step")
        if "stream" not in around.modes:
            problem = "needs the mode stream, which is not listed"
            raise InputError(problem, place=around.locate(_PATH), expected="expected stream under modes")


def step_s(answer: AnswerSpec, hold_s: float) -> float:
    """Return the longest time of a step: the provider's delay and the time to hold."""
    return answer.delay_s + hold_s
