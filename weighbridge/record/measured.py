"""Documents that hold figures: flat keys in JSON, each validated against the catalogue; typed access by key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Self, cast

from pydantic import ConfigDict, model_validator

from weighbridge.record.base import Document
from weighbridge.record.figures import (
    NOT_MEASURED,
    Absent,
    Figure,
    FigureOrAbsent,
    Percentile,
    Timing,
    TimingOrAbsent,
)
from weighbridge.record.metrics import (
    CountKey,
    Level,
    MetricKey,
    MetricKind,
    NumberKey,
    TimeKey,
    ValueKey,
    WordsKey,
    metrics_of,
)
from weighbridge.record.probe_counts import (
    Bunching,
    BunchingOrAbsent,
    Fidelity,
    FidelityOrAbsent,
    StampCounts,
    StampCountsOrAbsent,
    UsageCounts,
    UsageCountsOrAbsent,
)

FigureValue = (
    Timing
    | Figure
    | Absent
    | StampCounts
    | UsageCounts
    | Bunching
    | Fidelity
    | int
    | float
    | str
    | tuple[str, ...]
    | None
)
Values = Mapping[MetricKey, FigureValue]

# What a value of each kind may be, and what stands where nothing was measured.
TYPES: Mapping[MetricKind, tuple[type, ...]] = {
    "time": (Timing, Absent),
    "value": (Figure, Absent),
    "count": (int, type(None)),
    "number": (float, int, type(None)),
    "word": (str, type(None)),
    "words": (tuple,),
    "stamps": (StampCounts, Absent),
    "usage": (UsageCounts, Absent),
    "bunching": (Bunching, Absent),
    "fidelity": (Fidelity, Absent),
}
_MISSING: Mapping[MetricKind, FigureValue] = {"count": None, "number": None, "word": None, "words": ()}


def _fits(value: FigureValue, kind: MetricKind) -> bool:
    return isinstance(value, TYPES[kind]) and not isinstance(value, bool)


class Figures(Document):
    """A document whose keys beside its own fields are figures of the catalogue.

    Every figure of its level is there: what was not given is absent as not measured, or null.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="allow", ser_json_inf_nan="null", populate_by_name=True)
    __pydantic_extra__: dict[str, FigureValue]
    level: ClassVar[Level] = "cell"

    @classmethod
    def of(cls, values: Values) -> Self:
        """Return a document of these figures alone."""
        return cls.model_validate(dict(values))

    def with_figures(self, values: Values) -> Self:
        """Return the document with these figures in the place of its own."""
        return self.changed(**{str(key): value for key, value in values.items()})

    @property
    def figures(self) -> Values:
        """Every figure by its key, in the order of the catalogue."""
        return {one.key: self.__pydantic_extra__[one.key] for one in metrics_of(self.level)}

    def has(self, key: MetricKey) -> bool:
        """Tell whether this figure exists."""
        found = self.__pydantic_extra__[key]
        return found is not None and not isinstance(found, Absent)

    def timing(self, key: TimeKey) -> TimingOrAbsent:
        """Return the percentiles of a time."""
        return cast("TimingOrAbsent", self.__pydantic_extra__[key])

    def percentile(self, key: TimeKey, name: Percentile) -> float | None:
        """Return one percentile of a time, None where it does not exist."""
        found = self.timing(key)
        return found.percentile(name) if isinstance(found, Timing) else None

    def value(self, key: ValueKey) -> FigureOrAbsent:
        """Return a single number with its spread."""
        return cast("FigureOrAbsent", self.__pydantic_extra__[key])

    @property
    def buffering(self) -> str | None:
        """Buffering verdict of a stream, None without one."""
        return cast("str | None", self.__pydantic_extra__["buffering"])

    def words(self, key: WordsKey) -> tuple[str, ...]:
        """Return the words of a figure that is told in words."""
        return cast("tuple[str, ...]", self.__pydantic_extra__[key])

    def known(self, key: ValueKey) -> float | None:
        """Return the number alone, None where it is absent."""
        found = self.value(key)
        return found.value if isinstance(found, Figure) else None

    def count(self, key: CountKey) -> int | None:
        """Return a whole number, None where nothing tells it."""
        return cast("int | None", self.__pydantic_extra__[key])

    def number(self, key: NumberKey) -> float | None:
        """Return a plain number, None where nothing tells it."""
        return cast("float | None", self.__pydantic_extra__[key])

    @property
    def stamps(self) -> StampCountsOrAbsent:
        """What became of the provider's stamps."""
        return cast("StampCountsOrAbsent", self.__pydantic_extra__["stamps"])

    @property
    def usage(self) -> UsageCountsOrAbsent:
        """How responses tell the token usage."""
        return cast("UsageCountsOrAbsent", self.__pydantic_extra__["usage"])

    @property
    def bunching(self) -> BunchingOrAbsent:
        """Counts behind the buffering verdict."""
        return cast("BunchingOrAbsent", self.__pydantic_extra__["bunching"])

    @property
    def fidelity(self) -> FidelityOrAbsent:
        """How many responses came unchanged."""
        return cast("FidelityOrAbsent", self.__pydantic_extra__["fidelity"])

    @model_validator(mode="after")
    def _are_of_the_catalogue(self) -> Self:
        given = self.__pydantic_extra__
        kinds = {one.key: one.kind for one in metrics_of(self.level)}
        for key, value in given.items():
            if key not in kinds:
                raise ValueError(f"{key!r} is no figure of a {self.level}")
            if not _fits(value, kinds[key]):
                raise ValueError(f"the figure {key} is no {kinds[key]}")
        whole = {key: given.get(key, _MISSING.get(kind, NOT_MEASURED)) for key, kind in kinds.items()}
        given.clear()
        given.update({str(key): value for key, value in whole.items()})
        return self


class RunFigures(Figures):
    """Figures of one run; the first request of each connection is left out of every percentile."""

    level: ClassVar[Level] = "run"
