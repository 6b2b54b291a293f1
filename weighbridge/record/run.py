"""One measured window of one cell: `cells/<cell>/b01/run.json`, written last, and thereby the commit of the run."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from weighbridge.matrix.loads import Load
from weighbridge.record.base import Count, Document, Seconds, Versioned
from weighbridge.record.coded import FlagCode, Reason
from weighbridge.record.codes import Verdict
from weighbridge.record.figures import Absent, TimingOrAbsent
from weighbridge.record.host import LoadReading, ToolFacts
from weighbridge.record.load_report import LoadReport
from weighbridge.record.measured import RunFigures
from weighbridge.record.open_streams import OpenStreamsResult


class DriverRecord(Document):
    """Which program drove and how it was called; secrets in the arguments are masked."""

    tool: ToolFacts = Field(description="The program.")
    argv: tuple[str, ...] = Field(description="Arguments as run, secrets masked.")
    exit_code: int = Field(description="Exit status; negative for a death by signal.")
    cut: bool = Field(description="Whether we interrupted it because the lane did not keep the rate.")


class ClientRecord(Document):
    """One client of a window: a load generator with its part of the load."""

    role: str = Field(description="Role, and folder of what it left: driver, companion, open_streams or probe_pass.")
    load: Load | None = Field(description="Its part of the load; null in what was written as weighbridge.run/1.")
    driver: DriverRecord = Field(description="The program and how it was called.")
    load_report: LoadReport | None = Field(description="What it reported; null when it left nothing.")
    prompts_sha256: str | None = Field(
        default=None,
        description="Digest of its file of prompts, one request body a line; null in what was written before there "
        "was one.",
    )


class Counts(Document):
    """What was counted on both sides of the gateway in the window, over the driver and a probe that rode along."""

    client_sent_count: Count | None = Field(description="Requests the clients say they started.")
    client_answered_count: Count | None = Field(description="Requests the clients got a response to.")
    client_success_count: Count | None = Field(description="Answers with a 2xx status.")
    provider_request_count: Count = Field(description="Requests the mock provider received.")
    provider_distinct_count: Count = Field(description="Distinct request references it saw.")
    provider_aborted_count: Count = Field(description="Requests whose client left before the end.")
    repeat_share_ratio: float = Field(
        description="Share of the requests sent whose prompt an earlier one of the window had, by the provider's "
        "count; what a gateway sent again is left out."
    )
    expected_repeat_ratio: float = Field(description="Share that drawing with replacement makes us expect.")
    control_plane_calls: dict[str, Count] = Field(
        default_factory=dict, description="Control-plane calls by kind, after the drain."
    )
    admission_call_count: Count = Field(default=0, description="Those in the path of a request.")
    background_call_count: Count = Field(default=0, description="Those beside it.")


class Evidence(Document):
    """What one request through the lane showed before the window, as far as it may be kept."""

    mode: str = Field(description="plain or stream.")
    status: int | None = Field(description="HTTP status, null without a response.")
    ok: bool = Field(description="Whether the response was the provider's, whole, in the right form.")
    problem: str | None = Field(description="What was wrong with it.")
    body_head: str = Field(default="", description="First bytes of the response when it was wrong, secrets masked.")
    upstream_changes: tuple[str, ...] = Field(default=(), description="What the gateway changed in the request.")
    stamp_survives: bool | None = Field(default=None, description="Whether the provider's stamp came through.")
    end_marker: bool | None = Field(default=None, description="Whether a stream ended with [DONE].")
    chunk_count: Count | None = Field(default=None, description="Content chunks seen in a stream.")
    body_bytes: Count | None = Field(default=None, description="Size of its body; null without an answer.")
    added_s: float | None = Field(
        default=None, description="Its added time (of streams: to the first content), s; null without a stamp."
    )
    is_refused: bool = Field(default=False, description="Whether no connection was to be had.")
    refused_s: Seconds | None = Field(
        default=None,
        description="How long it was refused after it had said that it is ready, s, if it was.",
    )
    refused_with: str | None = Field(default=None, description="How it was refused at first.")


class IdleLook(Document):
    """What a gateway's tree used without a request, slice by slice."""

    slice_s: Seconds = Field(description="Length of a slice.")
    cores: tuple[float, ...] = Field(description="CPU of each slice, in cores.")


