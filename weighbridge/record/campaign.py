"""The documents of a whole campaign: what was set out to do, and how it ended."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from weighbridge.matrix.model import Grade
from weighbridge.matrix.requests import AnswerSpec, GoodputBounds, PayloadSpec
from weighbridge.record.base import Count, Document, MethodVersion, Versioned
from weighbridge.record.cell import PlannedCell
from weighbridge.record.certificate import CertificateOrAbsent
from weighbridge.record.coded import CampaignWarning
from weighbridge.record.figures import Absent
from weighbridge.record.host import GitFacts, HostFacts, ToolFacts
from weighbridge.record.plan import EffectivePlan


class GatewayFacts(Document):
    """A gateway of the campaign: what it is and which copy was measured."""

    id: str = Field(description="Folder name of the recipe.")
    name: str = Field(description="Name for people.")
    kind: Literal["baseline", "mock", "product"] = Field(description="What sort of lane it is.")
    label: str | None = Field(default=None, description="Words of the recipe that must stand beside the name.")
    homepage: str | None = Field(description="Where it comes from.")
    license: str | None = Field(description="Its licence.")
    recipe_sha256: str = Field(description="Digest of the recipe folder.")
    tool: ToolFacts | None = Field(description="Installed copy; null when unavailable.")
    unavailable: str | None = Field(default=None, description="Why it could not be had.")


class CpuPlanFacts(Document):
    """Which logical CPUs each part was put on, the same for every lane."""

    gateway: tuple[int, ...] = Field(description="Those of the gateway, its alone.")
    mocks: tuple[int, ...] = Field(description="Those of both mocks.")
    driver: tuple[int, ...] = Field(description="Those of the load generator.")


class CampaignRecord(Versioned):
    """`campaign.json`: what was set out to do, on what, with what. Written before the first window."""

    schema_: Literal["weighbridge.campaign/2"] = Field(
        default="weighbridge.campaign/2", alias="schema", description="Kind and version of this document."
    )
    campaign: str = Field(description="Folder name of the campaign.")
    weighbridge_version: str = Field(description="Version of Weighbridge.")
    method_version: MethodVersion = Field(description="Version of the method.")
    started_at: str = Field(description="Start, UTC, ISO 8601.")
    title: str = Field(description="Title of the matrix.")
    command: str = Field(description="Command line that repeats it.")
    grade: Grade = Field(description="What may be said of the figures.")
    runs: Count = Field(description="Accepted runs wanted of each cell.")
    seed: int = Field(description="Seed of prompts and order.")
    matrix_sha256: str = Field(description="Digest of the matrix file.")
    plan: EffectivePlan | None = Field(
        default=None, description="All that decides what is measured; null in records without."
    )
    plan_sha256: str | None = Field(default=None, description="Digest of the plan; null where there is none.")
    subject: str = Field(description="Gateway under test.")
    load_limit_per_cpu: float | None = Field(description="Limit on the one-minute load as a share of the CPUs.")
    git: GitFacts = Field(description="State of the checkout.")
    host: HostFacts = Field(description="The machine.")
    tools: tuple[ToolFacts, ...] = Field(description="Programs that took part.")
    gateways: tuple[GatewayFacts, ...] = Field(description="Gateways of the campaign.")
    payloads: dict[str, PayloadSpec] = Field(description="Payloads by name.")
    answers: dict[str, AnswerSpec] = Field(description="Answers by name.")
    goodput: GoodputBounds | None = Field(
        default=None, description="Bounds within which a response counts as goodput; null: none."
    )
    cells: tuple[PlannedCell, ...] = Field(description="Every selected cell.")
    order: tuple[tuple[str, ...], ...] = Field(description="Cell ids in the order of each block.")
    cpu_plan: CpuPlanFacts | None = Field(
        default=None, description="Logical CPUs of each part; null when all shared all, as below four CPUs."
    )
    warnings: tuple[CampaignWarning, ...] = Field(
        default=(), description="What weakens the figures, known before the start."
    )


class Finished(Versioned):
    """`finished.json`: how the campaign ended; absent while it runs and after a crash."""

    schema_: Literal["weighbridge.finished/2"] = Field(
        default="weighbridge.finished/2", alias="schema", description="Kind and version of this document."
    )
    status: Literal["complete", "interrupted", "failed"] = Field(description="How it ended.")
    exit_code: int = Field(description="Exit code of the task.")
    ended_at: str = Field(description="End, UTC, ISO 8601.")
    accepted_count: Count = Field(description="Accepted runs.")
    rejected_count: Count = Field(description="Rejected attempts.")
    text: str = Field(description="One sentence.")
    certificate: CertificateOrAbsent = Field(
        default=Absent(absent="not_looked_for"),
        description="Certificate to show: its own, else the newest that holds.",
    )
