"""What all kinds of load have in common: what they are made for, the parts they are driven in, checks of limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Generic, Literal, TypeVar

from weighbridge.errors import InputError, Place
from weighbridge.matrix.arrivals import ARRIVALS, Arrivals
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.matrix.strict import duration, whole
from weighbridge.matrix.yamltext import KeyPath

Driven_co = TypeVar("Driven_co", covariant=True)

Role = Literal["driver", "companion", "open_streams", "probe_pass"]
Locate = Callable[[KeyPath], Place]
# A code of `record.codes.WARNINGS`, the key to change, and what weakens the figures.
Remark = tuple[str, KeyPath, str]

Warmup = Annotated[int, whole(0, 100_000)]
Timeout = Annotated[float, duration(0.001, 3600)]


@dataclass(frozen=True)
class LoadPart(Generic[Driven_co]):
    """What one load generator drives of a load; `driver` is its name where it is not the cell's own."""

    role: Role
    driver: str | None
    load: Driven_co


@dataclass(frozen=True)
class Target:
    """What loads are made for: a response (of the matrix, in its order) in a mode, and the driver beside its own.

    `arrivals` are those that the driver of rates can do, its own way first.
    """

    answer: AnswerSpec
    is_first_answer: bool
    mode: Mode
    companion: str | None
    arrivals: tuple[Arrivals, ...] = ARRIVALS


@dataclass(frozen=True)
class CheckContext:
    """What of a matrix the checks of a load look at."""

    modes: Sequence[Mode]
    answers: Mapping[str, AnswerSpec]
    locate: Locate


def check_timeout(timeout_s: float, around: CheckContext, path: KeyPath) -> None:
    """Raise InputError for a limit of a request that a response alone would reach."""
    for name, answer in around.answers.items():
        longest_s = max(answer.provider_time_s(mode) for mode in around.modes)
        if timeout_s <= longest_s:
            problem = f"a limit of {timeout_s:g} s is not longer than the answer {name} ({longest_s:g} s)"
            raise InputError(
                problem, place=around.locate(path), expected="expected a timeout longer than every answer"
            )