class Resources(Document):
    """What the gateway's process tree used from right before the load until the drain, and what the rig took."""

    cpu_s: float | None = Field(default=None, description="CPU seconds of the tree, ended processes included.")
    cpu_from: Literal["cgroup2", "cgroup1", "process_clock", "process_times"] | None = Field(
        default=None, description="What counted them: a control group of the tree's own, or its processes."
    )
    cpu_step_s: Seconds | None = Field(default=None, description="Smallest difference that this shows, s.")
    cpu_span_s: Seconds | None = Field(default=None, description="Time between the two CPU readings, s.")
    idle_before: IdleLook | None = Field(
        default=None, description="The warm tree without a request, before the first window of the visit."
    )
    idle_after: IdleLook | None = Field(
        default=None,
        description="The same after the last window; null in run.json, for it comes later: the visit's own document "
        "has it.",
    )
    busiest_thread_s: Seconds | None = Field(
        default=None, description="CPU seconds of the busiest thread that lived to the end."
    )
    core_count: Count | None = Field(default=None, description="Logical CPUs that the gateway may run on.")
    rss_idle_bytes: Count | None = Field(default=None, description="Resident memory before the window.")
    rss_peak_bytes: Count | None = Field(
        default=None, description="Sum of the processes' peaks: no less than the tree's own peak."
    )
    rss_peak_from: Literal["window", "lifetime"] | None = Field(
        default=None, description="Whether the peaks are of the window or since the processes' start."
    )
    rss_after_bytes: Count | None = Field(default=None, description="Resident memory after the drain.")
    pss_idle_bytes: Count | None = Field(
        default=None, description="Memory before the window, shared pages shared out."
    )
    pss_after_bytes: Count | None = Field(default=None, description="The same after the drain.")
    voluntary_switch_count: Count | None = Field(
        default=None, description="Times a thread gave the CPU away; without threads that ended."
    )
    involuntary_switch_count: Count | None = Field(default=None, description="Times the CPU was taken from a thread.")
    process_count: Count | None = Field(default=None, description="Processes of the tree after the drain.")
    cores: tuple[int, ...] | None = Field(
        default=None, description="Logical CPUs that the gateway was put on; null: any."
    )
    flush_count: Count | None = Field(
        default=None, description="Flushes of the device under the state directory, whoever made them."
    )
    flush_idle_rps: float | None = Field(
        default=None, description="Flushes a second of that device in the look before the visit's first window."
    )
    driver_cpu_s: Seconds | None = Field(default=None, description="CPU seconds of the load generator.")
    driver_cpu_cores: float | None = Field(default=None, description="The same ÷ the time it ran, in cores.")
    mock_cpu_cores: float | None = Field(default=None, description="CPU the mock provider took, in cores.")
    mock_lateness_p99_s: Seconds | None = Field(
        default=None, description="How late the mock provider answered, against when it was due, 99th percentile."
    )
    control_plane_cpu_cores: float | None = Field(
        default=None, description="CPU the mock control plane took, in cores."
    )
    absent: dict[str, Absent] = Field(default_factory=dict, description="What could not be read, with the reason.")


class RunRecord(Versioned):
    """The record of one attempt at one cell in one block."""

    schema_: Literal["weighbridge.run/2"] = Field(
        default="weighbridge.run/2", alias="schema", description="Kind and version of this document."
    )
    cell: str = Field(description="Cell id.")
    block: int = Field(ge=1, description="Number of the block, from 1.")
    attempt: int = Field(ge=1, description="Number of the attempt at this cell in the campaign, from 1.")
    visit: str | None = Field(
        default=None, description="Start of its lane that it was measured on, the name of a document of `visits`."
    )
    fingerprint: str = Field(description="Digest of all that makes this cell what it is; resume compares it.")
    accepted: bool = Field(description="Whether the run counts.")
    verdict: Verdict = Field(description="What the run says: valid, saturated, errored, …")
    reason: Reason | None = Field(default=None, description="Why a run that is not accepted does not count.")
    flags: tuple[FlagCode, ...] = Field(default=(), description="Remarks that change no verdict.")
    started_at: str = Field(description="Start of the window, UTC, ISO 8601.")
    window_s: Seconds = Field(description="Wall clock of the window.")
    clients: tuple[ClientRecord, ...] = Field(
        default=(), description="Load generators of the window, the leading one first; none when it was never opened."
    )
    no_companion: str | None = Field(
        default=None, description="Why no probe took a part of the rate, where the driver sees no stamps."
    )
    counts: Counts | None = Field(default=None, description="Counts on both sides.")
    figures: RunFigures | None = Field(default=None, description="Figures of the run.")
    open_streams: OpenStreamsResult | None = Field(
        default=None, description="What opening streams showed; null for other loads."
    )
    self_reported_ms: TimingOrAbsent = Field(
        default=Absent(absent="not_self_reported"),
        description="The gateway's own overhead header, in the requests of the probe behind the added time.",
    )
    drain_s: Seconds | None = Field(default=None, description="Time until no event was undelivered.")
    undelivered_at_end_count: Count | None = Field(
        default=None, description="Undelivered events as the window ended."
    )
    load_before: LoadReading | None = Field(default=None, description="The machine before the window.")
    load_after: LoadReading | None = Field(default=None, description="The machine after the window.")
    resources: Resources = Field(default_factory=Resources, description="What the gateway used.")
    evidence: tuple[Evidence, ...] = Field(default=(), description="What preflight saw.")
    files: dict[str, str] = Field(default_factory=dict, description="SHA-256 of each other file of this folder.")

    @model_validator(mode="after")
    def _has_reason(self) -> Self:
        if self.accepted != (self.reason is None):
            raise ValueError("a run has a reason exactly when it is not accepted")
        return self
