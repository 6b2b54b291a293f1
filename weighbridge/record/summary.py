"""`summary.json`: the contract with pages, exports and outside readers. Derived; rebuilt from the runs."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field

from weighbridge.matrix.loads import Load
from weighbridge.matrix.model import Grade
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.record.base import Count, Document, MethodVersion, Versioned
from weighbridge.record.campaign import CampaignRecord
from weighbridge.record.certificate import CertificateOrAbsent
from weighbridge.record.coded import FlagCode, Reason
from weighbridge.record.codes import Verdict
from weighbridge.record.figures import Absent, Interval
from weighbridge.record.host import HostFacts, LoadReading
from weighbridge.record.measured import Figures
from weighbridge.record.metrics import Level, TimeKey

# What stands beside the name of every mock.
MOCK_LABEL = "mock, not a product"


class Rejected(Document):
    """Attempts that do not count, by reason."""

    reason: Reason = Field(description="The reason, with the detail of the first of them.")
    count: Count = Field(description="How many attempts.")


class FailedRequests(Document):
    """What failed in a cell, over all attempts that were not rejected for the rig."""

    window_count: Count = Field(description="Those attempts.")
    failed_window_count: Count = Field(
        description="Those with a failed request, or that do not count for the gateway's doing."
    )
    request_count: Count = Field(description="Requests of all of them.")
    failed_count: Count = Field(description="Failed requests of all of them.")
    low_ratio: float | None = Field(
        description="Lower end of the 95 % interval of the failed share (Clopper–Pearson); null without a request."
    )
    high_ratio: float | None = Field(description="Its upper end.")


class RunLine(Document):
    """One attempt as the page's table of runs shows it."""

    block: Count = Field(description="Block.")
    attempt: Count = Field(description="Attempt.")
    accepted: bool = Field(description="Whether it counts.")
    verdict: Verdict = Field(description="Verdict of the run.")
    reason: Reason | None = Field(description="Why it does not count; null when it does.")
    achieved_rps: float | None = Field(description="Achieved rate.")
    failed_count: Count | None = Field(
        default=None, description="Failed requests; null in what was written as weighbridge.summary/1."
    )
    request_count: Count | None = Field(default=None, description="Requests of the window; null likewise.")
    response_p50_ms: float | None = Field(description="Median response time, ms.")
    load_before: LoadReading | None = Field(description="Machine before.")
    load_after: LoadReading | None = Field(description="Machine after.")


class CellSummary(Figures):
    """One cell over its runs: what it is, its verdict, and its figures as flat keys.

    Timings are medians of run values; a shift is paired within the block first.
    """

    level: ClassVar[Level] = "cell"

    cell: str = Field(description="Cell id.")
    gateway: str = Field(description="Recipe id.")
    settings: dict[str, str] = Field(description="Settings of the gateway.")
    chain: str = Field(description="Policy chain.")
    disk: str = Field(description="Disk of its state.")
    mode: Literal["plain", "stream"] = Field(description="Mode.")
    payload: str = Field(description="Payload name.")
    answer: str = Field(description="Answer name.")
    load: Load = Field(description="Load.")
    driver: str = Field(description="Driver.")
    baseline: str = Field(description="Cell id of its baseline.")
    verdict: Verdict = Field(description="Verdict of the cell.")
    reason: Reason | None = Field(description="Why it has no figures; null for one that is valid or saturated.")
    flags: tuple[FlagCode, ...] = Field(description="Remarks.")
    runs_wanted: Count = Field(description="Accepted runs that the campaign wanted.")
    runs_accepted: Count = Field(description="Runs that count.")
    runs_attempted: Count = Field(description="Runs tried.")
    rejected: tuple[Rejected, ...] = Field(default=(), description="Attempts that do not count.")
    runs: tuple[RunLine, ...] = Field(default=(), description="Every attempt.")
    failed: FailedRequests | None = Field(
        default=None, description="What failed over all attempts that were not rejected for the rig; null: nothing."
    )
    offered_rps: float | None = Field(description="Requests per second asked for.")
    served_text: str | None = Field(default=None, description="`served X of Y per second` of a saturated cell.")
    load_before: LoadReading | None = Field(description="Machine before the first accepted run.")
    load_after: LoadReading | None = Field(description="Machine after the last accepted run.")


