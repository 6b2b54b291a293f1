"""`certificate.json`: how well this host, with these tools, recovered known delays.

For a reader's arithmetic, in every row of `delays`: `added_error_ms = added_ms − control_ms − known_ms`, all of one
block (the median one by that error).
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weighbridge.record.base import Count, Document, MethodVersion, Milliseconds, Versioned
from weighbridge.record.figures import Absent, Figure, Percentile
from weighbridge.record.host import HostFacts, ToolFacts

Arrangement = Literal["mixed", "cell"]


class BlockError(Document):
    """One percentile of one delay in one block."""

    block: Count = Field(description="Block.")
    known_ms: Milliseconds = Field(
        description="Quantile of recorded sleeps joined to the control, minus the control's."
    )
    control_ms: Milliseconds = Field(description="The same quantile of the control of this block.")
    added_ms: Milliseconds = Field(description="Measured added time.")
    added_error_ms: Milliseconds = Field(description="added_ms − control_ms − known_ms.")
    shift_error_ms: Milliseconds = Field(description="Quantile at the client minus the control's, minus known_ms.")


class DelayResult(BlockError):
    """One percentile of one delay: the median block by added error, and the worst one beside it."""

    delay: str = Field(description="Name of the delay, such as `3ms`.")
    mode: Literal["plain", "stream"] = Field(description="Plain: to the end; stream: to the first content.")
    arrangement: Arrangement = Field(description="mixed: lanes drawn request by request; cell: a cell of its own.")
    condition: Literal["quiet", "busy", "jitter"] = Field(
        description="A quiet machine, beside an injected noisy neighbour, or with 1 ms jitter of the provider."
    )
    figure: Percentile = Field(description="Percentile.")
    worst_added_error_ms: Milliseconds = Field(description="Added error of the worst block, with its sign.")
    limit_ms: Milliseconds = Field(description="Largest |added error| of the median block that passes.")
    sample_count: Count = Field(description="Requests in the smallest block.")
    control_count: Count = Field(description="Control samples in the smallest block.")
    blocks: tuple[BlockError, ...] = Field(description="Every block.")
    judged: bool = Field(
        default=True, description="Whether the blocks together have 10 samples beyond it; else it is shown alone."
    )
    passed: bool = Field(description="Whether the median block's error is within the limit.")


class JitterResult(Document):
    """Added time against shift while the provider's own time jitters: mean |error| over blocks and delays."""

    mode: Literal["plain", "stream"] = Field(description="Mode.")
    figure: Percentile = Field(description="Percentile.")
    delays: tuple[str, ...] = Field(description="Delays behind it; for p50 the two-valued one alone.")
    added_mean_error_ms: Milliseconds = Field(description="Mean |error| of the added time.")
    shift_mean_error_ms: Milliseconds = Field(description="Mean |error| of the shift.")
    ratio: float | None = Field(description="Shift's ÷ added's; null where the added time had none.")
    judged: bool = Field(default=True, description="Whether there were requests and blocks enough; else shown alone.")
    passed: bool = Field(description="Whether the shift's is at least ten times the added time's.")


class Resolution(Document):
    """What an A/A pair shows: two lanes of the same control, block by block."""

    mode: Literal["plain", "stream"] = Field(description="Mode.")
    arrangement: Arrangement = Field(description="mixed or cell.")
    figure: Percentile = Field(description="Percentile.")
    half_width_ms: Milliseconds = Field(description="95 % half width of one block's difference (t over the blocks).")
    median_difference_ms: Milliseconds = Field(description="Median difference over the blocks.")
    worst_difference_ms: Milliseconds = Field(description="Difference of the worst block, with its sign.")
    block_count: Count = Field(description="Blocks.")
    limit_ms: Milliseconds = Field(description="Largest |median difference| that passes.")
    passed: bool = Field(
        description="Whether the pair shows no difference beyond the limit; one block is not judged."
    )


