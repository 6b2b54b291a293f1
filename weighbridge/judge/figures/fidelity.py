"""Whether responses came through unchanged: events, JSON, text, sequence (METHOD 4). HTTP 200 is not success.

The text is checked by its marks: each chunk carries its number and a check letter, so that a lost, repeated, moved or
bent chunk shows; words between the marks are not compared. Levels: `events` (as many content events as the provider
sent), `text` (all chunks in order, in another number of events), `differs`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures.row_masks import Mask
from weighbridge.judge.figures.stamps import DAMAGED, NO_STAMP, States
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_counts import Fidelity, FidelityLevel
from weighbridge.record.probe_tables import OUTCOMES, UNKNOWN, EventTable, RequestTable

# Outcomes of a 2xx whose body could not be read as it should.
UNREADABLE = tuple(OUTCOMES.index(name) for name in ("json_error", "stream_error", "protocol"))


@dataclass(frozen=True)
class ChunkCheck:
    """What became of the chunks of each request; one entry a row of the request table."""

    missing: Ints
    repeated: Ints
    reordered: Ints
    damaged: Ints

    @property
    def sequence_whole(self) -> Mask:
        """Rows with every chunk once and in order."""
        whole: Mask = (self.missing == 0) & (self.repeated == 0) & (self.reordered == 0)
        return whole


def check_chunks(events: EventTable, request_count: int, chunk_count: int) -> ChunkCheck:
    """Count missing, repeated, reordered and damaged chunks of each request against `chunk_count` that were sent.

    An event without a whole mark may be any chunk: it counts as damaged, and one chunk fewer as missing.
    """
    known = (events.sequence != UNKNOWN) & (events.send_ns != UNKNOWN)
    rows, numbers = events.row[known], events.sequence[known]
    keys = rows * np.int64(1 << 16) + numbers
    order = np.argsort(keys, kind="stable")
    again = np.diff(keys[order]) == 0
    repeated = np.bincount(rows[order][1:][again], minlength=request_count)
    came = np.bincount(rows, minlength=request_count) - repeated
    damaged = np.bincount(events.row[~known], minlength=request_count)
    # Where every chunk came, events without a mark are pieces of a text that was cut anew.
    damaged = np.where(came >= chunk_count, 0, damaged)
    backwards = (rows[1:] == rows[:-1]) & (numbers[1:] < numbers[:-1])
    return ChunkCheck(
        missing=np.maximum(chunk_count - came - damaged, 0).astype(np.int64),
        repeated=repeated.astype(np.int64),
        reordered=np.bincount(rows[1:][backwards], minlength=request_count).astype(np.int64),
        damaged=damaged.astype(np.int64),
    )


def stream_fidelity(requests: RequestTable, rows: Mask, chunks: ChunkCheck, chunk_count: int) -> Fidelity:
    """Return the fidelity of the streams that `rows` picks."""
    events_equal = requests.content_count[rows] == chunk_count
    text = (chunks.damaged[rows] == 0) & (chunks.missing[rows] == 0)
    sequence = chunks.sequence_whole[rows]
    json_whole = ~np.isin(requests.outcome[rows], UNREADABLE)
    return Fidelity(
        level=_level(bool(events_equal.all()), bool((text & sequence & json_whole).all())),
        answer_count=int(np.count_nonzero(rows)),
        events_equal_count=int(np.count_nonzero(events_equal)),
        json_whole_count=int(np.count_nonzero(json_whole)),
        text_whole_count=int(np.count_nonzero(text)),
        sequence_whole_count=int(np.count_nonzero(sequence)),
        missing_chunk_count=int(chunks.missing[rows].sum()),
        repeated_chunk_count=int(chunks.repeated[rows].sum()),
        reordered_chunk_count=int(chunks.reordered[rows].sum()),
        damaged_chunk_count=int(chunks.damaged[rows].sum()),
    )


def plain_fidelity(requests: RequestTable, rows: Mask, states: States) -> Fidelity:
    """Return the fidelity of the plain responses that `rows` picks: readable JSON, its stamp whole."""
    total = int(np.count_nonzero(rows))
    text = int(np.count_nonzero(~np.isin(states[rows], (NO_STAMP, DAMAGED))))
    json_whole = int(np.count_nonzero(~np.isin(requests.outcome[rows], UNREADABLE)))
    return Fidelity(
        level=_level(True, text == total == json_whole),
        answer_count=total,
        events_equal_count=total,
        json_whole_count=json_whole,
        text_whole_count=text,
        sequence_whole_count=total,
        missing_chunk_count=0,
        repeated_chunk_count=0,
        reordered_chunk_count=0,
        damaged_chunk_count=int(np.count_nonzero(states[rows] == DAMAGED)),
    )


def added(parts: Sequence[Fidelity]) -> Fidelity:
    """Add the counts of several runs, at the lowest level of any."""
    levels: tuple[FidelityLevel, ...] = ("differs", "text", "events")
    return Fidelity(
        level=next(level for level in levels if any(one.level == level for one in parts)),
        answer_count=sum(one.answer_count for one in parts),
        events_equal_count=sum(one.events_equal_count for one in parts),
        json_whole_count=sum(one.json_whole_count for one in parts),
        text_whole_count=sum(one.text_whole_count for one in parts),
        sequence_whole_count=sum(one.sequence_whole_count for one in parts),
        missing_chunk_count=sum(one.missing_chunk_count for one in parts),
        repeated_chunk_count=sum(one.repeated_chunk_count for one in parts),
        reordered_chunk_count=sum(one.reordered_chunk_count for one in parts),
        damaged_chunk_count=sum(one.damaged_chunk_count for one in parts),
    )


def _level(events_equal: bool, text_whole: bool) -> FidelityLevel:
    if not text_whole:
        return "differs"
    return "events" if events_equal else "text"
