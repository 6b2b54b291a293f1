"""Figures of one run: what is left out, which clock counts, and what rates are taken from."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.judge_examples import (
    clients_load,
    closed_loop,
    cut_at,
    open_loop,
    rate_load,
    table,
    window,
    with_client,
)
from weighbridge.judge.figures.in_flight import in_flight_max
from weighbridge.judge.figures.run_figures import run_figures, send_rate_error
from weighbridge.record.figures import Absent, Timing
from weighbridge.record.load_report import Percentiles
from weighbridge.record.samples import empty


def test_the_first_request_of_each_connection_is_in_no_timing() -> None:
    """With 32 connections the 32 slow first requests by start move no percentile, and their number is told."""
    load = rate_load(50, 200)
    service = np.full(load.window_count, 0.02)
    service[:32] = 0.5
    found = run_figures(window(load, open_loop(load, service)))
    assert (found.trimmed_count, found.request_count) == (32, 200)
    assert isinstance(found.service_ms, Timing)
    assert found.service_ms.mean == pytest.approx(20.0)


def test_the_first_by_start_are_left_out_not_the_first_by_row() -> None:
    """Rows in order of completion are trimmed by sent start all the same."""
    load = rate_load(50, 200)
    service = np.full(load.window_count, 0.02)
    service[:32] = 0.5
    samples = open_loop(load, service)
    shuffled = samples.where(np.random.default_rng(1).permutation(len(samples)))
    found = run_figures(window(load, shuffled))
    assert isinstance(found.service_ms, Timing)
    assert found.service_ms.mean == pytest.approx(20.0)


def test_fewer_rows_than_connections_leave_no_timing() -> None:
    """When every request opened a connection there is no figure, rather than one of connects."""
    load = rate_load(50, 200)
    samples = open_loop(load, 0.02).where(np.arange(20))
    found = run_figures(window(load, samples))
    assert (found.trimmed_count, found.request_count) == (20, 0)
    assert isinstance(found.response_ms, Absent)


def test_response_counts_from_the_schedule_and_service_from_the_start() -> None:
    """A pacer that is 3 ms late adds 3 ms to response times, none to service times, and shows as lateness."""
    load = rate_load(50, 200)
    found = run_figures(window(load, open_loop(load, 0.02, pacer_s=0.003)))
    for name, expected in (("response_ms", 23.0), ("service_ms", 20.0), ("release_lateness_ms", 3.0)):
        timing = getattr(found, name)
        assert isinstance(timing, Timing)
        assert timing.p50 == pytest.approx(expected, abs=1e-6)
    assert isinstance(found.dispatch_lag_ms, Timing)
    assert found.dispatch_lag_ms.p50 == pytest.approx(0.0, abs=1e-6)


def test_waiting_for_a_connection_is_in_the_response_time() -> None:
    """Two connections for 150/s of 20 ms answers: the queue at the client shows in response, not in service."""
    load = rate_load(150, 300, connections=2)
    found = run_figures(window(load, open_loop(load, 0.02)))
    assert isinstance(found.response_ms, Timing)
    assert isinstance(found.service_ms, Timing)
    assert found.service_ms.p50 == pytest.approx(20.0)
    assert (found.response_ms.p50 or 0) > 200


def test_clients_have_no_schedule_so_response_is_service() -> None:
    """In a closed loop both names carry the same figure and the generator has no lag."""
    load = clients_load(10, 1000)
    found = run_figures(window(load, closed_loop(load, 0.02)))
    assert found.response_ms == found.service_ms
    assert isinstance(found.dispatch_lag_ms, Absent)
    assert found.offered_rps is None


@pytest.mark.parametrize("clients", [1, 10, 50])
def test_achieved_of_clients_that_answer_in_rounds_is_clients_by_service_time(clients: int) -> None:
    """N clients with 20 ms responses achieve N ÷ 20 ms; the first round, which ends at one instant, adds nothing."""
    load = clients_load(clients, 1000)
    found = run_figures(window(load, closed_loop(load, 0.02)))
    assert found.known("achieved_rps") == pytest.approx(clients / 0.02, rel=0.002)
    assert found.achieved_from == "samples"


@given(st.integers(20, 300), st.integers(40, 400), st.floats(0.001, 0.5))
def test_a_lane_that_keeps_up_achieves_the_offered_rate(rate: int, count: int, service: float) -> None:
    """With enough connections and constant responses, achieved is offered, however long a response takes."""
    load = rate_load(rate, count, connections=256)
    found = run_figures(window(load, open_loop(load, service)))
    assert found.known("achieved_rps") == pytest.approx(rate, rel=1e-6)
    assert found.known("goodput_rps") == pytest.approx(rate, rel=1e-6)
    assert found.rate_error_ratio == pytest.approx(0.0, abs=1e-6)


def test_a_cut_run_takes_its_rate_from_the_totals_and_has_no_response_time() -> None:
    """What an interrupt leaves lacks those who waited longest: no response time, answered ÷ wall as the rate."""
    load = rate_load(150, 1500)
    samples = cut_at(open_loop(load, 1 / 66, servers=1), 20.0)
    found = run_figures(window(load, samples, cut=True, wall_s=20.0))
    assert found.achieved_from == "totals"
    assert found.known("achieved_rps") == pytest.approx(66, rel=0.01)
    assert isinstance(found.response_ms, Absent)
    assert found.response_ms.absent == "cut"


def test_a_cut_run_whose_report_has_no_wall_clock_takes_that_of_the_process() -> None:
    """Oha's CSV tells no wall clock: the process's own is used, and without it the ends of the samples."""
    load = rate_load(150, 1500)
    facts = window(load, cut_at(open_loop(load, 1 / 66, servers=1), 20.0), cut=True, wall_s=None)
    timed = run_figures(with_client(facts, wall_s=20.0))
    assert (timed.achieved_from, timed.known("achieved_rps")) == ("totals", pytest.approx(66, rel=0.01))
    untimed = run_figures(facts)
    assert (untimed.achieved_from, untimed.known("achieved_rps")) == ("samples", pytest.approx(66, rel=0.01))


def test_ends_rebuilt_from_the_schedule_never_open_more_than_the_connections() -> None:
    """Where an interrupt left only CSV, ends lie a pacer's lateness off; the maximum stays within the cap."""
    load = rate_load(150, 300, connections=4)
    samples = cut_at(open_loop(load, 0.05), 9.0)
    late = replace(samples, end_s=samples.end_s + 0.004)
    assert in_flight_max(late) == 5
    assert run_figures(window(load, late)).in_flight_max_count == 4