class FaultResult(Document):
    """One injected fault: whether a check detected it, and which."""

    fault: str = Field(description="Name of the fault, such as `buffer`.")
    detected: bool = Field(description="Whether a check detected it.")
    by: str | None = Field(description="The check and what it said; null when none did.")


class DriverBaseline(Document):
    """The direct lane by one driver in this campaign, above the provider's own time."""

    driver: str = Field(description="Driver.")
    p50_ms: Milliseconds | None = Field(description="Median service time above the provider's.")
    p99_ms: Milliseconds | None = Field(description="99th percentile of it.")
    rate_rps: float | None = Field(default=None, description="Arrival rate.")
    absent: str | None = Field(default=None, description="Why there is none, such as a driver that is not there.")


class StampingResult(Document):
    """A stamped lane against an unstamped one: what the stamps themselves cost."""

    shift_p50_ms: Milliseconds | None = Field(description="Median at the client, stamped minus unstamped.")
    cpu_ms_per_request: Milliseconds | None = Field(description="CPU of the provider, stamped minus unstamped.")


class CpuResult(Document):
    """A known CPU burn and what was read of it."""

    known_ms: Milliseconds = Field(description="CPU that the gateway recorded to have burnt for each request.")
    measured_ms: Milliseconds = Field(description="CPU per request above the control's.")
    rate_rps: float = Field(description="Rate at which both were read.")
    request_count: Count = Field(description="Requests in each.")
    limit_ratio: float = Field(description="Largest |relative error| that passes.")
    passed: bool = Field(description="Whether it is within the limit.")


class UnknownCeiling(Document):
    """Why no ceiling of the mock provider was found, in free words."""

    absent: str = Field(min_length=1, description="Why there is none.")


NO_CEILING = UnknownCeiling(absent="not_measured")
CeilingOrUnknown = Annotated[Figure | UnknownCeiling, Field(union_mode="smart")]


class Certificate(Versioned):
    """The outcome of one calibration campaign."""

    schema_: Literal["weighbridge.certificate/2"] = Field(
        default="weighbridge.certificate/2", alias="schema", description="Kind and version of this document."
    )
    campaign: str = Field(description="Campaign that made it.")
    made_at: str = Field(description="When, UTC, ISO 8601; it holds for seven days from then.")
    method_version: MethodVersion = Field(description="Version of the method.")
    weighbridge_version: str = Field(description="Version of Weighbridge.")
    host: HostFacts = Field(description="The machine.")
    tools: tuple[ToolFacts, ...] = Field(description="Programs that took part.")
    passed: bool = Field(description="Whether every row that is judged passed and every fault was detected.")
    provisional: bool = Field(description="Whether it was made in a hurry: fewer blocks or requests than it takes.")
    problems: tuple[str, ...] = Field(default=(), description="One sentence for each thing that failed.")
    known_delays: tuple[DelayResult, ...] = Field(description="Known delays and what was found.")
    jitter: tuple[JitterResult, ...] = Field(default=(), description="Added time against shift under jitter.")
    resolution: tuple[Resolution, ...] = Field(default=(), description="What an A/A pair shows on this host.")
    faults: tuple[FaultResult, ...] = Field(description="Injected faults.")
    baselines: tuple[DriverBaseline, ...] = Field(description="The direct lane by each driver.")
    stamping: StampingResult | None = Field(default=None, description="What stamps cost.")
    cpu: CpuResult | None = Field(default=None, description="The known CPU burn.")
    mock_ceiling_rps: CeilingOrUnknown = Field(
        default=NO_CEILING,
        description="Requests per second that the mock provider can serve.",
    )

    @property
    def short(self) -> Certificate:
        """The same without the figures of each block, as summaries and pages carry it."""
        rows = tuple(row.changed(blocks=()) for row in self.known_delays)
        return self.changed(known_delays=rows)


CertificateOrAbsent = Annotated[Certificate | Absent, Field(union_mode="smart")]
