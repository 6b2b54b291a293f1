"""Streams: gaps, forwarding, stalls, coalescing, buffering verdicts and fidelity, each with its fault injected."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.judge_examples import code_of, inputs
from tests.examples.trace_examples import (
    MS,
    US,
    outcome,
    pick,
    plain,
    released,
    state,
    streams,
    tables,
    traced_window,
)
from weighbridge.judge.figures import buffering, chunk_gaps
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.inputs import Judgement
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.window import Window
from weighbridge.record.figures import Absent, Figure, Timing
from weighbridge.record.probe_counts import Bunching, Fidelity
from weighbridge.record.probe_tables import UNKNOWN, EventTable, no_late_turns
from weighbridge.record.run import RunFigures


def figures_of(given_streams: object) -> RunFigures:
    """Figures of a window with these streams."""
    return run_figures(traced_window(*tables(given_streams)))  # type: ignore[arg-type]


def judged(window: Window) -> Judgement:
    """Judgement of a faultless attempt around this window."""
    return judge_run(inputs(window, evidence=()))


def fidelity(figures: RunFigures) -> Fidelity:
    """Fidelity that must exist."""
    assert isinstance(figures.fidelity, Fidelity)
    return figures.fidelity


def p50(value: object) -> float:
    """Median that must exist."""
    assert isinstance(value, Timing), value
    assert value.p50 is not None
    return value.p50


def test_a_lane_that_passes_streams_through() -> None:
    """Chunks that are read 0.1 ms after they were sent: known delay, undistorted gaps, nothing coalesced."""
    found = figures_of(streams(40))

    assert p50(found.forwarding_ms) == pytest.approx(0.1)
    assert p50(found.gap_ms) == pytest.approx(5.0)
    assert p50(found.gap_distortion_ms) == pytest.approx(0.0)
    assert found.coalesced_ratio == Figure(value=0.0)
    assert found.buffering == "passed through"
    assert found.end_marker_ratio == Figure(value=1.0)
    assert fidelity(found).level == "events"
    assert judged(traced_window(*tables(streams(40)))).accepted


@pytest.mark.parametrize("by", [2, 4, 8])
def test_events_written_as_one_are_coalesced(by: int) -> None:
    """N events in each read are called coalesced, with (N − 1) ÷ N of the events, by read and not by parser."""
    found = figures_of(released(streams(40), by, one_read=True))

    assert found.buffering == "coalesced"
    assert isinstance(found.coalesced_ratio, Figure)
    assert found.coalesced_ratio.value == pytest.approx((by - 1) * (16 // by) / 15)
    assert isinstance(found.bunching, Bunching)
    assert found.bunching.buffered_gaps == pytest.approx(by - 1)
    assert found.bunching.period_ms == pytest.approx(5.0 * by)


def test_events_buffered_and_released_in_a_burst_are_windowed() -> None:
    """Bursts of eight events in reads of their own are windowed, with their period."""
    found = figures_of(released(streams(40), 8, one_read=False))

    assert found.buffering == "windowed"
    assert found.coalesced_ratio == Figure(value=0.0)
    assert isinstance(found.bunching, Bunching)
    assert found.bunching.period_ms == pytest.approx(40.0)


def test_long_windows_are_windowed_even_as_one_write() -> None:
    """Twenty chunks in one write hold the first for 19 gaps: windowed, not merely coalesced."""
    requests, found = tables(released(streams(40, 60), 20, one_read=True))
    made = buffering.bunching(found)

    assert isinstance(made, Bunching)
    assert buffering.verdict(made, None) == "windowed"
    assert len(requests) == 40


def test_a_sliding_window_shows_at_its_end() -> None:
    """A lane that looks three chunks ahead delays all by three gaps and lets the last four go at once: windowed."""
    plain_streams = streams(40)
    ahead = np.minimum(np.arange(16) + 3, 15)
    read_ns = plain_streams.read_ns[:, ahead] + np.where(np.arange(16) > 12, (np.arange(16) - 12) * 20 * US, 0)

    assert figures_of(replace(plain_streams, read_ns=read_ns)).buffering == "windowed"


def test_a_stream_buffered_to_its_end() -> None:
    """A stream that begins after the provider's end is held until complete, in one read or many."""
    assert figures_of(released(streams(40), 16, one_read=True)).buffering == "held until complete"
    assert figures_of(released(streams(40), 16, one_read=False)).buffering == "held until complete"


