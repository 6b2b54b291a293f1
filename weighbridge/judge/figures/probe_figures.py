"""Figures of one run from the request trace of the probe: added time, legs, streams, stamps.

The rows behind a time are responses with a 2xx that the probe calls good, whose stamp is whole, without the first
by sent start (warm-up and connections, as for every driver); nothing else is left out. What late turns of the
probe's own loop may have done to a time stands beside it as bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from weighbridge import quantiles
from weighbridge.judge.figures import buffering, chunk_gaps, fidelity, lateness, stamps
from weighbridge.judge.figures.added import Legs, added_to_end, added_to_first, added_to_stream_end
from weighbridge.judge.figures.connections import connection_figures
from weighbridge.judge.figures.lateness import BoundedTimes
from weighbridge.judge.figures.row_masks import Mask
from weighbridge.judge.figures.usage import usage_counts
from weighbridge.judge.stats.drift import first_and_last_third
from weighbridge.judge.stats.timing import SHARES, timing, without
from weighbridge.judge.window import Trace, Window
from weighbridge.record.arrays import Ints
from weighbridge.record.figures import Absent, Figure, Timing, TimingOrAbsent
from weighbridge.record.measured import Values
from weighbridge.record.metrics import METRICS, TimeKey
from weighbridge.record.probe_counts import Bunching, Fidelity, StampCounts, UsageCounts
from weighbridge.record.probe_tables import OUTCOMES, UNKNOWN, EventTable, RequestTable

CUT = Absent(absent="cut")
NO_CHUNKS_KEPT = Absent(absent="no_chunks_kept")
NOT_A_STREAM = Absent(absent="not_a_stream")
ONE_NUMBER = Absent(absent="two_added_times")
ONE_EVENT = Absent(absent="one_event")
NO_ROW = Absent(absent="no_good_response")
NO_THIRDS = Absent(absent="few_for_thirds")
NO_STAMPS = Absent(absent="no_inband")
TRACE_TIMES: tuple[TimeKey, ...] = (
    *("added_ms", "added_first_ms", "added_total_ms", "request_path_ms", "response_path_ms"),
    *("ttft_ms", "gap_ms", "forwarding_ms", "gap_distortion_ms"),
)
OF_CHUNKS: tuple[TimeKey, ...] = ("gap_ms", "forwarding_ms", "gap_distortion_ms")
IDLE_STALL = OUTCOMES.index("idle_stall")

# Times of one run by figure, or why there is none.
TimesOrAbsent = Mapping[TimeKey, BoundedTimes | Absent]


@dataclass(frozen=True)
class Picked:
    """Rows: `good` responses, `selected` ones behind times that need no stamp, `timed` ones behind those that do."""

    good: Mask
    selected: Mask
    timed: Mask
    states: stamps.States
    counts: StampCounts


def trace_figures(window: Window) -> Values:
    """Return what a probe saw; for a window that no probe saw nothing, or why it did not where it should."""
    facts = window.trace
    if facts is None:
        why = window.load.no_companion
        return {} if why is None else dict.fromkeys(TRACE_TIMES, Absent(absent="no_companion", detail=why))
    picked = pick_rows(facts)
    found = probe_times(facts, picked)
    if window.lead.cut:
        found = dict.fromkeys(found, CUT)
    is_companion = not window.lead.sees_stamps
    return {
        **{key: _timing(key, values, is_companion=is_companion) for key, values in found.items()},
        **_drift(found["added_ms" if facts.mode == "plain" else "added_first_ms"]),
        **_stream_fields(facts, picked),
        **connection_figures(facts.requests),
        "stamps": picked.counts,
        "usage": _usage(facts, picked),
        "late_turn_count": len(facts.late_turns),
        "late_response_count": late_response_count(facts, picked.good),
    }


def _usage(facts: Trace, picked: Picked) -> UsageCounts | Absent:
    found = None if facts.provider is None else usage_counts(facts.requests, picked.good, facts.provider)
    return NO_ROW if found is None else found


def late_response_count(facts: Trace, good: Mask) -> int:
    """Count the good responses that have an instant of their own in a late turn of the probe's loop."""
    rows = facts.requests
    is_late = lateness.touched(facts.late_turns, rows.sent_ns, rows.first_content_ns, rows.end_ns)
    return int(np.count_nonzero(good & is_late))


