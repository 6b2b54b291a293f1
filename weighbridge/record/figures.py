"""Figures as they are kept: a value with its sample size, or an absence with a reason; never a zero or a blank."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator

from weighbridge.record.base import Count, Document, Milliseconds
from weighbridge.record.codes import ABSENCES, Verdict

Percentile = Literal["p50", "p95", "p99"]
PERCENTILES: tuple[Percentile, ...] = ("p50", "p95", "p99")


class Absent(Document):
    """A figure that does not exist: a closed code that says why, and a free detail."""

    absent: str = Field(description="Code: why the figure does not exist.")
    detail: str = Field(default="", description="What happened, for people; empty where the code says it all.")

    @field_validator("absent")
    @classmethod
    def _closed(cls, code: str) -> str:
        if code not in ABSENCES:
            raise ValueError(f"{code!r} is no absence code")
        return code

    @property
    def text(self) -> str:
        """Detail, or what the code means."""
        return self.detail or ABSENCES[self.absent]


NOT_MEASURED = Absent(absent="not_measured")


def absent_by(verdict: Verdict, detail: str = "") -> Absent:
    """Return why a cell of this verdict has no figure; of a valid one nobody measured it."""
    return NOT_MEASURED if verdict == "valid" else Absent(absent=verdict, detail=detail)


# ranks: order statistics of six runs and more, 95 %; range: lowest to highest of two to five runs; batches: ranks of
# the samples of a single run, widened by the scatter of 20 consecutive batches, 95 %; t: 95 % by Student's t on the
# logs of run values, only in what method version 1 wrote.
IntervalKind = Literal["ranks", "range", "batches", "t"]


class Interval(Document):
    """What stands beside a figure: of the same estimator, and for blocks on one machine without a reboot."""

    low: float | None = Field(allow_inf_nan=False, description="Lower end; null: no value lies so low.")
    high: float | None = Field(
        allow_inf_nan=False, description="Upper end; null: no upper end, for its rank lies beyond the sample."
    )
    kind: IntervalKind = Field(
        description="ranks: order statistics of six runs or more, 95 %; range: lowest to highest of two to five; "
        "batches: ranks within one run, widened by the scatter of 20 consecutive batches, 95 %; t: 95 % by Student's "
        "t, only of method version 1."
    )


class PercentileIntervals(Document):
    """The interval of each percentile; null for one that has none."""

    p50: Interval | None = Field(default=None, description="That of the p50.")
    p95: Interval | None = Field(default=None, description="That of the p95.")
    p99: Interval | None = Field(default=None, description="That of the p99.")

    def of(self, name: Percentile) -> Interval | None:
        """Return the interval of a percentile by its name."""
        return {"p50": self.p50, "p95": self.p95, "p99": self.p99}[name]


class Timing(Document):
    """Percentiles of a time in milliseconds.

    A percentile is null when no sample lies beyond it. One that has 1–9 samples beyond it in some run is named
    in `few_samples` with its rank, such as {"p99": "248th of 250"}: shown grey, kept out of sentences. One that
    late turns of the probe's own loop may have moved has its bounds in `bounds_ms`; one whose bounds lie too far
    apart is named in `between`: shown as "between a and b", kept out of intervals, sentences and comparisons.
    """

    p50: Milliseconds | None = Field(description="50th percentile, nearest rank, ms.")
    p95: Milliseconds | None = Field(description="95th percentile, nearest rank, ms.")
    p99: Milliseconds | None = Field(description="99th percentile, nearest rank, ms.")
    mean: Milliseconds | None = Field(description="Arithmetic mean, ms; null for a shift.")
    n: Count = Field(description="Samples in each run (the smallest over the runs).")
    interval: PercentileIntervals | None = Field(
        default=None, description="Intervals of the percentiles with enough samples; null where there is none."
    )
    run_count: Count = Field(default=1, description="Runs behind it; 1 of a run's own figures.")
    missing_run_count: Count = Field(default=0, description="Accepted runs that lack it: a third of all at most.")
    few_samples: dict[Percentile, str] = Field(
        default_factory=dict, description="Percentiles with 1–9 samples beyond them, with their rank."
    )
    bounds_ms: dict[Percentile, tuple[Milliseconds, Milliseconds]] = Field(
        default_factory=dict,
        description="Percentiles that late turns of our own loop may have moved: least and most they can be.",
    )
    between: tuple[Percentile, ...] = Field(
        default=(),
        description="Those of them whose bounds lie further apart than 2 % or 20 µs at p50, 5 % or 100 µs above.",
    )
    absent: dict[Percentile, Absent] = Field(
        default_factory=dict, description="Percentiles that are null for another reason than too few samples."
    )

    def is_reliable(self, name: Percentile) -> bool:
        """Tell whether a percentile may be compared: it is there, has samples enough, and is not between bounds."""
        return self.percentile(name) is not None and name not in self.few_samples and name not in self.between

    def percentile(self, name: Percentile) -> float | None:
        """Return the value of a percentile by its name."""
        return {"p50": self.p50, "p95": self.p95, "p99": self.p99}[name]


class Figure(Document):
    """A single number with its spread over the accepted runs."""

    value: float = Field(allow_inf_nan=False, description="Median over the accepted runs.")
    low: float | None = Field(default=None, description="Smallest run value.")
    high: float | None = Field(default=None, description="Largest run value.")
    interval: Interval | None = Field(default=None, description="Interval over the run values; null of one run.")
    run_count: Count = Field(default=1, description="Runs behind it; 1 of a run's own figures.")
    missing_run_count: Count = Field(default=0, description="Accepted runs that lack it: a third of all at most.")


TimingOrAbsent = Annotated[Timing | Absent, Field(union_mode="smart")]
FigureOrAbsent = Annotated[Figure | Absent, Field(union_mode="smart")]

Corrected = Literal["yes", "no", "unknown"]
