"""What the probe found in answers: counts of stamps, of bunched events and of whole responses. Plain documents.

Kept in `RunFigures` and merged by adding in `CellSummary`. The rules that fill them stand in the judge room.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from weighbridge.record.base import Count, Document, Milliseconds
from weighbridge.record.figures import Absent

Buffering = Literal["passed through", "coalesced", "windowed", "held until complete", "held, then re-paced"]
FidelityLevel = Literal["events", "text", "differs"]


class StampCounts(Document):
    """What became of the provider's stamp in every good response; the counts before `retry_count` add up to them."""

    whole_count: Count = Field(description="Stamps that came through and belong to their request.")
    absent_count: Count = Field(description="Answers without a stamp.")
    damaged_count: Count = Field(description="Answers with the marker word but no whole stamp.")
    stale_count: Count = Field(description="Stamps older than their request: a cache answered.")
    repeated_count: Count = Field(description="Stamps that an earlier request had already: one response given twice.")
    unknown_count: Count = Field(description="Whole stamps that the provider has no record of.")
    crossed_count: Count = Field(
        default=0, description="Stamps of another request: the response was given to the wrong one."
    )
    retry_count: Count | None = Field(
        default=None, description="Provider calls beyond the first of a reference; null without its records."
    )


class UsageCounts(Document):
    """How responses tell the token usage, against what the provider sent for the same request."""

    response_count: Count = Field(description="Good responses whose request the provider knows.")
    same_count: Count = Field(description="Of those: prompt, completion and total as the provider sent them.")
    differing_count: Count = Field(description="Of those: other numbers than the provider sent.")
    missing_count: Count = Field(description="Of those: responses without any usage, which every request asks for.")
    own_count: Count = Field(description="Of those: a usage that the provider was not asked for.")
    example: str = Field(default="", description="The first difference, in words; empty without one.")


class Bunching(Document):
    """How events that were sent apart were read together; the counts behind a buffering verdict."""

    pair_count: Count = Field(description="Neighbouring events of one stream that were sent 1 ms apart or more.")
    coalesced_count: Count = Field(description="Of those: pairs that came in one read.")
    bunched_count: Count = Field(description="Of those: pairs read within 0.2 ms of each other, one read included.")
    stream_count: Count = Field(description="Streams with two stamped events or more.")
    buffered_stream_count: Count = Field(description="Of those: streams that began when the provider had ended.")
    repaced_stream_count: Count = Field(
        default=0, description="Of those: streams that then took more than half of the provider's own span."
    )
    buffered_gaps: float | None = Field(
        default=None, description="Median over the bunches: time between first and last sent, in provider gaps."
    )
    period_ms: Milliseconds | None = Field(default=None, description="Median time from bunch to bunch, ms.")


class Fidelity(Document):
    """How many responses came through unchanged, as far as their marks show it."""

    level: FidelityLevel = Field(
        description="Lowest level of any answer: same events, same text in other events, or different."
    )
    answer_count: Count = Field(description="Good responses that were checked.")
    events_equal_count: Count = Field(description="Answers with the provider's own number of content events.")
    json_whole_count: Count = Field(description="Answers whose JSON could be read throughout.")
    text_whole_count: Count = Field(description="Answers with every mark of their text whole.")
    sequence_whole_count: Count = Field(description="Answers with every chunk once and in order.")
    missing_chunk_count: Count = Field(description="Chunks that never came.")
    repeated_chunk_count: Count = Field(description="Chunks that came more than once.")
    reordered_chunk_count: Count = Field(description="Chunks that came before one that was sent earlier.")
    damaged_chunk_count: Count = Field(description="Content events without a whole mark.")


StampCountsOrAbsent = Annotated[StampCounts | Absent, Field(union_mode="smart")]
UsageCountsOrAbsent = Annotated[UsageCounts | Absent, Field(union_mode="smart")]
BunchingOrAbsent = Annotated[Bunching | Absent, Field(union_mode="smart")]
FidelityOrAbsent = Annotated[Fidelity | Absent, Field(union_mode="smart")]