class Slope(Document):
    """What one more KiB of prompt, or one more chunk of response, adds: a line through cells of each block."""

    cells: tuple[str, ...] = Field(description="Cells on the line.")
    gateway: str = Field(description="Recipe id.")
    axis: Literal["payload_kib", "answer_chunks"] = Field(description="What the slope is per unit of.")
    figure: TimeKey = Field(description="Figure of a cell whose p50 is fitted.")
    slope_ms: float = Field(description="Median over the blocks, ms for each KiB or chunk.")
    interval_ms: Interval | None = Field(default=None, description="Interval over the blocks, ms; null of one.")
    intercept_ms: float = Field(description="Median over the blocks, ms at zero.")
    residual_ms: float = Field(description="Largest distance of a block's point from its line, ms.")
    baseline_slope_ms: float | None = Field(
        default=None, description="The same on the direct lane; null without one."
    )
    block_count: Count = Field(description="Blocks with two points or more.")
    point_count: Count = Field(description="Points in all.")


class PromptFacts(Document):
    """What the prompts of a campaign's runs were, by the files that its load generators were given."""

    same_in_block: bool | None = Field(
        default=None,
        description="Whether all lanes of a block were given the same prompts; null where runs do not tell.",
    )
    drawn_by: tuple[str, ...] | None = Field(
        default=None,
        description="Load generators that drew from their prompts with replacement, by name; null where runs do not "
        "tell.",
    )


class GatewaySummary(Document):
    """A gateway as pages name it."""

    id: str = Field(description="Recipe id.")
    name: str = Field(description="Name for people.")
    kind: Literal["baseline", "mock", "product"] = Field(description="What sort of lane it is.")
    label: str | None = Field(description="Words that must stand beside the name, such as `mock, not a product`.")
    version: str | None = Field(description="Version measured.")
    sha256: str | None = Field(description="Digest of what was measured.")
    homepage: str | None = Field(description="Where it comes from.")
    license: str | None = Field(description="Licence.")
    unavailable: str | None = Field(description="Why it was not measured.")


class Summary(Versioned):
    """The whole campaign as pages and outside readers get it."""

    schema_: Literal["weighbridge.summary/2"] = Field(
        default="weighbridge.summary/2", alias="schema", description="Kind and version of this document."
    )
    campaign: str = Field(description="Campaign folder name.")
    method_version: MethodVersion = Field(description="Version of the method.")
    grade: Grade = Field(description="What may be said of the figures.")
    subject: str = Field(description="Gateway under test.")
    status: Literal["complete", "interrupted", "failed", "running"] = Field(description="How far the campaign came.")
    host: HostFacts = Field(description="The machine.")
    provenance: CampaignRecord = Field(description="campaign.json as written at the start.")
    payloads: dict[str, PayloadSpec] = Field(description="Payloads by name.")
    answers: dict[str, AnswerSpec] = Field(description="Answers by name.")
    gateways: tuple[GatewaySummary, ...] = Field(description="Gateways in the order of the matrix, baseline first.")
    loaded_machine: bool = Field(description="Whether other processes were using the CPU during an accepted run.")
    loaded_text: str | None = Field(description="What was seen of it.")
    runs_accepted: Count = Field(description="Accepted runs in all.")
    runs_rejected: Count = Field(description="Rejected attempts in all.")
    cells: tuple[CellSummary, ...] = Field(description="Every selected cell.")
    certificate: CertificateOrAbsent = Field(
        default=Absent(absent="not_looked_for"),
        description="What a calibration on this host showed, without its blocks; or why there is none to show.",
    )
    prompts: PromptFacts = Field(default=PromptFacts(), description="What the prompts of its runs were.")
    slopes: tuple[Slope, ...] = Field(
        default=(), description="Added time for each KiB or chunk, where payloads or answers vary."
    )
