"""What the probe saw becomes figures: added time by its two brackets, legs, and stamps that are told apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.judge_examples import answered_count, code_of, inputs, with_client
from tests.examples.judge_examples import counts as make_counts
from tests.examples.trace_examples import (
    EPOCH_NS,
    MS,
    US,
    outcome,
    plain,
    provider_rows,
    released,
    state,
    streams,
    tables,
    traced_window,
)
from weighbridge.errors import StoreError
from weighbridge.judge.figures.added import added_to_end, added_to_first
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.figures.stamps import stamp_states
from weighbridge.judge.inputs import Judgement
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.window import Window
from weighbridge.record.figures import Absent, Timing
from weighbridge.record.probe_tables import UNKNOWN, RequestTable
from weighbridge.record.provider_rows import read_provider_rows
from weighbridge.record.run import RunFigures

LEGS = st.lists(
    st.tuples(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**10)), min_size=1, max_size=40
)


def timing(value: object) -> Timing:
    """A timing that must exist."""
    assert isinstance(value, Timing), value
    return value


def states_of(requests: RequestTable, **changes: object) -> list[str]:
    """Names of the stamp states of a table."""
    names = ("whole", "absent", "damaged", "stale", "repeated", "unknown")
    return [names[code] for code in stamp_states(requests, **changes)]  # type: ignore[arg-type]


@given(LEGS)
def test_added_time_is_its_two_legs_whatever_the_provider_took(legs: list[tuple[int, int, int]]) -> None:
    """Row by row, added time is request path plus response path, and no residence of the provider moves it."""
    request_path, response_path, residence = (np.array(column, dtype=np.int64) for column in zip(*legs, strict=True))
    requests = plain(len(legs), request_path, response_path, residence_ns=residence)

    found = added_to_end(requests, np.ones(len(legs), dtype=bool))

    assert (found.added_ns == request_path + response_path).all()
    assert (found.request_path_ns == request_path).all()
    assert (found.response_path_ns == response_path).all()


@given(LEGS, st.integers(-(10**12), 10**12))
def test_added_time_needs_no_common_clock(legs: list[tuple[int, int, int]], skew_ns: int) -> None:
    """A provider whose clock is off by any amount gives the same added time; only the legs move."""
    request_path, response_path, residence = (np.array(column, dtype=np.int64) for column in zip(*legs, strict=True))
    requests = plain(len(legs), request_path, response_path, residence_ns=residence)
    skewed = replace(requests, recv_ns=requests.recv_ns + skew_ns, send_ns=requests.send_ns + skew_ns)
    rows = np.ones(len(legs), dtype=bool)

    assert (added_to_end(skewed, rows).added_ns == added_to_end(requests, rows).added_ns).all()


def test_a_plain_window_has_added_time_and_no_stream_figures() -> None:
    """1,000 responses with known legs give those legs; stream figures say why they are absent."""
    found = run_figures(traced_window(plain(1000, np.arange(1000) * US, 60 * US)))

    assert timing(found.added_ms).p50 == pytest.approx(0.559)
    assert timing(found.added_ms).p99 == pytest.approx(1.049)
    assert timing(found.request_path_ms).p50 == pytest.approx(0.499)
    assert timing(found.response_path_ms).p50 == pytest.approx(0.060)
    assert isinstance(found.added_first_ms, Absent)
    assert isinstance(found.gap_ms, Absent)


def test_a_stream_has_two_added_times_and_never_one() -> None:
    """First content and end differ by what the last chunk was late; the plain figure says why it is absent."""
    delay = np.full(16, 100 * US)
    delay[-1] = 900 * US
    found = run_figures(traced_window(*tables(streams(300, delay_ns=delay))))

    assert isinstance(found.added_ms, Absent)
    assert found.added_ms.absent == "two_added_times"
    assert timing(found.added_first_ms).p50 == pytest.approx(0.180)
    assert timing(found.added_total_ms).p50 == pytest.approx(0.990)
    assert timing(found.ttft_ms).p50 == pytest.approx(20.180)


def test_a_providers_own_stall_is_not_charged_to_the_end_of_a_stream() -> None:
    """When the provider pauses 300 ms before its last chunk, the added time to the end does not move."""
    given_streams = streams(300)
    late = given_streams.send_ns.copy()
    late[:, -1] += 300 * MS
    found = run_figures(traced_window(*tables(replace(given_streams, send_ns=late, read_ns=late + 100 * US))))

    assert timing(found.added_total_ms).p50 == pytest.approx(0.190)
    assert found.stall_count.value == 0


def test_first_requests_are_left_out() -> None:
    """The first C by sent start are in no time."""
    request_path = np.full(1100, 80 * US)
    request_path[:100] = 50 * MS

    found = run_figures(traced_window(plain(1100, request_path), trim_count=100))

    assert timing(found.added_ms).n == 1000
    assert timing(found.added_ms).p99 == pytest.approx(0.140)


def test_failed_answers_have_no_added_time() -> None:
    """A 500 that came fast is in no percentile of the added time."""
    requests = plain(400, np.where(np.arange(400) < 300, 3 * MS, 10 * US))
    requests.status[300:] = 500
    requests.outcome[300:] = outcome("http_error")

    found = run_figures(traced_window(requests))

    assert timing(found.added_ms).n == 300
    assert timing(found.added_ms).p50 == pytest.approx(3.06)


def test_stamps_are_told_apart() -> None:
    """Whole, absent, damaged, stale, repeated and unknown stamps each have their own name."""
    requests = plain(7)
    requests.stamp_state[1] = state("absent")
    requests.stamp_state[2] = state("damaged")
    requests.recv_ns[3], requests.send_ns[3] = EPOCH_NS - 500 * MS, EPOCH_NS - 480 * MS
    requests.recv_ns[4], requests.send_ns[4] = requests.recv_ns[0], requests.send_ns[0]
    requests.sent_ns[4] = requests.sent_ns[0]
    provider = provider_rows(requests)
    requests.recv_ns[5] += 1

    assert states_of(requests, provider=provider) == [
        *("whole", "absent", "damaged", "stale"),
        *("repeated", "unknown", "whole"),
    ]


def test_times_that_cannot_be_are_damage() -> None:
    """A stamp that was sent before it was received, or has no times, is damaged whatever the probe calls it."""
    requests = plain(3)
    requests.send_ns[0] = requests.recv_ns[0] - 1
    requests.recv_ns[1] = UNKNOWN

    assert states_of(requests) == ["damaged", "damaged", "whole"]


def test_without_stamps_the_figure_is_absent() -> None:
    """A chain that destroys every stamp makes the added time `no_inband`, and the run stays accepted."""
    requests = plain(300)
    requests.stamp_state[:] = state("absent")
    judged, figures = judge(traced_window(requests))

    assert figures.added_ms == Absent(absent="no_inband")
    assert figures.fidelity == Absent(absent="no_inband")
    assert judged.accepted
    assert "no_inband" in judged.flags


def test_a_selection_of_stamped_answers_is_no_figure() -> None:
    """With 2 % of the stamps gone the rest is a selection and the figure absent; with 0.5 % it stands, flagged."""
    many, few = plain(1000), plain(1000)
    many.stamp_state[:20] = state("damaged")
    few.stamp_state[:5] = state("damaged")

    assert run_figures(traced_window(many)).added_ms == Absent(
        absent="no_inband", detail="980 of 1000 responses have their stamp"
    )
    judged, figures = judge(traced_window(few))
    assert timing(figures.added_ms).n == 995
    assert "stamps_lost" in judged.flags


@pytest.mark.parametrize("kind", ["stale", "repeated"])
def test_one_answer_out_of_a_cache_voids_the_run(kind: str) -> None:
    """One stamp that is older than its request, or that an earlier request had, rejects the run as a cache hit."""
    requests = plain(300)
    source = requests if kind == "repeated" else plain(300, 80 * US)
    requests.recv_ns[7], requests.send_ns[7] = source.recv_ns[3], source.send_ns[3] - (kind == "stale")

    judged, _ = judge(traced_window(requests))

    assert (judged.accepted, code_of(judged)) == (False, "cache_hit")


def test_a_retry_is_told_by_the_providers_records() -> None:
    """A reference that the provider saw twice is a retry: flagged, counted, and no mismatch of counts."""
    requests = plain(300)
    rows = provider_rows(requests)
    twice = replace(
        rows,
        reference=np.append(rows.reference, rows.reference[:2]),
        recv_ns=np.append(rows.recv_ns, rows.recv_ns[:2] - 5),
        send_ns=np.append(rows.send_ns, rows.send_ns[:2] - 5),
    )

    judged, figures = judge(traced_window(requests, provider=twice), provider_request_count=302)

    assert figures.stamps.retry_count == 2
    assert judged.accepted
    assert "retried" in judged.flags


def test_a_cut_window_has_no_added_time() -> None:
    """Of a window that was cut those who waited longest are missing, so no added time is told."""
    assert isinstance(run_figures(traced_window(plain(300), cut=True)).added_ms, Absent)


def test_windows_without_a_probe_read_as_before() -> None:
    """Without a request trace every such figure is `not_measured`."""
    found = run_figures(with_client(traced_window(plain(300)), trace=None))

    assert found.added_ms == Absent(absent="not_measured")
    assert found.stamps == Absent(absent="not_measured")


def test_old_records_still_read() -> None:
    """Figures written before these fields existed read, with the fields absent."""
    new = run_figures(traced_window(plain(300))).model_dump(mode="json")
    old = {name: value for name, value in new.items() if name in OLD_FIELDS}

    read = RunFigures.model_validate(old, strict=False)

    assert read.added_ms == Absent(absent="not_measured")
    assert len(old) == len(OLD_FIELDS)


def test_first_content_of_a_buffered_stream_is_late_by_the_delay() -> None:
    """A gateway that holds the stream shows it in the added time to the first content, not to the end."""
    found = run_figures(traced_window(*tables(released(streams(300), 16, one_read=True))))

    assert timing(found.added_first_ms).p50 == pytest.approx(75.18)
    assert timing(found.added_total_ms).p50 == pytest.approx(0.19)


def test_provider_rows_read_signed_references() -> None:
    """References are signed 64-bit numbers, as the probe's; rows without one stay."""
    text = b"reference,recv_ns,send_ns,end_ns,mode,outcome\n" + b"p" * 16 + b",5,9,,plain,answered\n,6,,,plain,open\n"

    rows = read_provider_rows(text, origin="provider.csv")

    assert rows.reference.tolist() == [-1, UNKNOWN]
    assert rows.send_ns.tolist() == [9, UNKNOWN]