def _drift(added: BoundedTimes | Absent) -> Values:
    """Return what the first and the last third of the added times show; `added` in the order of their start."""
    found = None if isinstance(added, Absent) else first_and_last_third(added.ns / 1e6)
    if found is None:
        why = added if isinstance(added, Absent) else NO_THIRDS
        return {"drift_first_ms": why, "drift_last_ms": why}
    return {
        "drift_first_ms": Figure(value=found.first_ms),
        "drift_last_ms": Figure(value=found.last_ms),
        "drift_t": found.t,
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
    kept = good.copy()
    kept[first_sent(requests, facts.trim_count)] = False
    timed = kept & (states == stamps.WHOLE)
    return Picked(good, kept, timed, states, stamps.stamp_counts(requests, states, facts.provider))


def first_sent(requests: RequestTable, count: int) -> Ints:
    """Return the rows of the first `count` requests by sent start."""
    sent = np.flatnonzero(requests.sent_ns != UNKNOWN)
    if count <= 0 or not len(sent):
        return np.empty(0, dtype=np.int64)
    return sent[np.argsort(requests.sent_ns[sent], kind="stable")[:count]]


def probe_times(facts: Trace, picked: Picked) -> TimesOrAbsent:
    """Return times by figure (`added_ms`, `request_path_ms`, …), each with its reason where there is none."""
    requests, timed = facts.requests, picked.timed
    absent = stamps.missing(picked.counts)
    found: dict[TimeKey, BoundedTimes | Absent]
    if facts.mode == "plain":
        of_streams = [key for key in TRACE_TIMES if METRICS[key].modes == ("stream",)]
        found = {
            **_legs(facts, "added_ms", added_to_end(requests, timed), requests.end_ns),
            **dict.fromkeys(of_streams, NOT_A_STREAM),
        }
    else:
        found = {
            "added_ms": ONE_NUMBER,
            **_legs(facts, "added_first_ms", added_to_first(requests, timed), requests.first_content_ns),
            "ttft_ms": _ttft(facts, picked),
            **_event_times(facts, picked),
        }
    if absent is None:
        return found
    unaffected: tuple[TimeKey, ...] = ("ttft_ms", "gap_ms")
    return {
        key: values if key in unaffected or isinstance(values, Absent) else absent for key, values in found.items()
    }


def _legs(facts: Trace, key: TimeKey, found: Legs, until_ns: Ints) -> dict[TimeKey, BoundedTimes | Absent]:
    turns, sent_ns, read_ns = facts.late_turns, facts.requests.sent_ns[found.rows], until_ns[found.rows]
    return {
        key: lateness.times(found.added_ns, turns, sent_ns, read_ns),
        "request_path_ms": lateness.times(found.request_path_ns, turns, sent_ns),
        "response_path_ms": lateness.times(found.response_path_ns, turns, read_ns),
    }


def _ttft(facts: Trace, picked: Picked) -> BoundedTimes:
    # It needs no stamp, so a chain that destroys them still has it.
    requests = facts.requests
    rows = picked.selected & (requests.first_content_ns != UNKNOWN)
    sent_ns, first_ns = requests.sent_ns[rows], requests.first_content_ns[rows]
    return lateness.times(first_ns - sent_ns, facts.late_turns, sent_ns, first_ns)


def _event_times(facts: Trace, picked: Picked) -> dict[TimeKey, BoundedTimes | Absent]:
    names: tuple[TimeKey, ...] = ("added_total_ms", *OF_CHUNKS)
    if facts.events is None:
        return dict.fromkeys(names, NO_CHUNKS_KEPT)
    requests, turns = facts.requests, facts.late_turns
    mine = chunk_gaps.of_rows(facts.events, picked.selected)
    forwarding, distortion = chunk_gaps.forwarding(mine, turns), chunk_gaps.distortion(mine, turns)
    ended = added_to_stream_end(requests, mine, picked.timed, facts.answer.chunk_count)
    return {
        "added_total_ms": lateness.times(
            ended.added_ns, turns, requests.sent_ns[ended.rows], requests.end_ns[ended.rows]
        ),
        "gap_ms": _or(chunk_gaps.gaps(mine, turns), ONE_EVENT),
        "forwarding_ms": _or(forwarding, NO_STAMPS if len(mine) else NO_ROW),
        "gap_distortion_ms": _or(distortion, ONE_EVENT if len(forwarding) else NO_STAMPS),
    }


def _or(values: BoundedTimes, absent: Absent) -> BoundedTimes | Absent:
    return values if len(values) else absent


def _timing(key: TimeKey, values: BoundedTimes | Absent, *, is_companion: bool) -> TimingOrAbsent:
    if isinstance(values, Absent):
        return values
    if not len(values):
        return NO_ROW
    made = timing(values.ns / 1e9, (values.least_ns / 1e9, values.most_ns / 1e9))
    # Of gaps and chunks there are many a request.
    return _beside_driver(made) if is_companion and key not in OF_CHUNKS else made


def _beside_driver(made: Timing) -> Timing:
    """Leave a p99 of fewer than 1,000 samples to a run that the probe drives."""
    if made.p99 is None or made.n >= quantiles.needed(SHARES["p99"]):
        return made
    text = f"the probe beside the driver has {made.n} samples: p99 comes from a run that it drives"
    return without(made, {"p99": Absent(absent="few_beside_driver", detail=text)})


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