@pytest.mark.parametrize("pace", [1.0, 0.6])
def test_a_buffered_stream_is_buffered_however_it_is_released(pace: float) -> None:
    """A stream that begins behind the provider's last chunk was held, at the provider's pace or a faster one."""
    plain_streams = streams(40)
    begin_ns = plain_streams.send_ns[:, -1:] + MS
    read_ns = begin_ns + (pace * (plain_streams.send_ns - plain_streams.send_ns[:, :1])).astype(np.int64)

    assert figures_of(replace(plain_streams, read_ns=read_ns)).buffering == "held, then re-paced"


def test_a_delay_shorter_than_the_stream_is_not_buffering() -> None:
    """A constant delay that ends before the provider's last chunk, at the provider's own pace, is passed through."""
    assert figures_of(streams(40, delay_ns=70 * MS)).buffering == "passed through"


def test_natural_merging_is_the_baselines_not_the_gateways() -> None:
    """The same bunched share is coalesced against a clean baseline and passed through against one that merges too."""
    counts = Bunching(pair_count=1000, coalesced_count=50, bunched_count=50, stream_count=60, buffered_stream_count=0)
    clean = counts.model_copy(update={"coalesced_count": 0, "bunched_count": 0})

    assert buffering.verdict(counts, clean) == "coalesced"
    assert buffering.verdict(counts, counts) == "passed through"
    assert buffering.verdict(counts.model_copy(update={"bunched_count": 20}), clean) == "passed through"


def test_gaps_below_a_millisecond_are_not_judged() -> None:
    """Where the provider sends chunks 0.3 ms apart, merging is no one's doing: no share and no verdict."""
    found = figures_of(released(streams(40, gap_ns=300 * US), 4, one_read=True))

    assert isinstance(found.coalesced_ratio, Absent)
    assert found.buffering is None


def test_few_pairs_have_no_verdict() -> None:
    """Three streams of sixteen are too few to call a lane buffering."""
    assert figures_of(released(streams(3), 2, one_read=True)).buffering is None


def test_stalls_are_pairwise() -> None:
    """A pause of 60 ms at the reader is a stall; the same pause made by the provider is none."""
    late = streams(40)
    read_ns = late.read_ns.copy()
    read_ns[3, 8:] += 60 * MS
    paused = late.send_ns.copy()
    paused[3, 8:] += 60 * MS

    assert figures_of(replace(late, read_ns=read_ns)).stall_count == Figure(value=1.0)
    assert figures_of(replace(late, send_ns=paused, read_ns=paused + 100 * US)).stall_count == Figure(value=0.0)
    assert "stalls" in judged(traced_window(*tables(replace(late, read_ns=read_ns)))).flags


def test_a_late_provider_makes_no_stall_of_a_wait() -> None:
    """A chunk that the provider sent 4.9 ms late and the next one at once: 20 ms between reads is no stall there."""
    late = streams(40)
    sent, read_ns = late.send_ns.copy(), late.read_ns.copy()
    sent[:, 7] = sent[:, 8] - 100 * US
    read_ns[:, 8:] += 20 * MS

    assert figures_of(replace(late, send_ns=sent, read_ns=read_ns)).stall_count == Figure(value=0.0)


def test_a_stream_that_hangs_is_a_stall() -> None:
    """A stream that began and then never went on counts as stalled, although no later event shows it."""
    requests, found = tables(streams(40))
    requests.outcome[5] = outcome("idle_stall")

    assert run_figures(traced_window(requests, found)).stall_count == Figure(value=1.0)


def test_a_lost_chunk_is_an_error_although_the_status_is_200() -> None:
    """A stream without its third chunk: counted by name, an error of the gateway, the run rejected."""
    requests, found = tables(streams(40))
    window = traced_window(requests, pick(found, found.sequence != 2))
    requests.content_count[:] = 15
    figures = run_figures(window)

    assert fidelity(figures).level == "differs"
    assert fidelity(figures).missing_chunk_count == 40
    assert figures.error_count == 40
    assert (judged(window).accepted, code_of(judged(window))) == (False, "errors")


