"""What opening streams showed: the gateway's memory at each step, and what became of the streams."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from weighbridge.record.base import Count, Document, Seconds


class OpenStreamsStep(Document):
    """One step: how many streams were open, and what the gateway's process tree took then."""

    client_open_count: Count = Field(description="Streams that the client had open.")
    content_count: Count = Field(description="Those whose first content had come.")
    open_count: Count = Field(description="Requests open at the provider, before and after the look at memory.")
    at_s: Seconds = Field(description="When the step stood, s after the first.")
    rss_bytes: Count | None = Field(default=None, description="Resident memory; null without a gateway.")
    pss_bytes: Count | None = Field(default=None, description="Memory with shared pages shared out.")


class OpenStreamsResult(Document):
    """One window of open streams."""

    points: tuple[OpenStreamsStep, ...] = Field(description="Steps that were reached, in their order.")
    opened_count: Count = Field(description="Streams that were asked for, each with a connection of its own.")
    whole_count: Count = Field(description="Streams that ended by themselves, whole and with their end marker.")
    broken: Literal["ended_early", "not_seen", "interrupted"] | None = Field(
        description="Why the window ended before its last step was seen; null when it did not."
    )
    faults: dict[str, Count] = Field(default_factory=dict, description="What failed streams met, with counts.")