@pytest.mark.parametrize(
    "text", [b"a,b\n1,2\n", b"reference,recv_ns,send_ns\nzzzz,1,2\n", b"reference,recv_ns\nab,1\n"]
)
def test_damaged_provider_rows_are_refused(text: bytes) -> None:
    """What is not the provider's record is refused with its name."""
    with pytest.raises(StoreError, match=r"provider\.csv"):
        read_provider_rows(text, origin="provider.csv")


def test_streams_take_their_first_chunk_alone() -> None:
    """The added time of a stream to its first content uses the first chunk's send, whatever later chunks do."""
    requests, _ = tables(streams(10, delay_ns=np.r_[250 * US, np.full(15, 9 * MS)]))

    assert set(added_to_first(requests, np.ones(10, dtype=bool)).added_ns.tolist()) == {330 * US}


def judge(window: Window, **counts: int) -> tuple[Judgement, RunFigures]:
    """Judgement of a faultless attempt around this window, with its figures."""
    made = inputs(window, evidence=(), counts=make_counts(answered_count(window), **counts))
    assert made.figures is not None
    return judge_run(made), made.figures


OLD_FIELDS = (
    *("offered_rps", "achieved_rps", "achieved_from", "goodput_rps", "trimmed_count", "request_count"),
    *("error_count", "in_flight_max_count", "response_ms", "service_ms", "ttfb_ms", "dispatch_lag_ms"),
    *("release_lateness_ms", "rate_error_ratio"),
)