def test_goodput_leaves_out_errors_and_stumps_and_errors_have_no_time() -> None:
    """Of 1,000 responses 100 fast 500s and 50 stumps of bodies: goodput is 85 %, no fast error lowers the median."""
    load = clients_load(1, 999)
    samples = closed_loop(load, 0.02)
    status, size, end = samples.status.copy(), samples.received_bytes.copy(), samples.end_s.copy()
    status[100:200] = 500
    end[100:200] = samples.sent_s[100:200] + 0.001
    size[300:350] = 100
    found = run_figures(
        window(
            load,
            replace(samples, status=status, received_bytes=size, end_s=end),
            answered_by_status={"200": 900, "500": 100},
        )
    )
    assert found.known("goodput_rps") is not None
    assert found.known("achieved_rps") is not None
    assert found.known("goodput_rps") / found.known("achieved_rps") == pytest.approx(0.85)
    assert found.error_count == 150
    assert isinstance(found.service_ms, Timing)
    assert found.service_ms.mean == pytest.approx(20.0)


def test_a_failed_arrival_is_no_slower_generator() -> None:
    """Arrivals that failed (intended only) leave the send rate untouched."""
    load = rate_load(50, 200)
    samples = open_loop(load, 0.02)
    sent, end, outcome = samples.sent_s.copy(), samples.end_s.copy(), samples.outcome.copy()
    sent[50:100], end[50:100], outcome[50:100] = np.nan, np.nan, 1
    failed = replace(samples, sent_s=sent, end_s=end, outcome=outcome)
    assert send_rate_error(failed, 50.0) == pytest.approx(0.0, abs=1e-9)


def test_without_samples_the_report_speaks_with_the_same_rule_for_few_samples() -> None:
    """Totals and the tool's percentiles are used; a p99 of 250 is grey, lags are absent."""
    load = rate_load(50, 250)
    tool = Percentiles(p50=21.0, p95=25.0, p99=30.0, max=31.0, n=250)
    found = run_figures(window(load, None, response_ms=tool, first_byte_ms=tool, wall_s=5.0))
    assert isinstance(found.response_ms, Timing)
    assert found.response_ms.few_samples == {"p99": "248th of 250"}
    assert isinstance(found.service_ms, Absent)
    assert isinstance(found.dispatch_lag_ms, Absent)
    assert found.achieved_from == "totals"


def test_an_uncorrected_report_of_a_rate_has_no_response_time() -> None:
    """Durations that leave the queue out are service times, never response times."""
    load = rate_load(50, 250)
    tool = Percentiles(p50=21.0, p95=25.0, p99=30.0, max=31.0, n=250)
    found = run_figures(window(load, None, response_ms=tool, corrected="no"))
    assert isinstance(found.response_ms, Absent)
    assert isinstance(found.service_ms, Timing)


def test_a_report_without_any_answer_has_no_figure_and_no_zero() -> None:
    """Nothing completed: every timing and the rate are absent or null."""
    load = rate_load(50, 250)
    found = run_figures(window(load, empty(), answered_by_status={}, wall_s=0.0))
    assert found.known("achieved_rps") is None
    assert found.in_flight_max_count is None
    assert isinstance(found.response_ms, Absent)


@given(st.lists(st.tuples(st.integers(0, 50), st.integers(1, 20)), min_size=1, max_size=40))
def test_in_flight_maximum_is_what_counting_instant_by_instant_gives(spans: list[tuple[int, int]]) -> None:
    """The sweep agrees with counting who is open at every start; an end at a start is over."""
    sent = np.array([float(begin) for begin, _ in spans])
    end = np.array([float(begin + length) for begin, length in spans])
    counted = max(int(np.sum((sent <= at) & (at < end))) for at in sent)
    assert in_flight_max(table(sent, end)) == counted