def test_repeated_and_reordered_chunks_are_told_by_name() -> None:
    """A chunk that comes twice, and two that change places, are two different findings."""
    requests, found = tables(streams(40))
    again = EventTable(*(np.insert(getattr(found, name), 5, getattr(found, name)[4]) for name in COLUMNS))
    swapped = found.sequence.copy()
    swapped[[20, 21]] = swapped[[21, 20]]

    repeated = fidelity(run_figures(traced_window(requests, again)))
    reordered = fidelity(run_figures(traced_window(requests, replace(found, sequence=swapped))))

    assert (repeated.repeated_chunk_count, repeated.missing_chunk_count) == (1, 0)
    assert (reordered.reordered_chunk_count, reordered.missing_chunk_count) == (1, 0)
    assert reordered.sequence_whole_count == 39


def test_a_bent_mark_is_damage_not_a_lost_chunk() -> None:
    """An event without a whole mark is flagged as changed; the run stays accepted."""
    requests, found = tables(streams(40))
    found.sequence[7], found.send_ns[7] = UNKNOWN, UNKNOWN
    window = traced_window(requests, found)

    assert fidelity(run_figures(window)).damaged_chunk_count == 1
    assert fidelity(run_figures(window)).missing_chunk_count == 0
    assert judged(window).accepted
    assert "responses_changed" in judged(window).flags


def test_merged_events_keep_their_text() -> None:
    """All chunks in order in half as many events is the same text in other events: flagged, no error."""
    requests, found = tables(released(streams(40), 2, one_read=True))
    requests.content_count[:] = 8
    window = traced_window(requests, found)

    assert fidelity(run_figures(window)).level == "text"
    assert judged(window).accepted
    assert "events_merged" in judged(window).flags


def test_chunk_marks_that_no_stream_keeps_are_no_inband() -> None:
    """A chain that destroys every chunk's mark: forwarding and fidelity absent, gaps as read still there."""
    requests, found = tables(streams(40))
    requests.stamp_state[:] = state("absent")
    nothing = np.full(len(found), UNKNOWN)
    figures = run_figures(traced_window(requests, replace(found, send_ns=nothing, sequence=nothing)))

    assert figures.forwarding_ms == Absent(absent="no_inband")
    assert figures.added_first_ms == Absent(absent="no_inband")
    assert figures.fidelity == Absent(absent="no_inband")
    assert p50(figures.gap_ms) == pytest.approx(5.0)
    assert p50(figures.ttft_ms) == pytest.approx(20.18)


def test_streams_without_an_end_marker_are_errors() -> None:
    """A stream that never says [DONE] shows in the end-marker share and rejects the run."""
    requests, found = tables(streams(40))
    requests.done_seen[:10] = 0
    window = traced_window(requests, found)

    assert run_figures(window).end_marker_ratio == Figure(value=0.75)
    assert code_of(judged(window)) == "errors"


def test_streams_that_we_cut_off_are_no_errors() -> None:
    """A stream under way as the window was cut has no outcome and says nothing of the lane's end markers."""
    requests, found = tables(streams(40))
    requests.done_seen[-5:] = 0
    requests.end_ns[-5:] = UNKNOWN
    requests.outcome[-5:] = UNKNOWN

    assert run_figures(traced_window(requests, found)).end_marker_ratio == Figure(value=1.0)


def test_answers_that_cannot_be_read_are_in_the_fidelity() -> None:
    """A 200 whose JSON is an error counts against the JSON of the lane."""
    requests = plain(300)
    requests.outcome[:3] = outcome("json_error")

    assert fidelity(run_figures(traced_window(requests))).json_whole_count == 297


def test_events_in_any_order_of_requests_give_the_same_figures() -> None:
    """The event table may hold the streams interleaved, as they were read."""
    requests, found = tables(streams(40))
    order = np.argsort(found.read_ns + found.row, kind="stable")

    assert run_figures(traced_window(requests, pick(found, order))) == run_figures(traced_window(requests, found))


@given(st.lists(st.integers(0, 50 * MS), min_size=16, max_size=16))
def test_pairwise_distortion_bounds_the_difference_of_forwarding(delays: list[int]) -> None:
    """Each distortion is the change of the forwarding delay from one event to the next, without its sign."""
    delay = np.maximum.accumulate(np.array(delays) + np.arange(16) * 5 * MS) - np.arange(16) * 5 * MS
    _, found = tables(streams(2, delay_ns=delay))

    expected = np.tile(np.abs(np.diff(delay)), 2)
    assert (chunk_gaps.distortion(found, no_late_turns()).ns == expected).all()
    assert (chunk_gaps.forwarding(found, no_late_turns()).ns == np.tile(delay, 2)).all()


COLUMNS = ("row", "read_ns", "send_ns", "sequence", "read")
