"""Figures of one run from the request trace of the probe: added time, legs, streams, stamps.

The rows behind a time are responses with a 2xx that the probe calls good, whose stamp is whole, without the first C
by sent start (C = connections, as for every driver) and without those around which the probe's own loop was late; the
last are counted, and nothing else is left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures import buffering, chunk_gaps, fidelity, stamps
from weighbridge.judge.figures.added import added_to_end, added_to_first, added_to_stream_end
from weighbridge.judge.figures.connections import connection_figures
from weighbridge.judge.figures.lateness import limited
from weighbridge.judge.figures.row_masks import Mask
from weighbridge.judge.stats.timing import timing
from weighbridge.judge.window import Trace, Window
from weighbridge.record.figures import Absent, Figure, TimingOrAbsent
from weighbridge.record.measured import Values
from weighbridge.record.metrics import METRICS, TimeKey
from weighbridge.record.probe_counts import Bunching, Fidelity, StampCounts
from weighbridge.record.probe_tables import OUTCOMES, UNKNOWN, EventTable, Ints, RequestTable

CUT = Absent(absent="cut")
NO_EVENTS = Absent(absent="no_chunks_kept")
NOT_A_STREAM = Absent(absent="not_a_stream")
ONE_NUMBER = Absent(absent="two_added_times")
ONE_EVENT = Absent(absent="one_event")
NO_ROW = Absent(absent="no_good_response")
NO_STAMPS = Absent(absent="no_stamps")
TIMES: tuple[TimeKey, ...] = (
    *("added_ms", "added_first_ms", "added_total_ms", "request_path_ms", "response_path_ms"),
    *("ttft_ms", "gap_ms", "forwarding_ms", "gap_distortion_ms"),
)
OF_CHUNKS: tuple[TimeKey, ...] = ("gap_ms", "forwarding_ms", "gap_distortion_ms")
IDLE_STALL = OUTCOMES.index("idle_stall")

# Times of one run in ns by figure, or why there is none.
Times = Mapping[TimeKey, Ints | Absent]


@dataclass(frozen=True)
class LeftOut:
    """Share of the good responses that is left out for the probe's lateness, and whether it rode along."""

    left_out_ratio: float
    is_companion: bool


@dataclass(frozen=True)
class Picked:
    """The rows of one window.

    `good` responses, `lagged` ones among them, `selected` behind times that need no stamp, `timed` behind those that
    do.
    """

    good: Mask
    lagged: Mask
    selected: Mask
    timed: Mask
    states: stamps.States
    counts: StampCounts


def trace_figures(window: Window) -> Values:
    """Return what a probe saw; for a window that no probe saw nothing, or why it did not where it should."""
    facts = window.trace
    if facts is None:
        why = window.load.no_companion
        return {} if why is None else dict.fromkeys(TIMES, Absent(absent="no_companion", detail=why))
    picked = pick_rows(facts)
    found = times_ns(facts, picked)
    if window.lead.cut:
        found = dict.fromkeys(found, CUT)
    lost = LeftOut(_share(picked.lagged, picked.good), not window.lead.sees_stamps)
    return {
        **{key: _timing(key, values, lost) for key, values in found.items()},
        **_stream_fields(facts, picked),
        **connection_figures(facts.requests),
        "stamps": picked.counts,
        "lagged_count": int(np.count_nonzero(picked.lagged)),
    }


def unwhole_count(facts: Trace | None) -> int:
    """Count streams that the probe calls good but that lack a chunk or the end, or have one twice or out of order.

    They failed, whatever their status says.
    """
    if facts is None or facts.mode == "plain":
        return 0
    good = stamps.good_requests(facts.requests)
    unwhole = good & (facts.requests.done_seen <= 0)
    if facts.events is not None:
        every = chunk_gaps.of_rows(facts.events, good)
        if (every.sequence != UNKNOWN).any():
            chunks = fidelity.check_chunks(every, len(good), facts.answer.chunk_count)
            unwhole |= good & ~chunks.sequence_whole
    return int(np.count_nonzero(unwhole))


def pick_rows(facts: Trace) -> Picked:
    """Return which rows count, and the state of every stamp."""
    requests = facts.requests
    states = stamps.stamp_states(requests, facts.provider)
    good = stamps.good_requests(requests)
    lagged = good & (requests.lagged > 0)
    kept = good & ~lagged
    kept[first_sent(requests, facts.trim_count)] = False
    timed = kept & (states == stamps.WHOLE)
    return Picked(good, lagged, kept, timed, states, stamps.stamp_counts(requests, states, facts.provider))


def first_sent(requests: RequestTable, count: int) -> Ints:
    """Return the rows of the first `count` requests by sent start."""
    sent = np.flatnonzero(requests.sent_ns != UNKNOWN)
    if count <= 0 or not len(sent):
        return np.empty(0, dtype=np.int64)
    return sent[np.argsort(requests.sent_ns[sent], kind="stable")[:count]]


def times_ns(facts: Trace, picked: Picked) -> Times:
    """Return times in ns by figure (`added_ms`, `request_path_ms`, …), each with its reason where there is none."""
    requests, timed = facts.requests, picked.timed
    absent = stamps.missing(picked.counts)
    if facts.mode == "plain":
        legs = added_to_end(requests, timed)
        of_streams = [key for key in TIMES if METRICS[key].modes == ("stream",)]
        found: dict[TimeKey, Ints | Absent] = {
            "added_ms": legs.added_ns,
            **_legs(legs.request_path_ns, legs.response_path_ns),
            **dict.fromkeys(of_streams, NOT_A_STREAM),
        }
    else:
        first = added_to_first(requests, timed)
        found = {
            "added_ms": ONE_NUMBER,
            "added_first_ms": first.added_ns,
            **_legs(first.request_path_ns, first.response_path_ns),
            "ttft_ms": _ttft(requests, picked),
            **_event_times(facts, picked),
        }
    if absent is None:
        return found
    unaffected: tuple[TimeKey, ...] = ("ttft_ms", "gap_ms")
    return {
        key: values if key in unaffected or isinstance(values, Absent) else absent for key, values in found.items()
    }


def _legs(request_path_ns: Ints, response_path_ns: Ints) -> dict[TimeKey, Ints | Absent]:
    return {"request_path_ms": request_path_ns, "response_path_ms": response_path_ns}


def _ttft(requests: RequestTable, picked: Picked) -> Ints:
    # It needs no stamp, so a chain that destroys them still has it.
    rows = picked.selected & (requests.first_content_ns != UNKNOWN)
    ttft: Ints = requests.first_content_ns[rows] - requests.sent_ns[rows]
    return ttft


def _event_times(facts: Trace, picked: Picked) -> dict[TimeKey, Ints | Absent]:
    names: tuple[TimeKey, ...] = ("added_total_ms", *OF_CHUNKS)
    if facts.events is None:
        return dict.fromkeys(names, NO_EVENTS)
    mine = chunk_gaps.of_rows(facts.events, picked.selected)
    forwarding, distortion = chunk_gaps.forwarding_ns(mine), chunk_gaps.distortion_ns(mine)
    return {
        "added_total_ms": added_to_stream_end(facts.requests, mine, picked.timed, facts.answer.chunk_count),
        "gap_ms": _or(chunk_gaps.gaps_ns(mine), ONE_EVENT),
        "forwarding_ms": _or(forwarding, NO_STAMPS if len(mine) else NO_ROW),
        "gap_distortion_ms": _or(distortion, ONE_EVENT if len(forwarding) else NO_STAMPS),
    }


def _or(values: Ints, absent: Absent) -> Ints | Absent:
    return values if len(values) else absent


def _timing(key: TimeKey, values: Ints | Absent, lost: LeftOut) -> TimingOrAbsent:
    if isinstance(values, Absent):
        return values
    if not len(values) and lost.left_out_ratio < 1:
        return NO_ROW
    # Of gaps and chunks there are many a request.
    is_companion = lost.is_companion and key not in OF_CHUNKS
    return limited(timing(values / 1e9), lost.left_out_ratio, is_companion=is_companion)


def _share(part: Mask, whole: Mask) -> float:
    count = int(np.count_nonzero(whole))
    return int(np.count_nonzero(part)) / count if count else 0.0


def _stream_fields(facts: Trace, picked: Picked) -> Values:
    if facts.mode == "plain":
        return {"fidelity": _plain_fidelity(facts, picked)}
    done = _end_marker(facts.requests)
    if facts.events is None:
        return {"end_marker_ratio": done}
    every = chunk_gaps.of_rows(facts.events, _readable(facts.requests))
    bunching = buffering.bunching(chunk_gaps.of_rows(facts.events, picked.selected))
    return {
        "end_marker_ratio": done,
        "bunching": bunching,
        "coalesced_ratio": _coalesced(bunching),
        "buffering": buffering.verdict(bunching, None) if isinstance(bunching, Bunching) else None,
        "stall_count": _stalls(facts.requests, every),
        "fidelity": _stream_fidelity(facts, every),
    }


def _coalesced(bunching: Bunching | Absent) -> Figure | Absent:
    return bunching if isinstance(bunching, Absent) else Figure(value=buffering.coalesced_ratio(bunching))


def _stalls(requests: RequestTable, every: EventTable) -> Figure:
    # A stream that began and then never went on stalled too; it has no later event to tell it by.
    hung = (requests.outcome == IDLE_STALL) & (requests.content_count > 0)
    return Figure(value=float(chunk_gaps.stall_count(every) + np.count_nonzero(hung)))


def _plain_fidelity(facts: Trace, picked: Picked) -> Fidelity | Absent:
    if picked.good.any() and not picked.counts.whole_count:
        return NO_STAMPS
    return _or_no_row(fidelity.plain_fidelity(facts.requests, _readable(facts.requests), picked.states))


def _stream_fidelity(facts: Trace, every: EventTable) -> Fidelity | Absent:
    if len(every) and (every.sequence == UNKNOWN).all():
        return NO_STAMPS
    chunks = fidelity.check_chunks(every, len(facts.requests), facts.answer.chunk_count)
    rows = _readable(facts.requests)
    return _or_no_row(fidelity.stream_fidelity(facts.requests, rows, chunks, facts.answer.chunk_count))


def _readable(requests: RequestTable) -> Mask:
    """Return the good responses, and those with a 2xx that are bad for what they say alone."""
    successful = (requests.status >= 200) & (requests.status < 300)
    readable: Mask = stamps.good_requests(requests) | (successful & np.isin(requests.outcome, fidelity.UNREADABLE))
    return readable


def _or_no_row(found: Fidelity) -> Fidelity | Absent:
    return found if found.answer_count else NO_ROW


def _end_marker(requests: RequestTable) -> Figure | Absent:
    """Return the share of the streams that began well and ended with `[DONE]`, whatever the probe calls the others.

    Streams that were under way when the window was cut have no outcome: how they would have ended is not known.
    """
    begun = (requests.status >= 200) & (requests.status < 300) & (requests.content_count > 0)
    begun &= requests.outcome != UNKNOWN
    total = int(np.count_nonzero(begun))
    if not total:
        return NO_ROW
    return Figure(value=int(np.count_nonzero(requests.done_seen[begun] > 0)) / total)
