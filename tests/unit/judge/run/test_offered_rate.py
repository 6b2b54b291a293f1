"""Whether a rate was kept: never by jitter, always by a backlog; and whose fault a missed rate is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples.judge_examples import (
    client,
    clients_load,
    closed_loop,
    cut_at,
    inputs,
    open_loop,
    rate_load,
    window,
    window_of,
)
from weighbridge.judge.figures.backlog import backlog
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.run.offered_rate import RateCheck, check_rate
from weighbridge.judge.window import Window
from weighbridge.load.read import read_report
from weighbridge.matrix.loads import Load

CAPTURES = Path(__file__).resolve().parents[3] / "data" / "oha" / "1.16.0"


def check(facts: Window, doubled_rps: float | None = None) -> RateCheck:
    """Rate check with the achieved rate of the figures."""
    found = check_rate(facts, run_figures(facts).known("achieved_rps"), doubled_rps)
    assert found is not None
    return found


def test_one_slow_last_answer_in_a_short_window_is_no_backlog() -> None:
    """160 requests at 20/s, the last of 300 ms: one of them is unanswered at the end, and that is all."""
    load = rate_load(20, 128)
    service = np.full(160, 0.02)
    service[-1] = 0.3
    facts = window(load, open_loop(load, service))
    assert run_figures(facts).known("achieved_rps") == pytest.approx(20 * 159 / 160)
    found = check(facts)
    assert not found.missed
    assert not found.backlogged


def test_a_freeze_at_the_end_is_a_backlog_and_no_saturation() -> None:
    """A lane of 20 ms answers nothing in the last 400 ms of 1,500 requests at 50/s: 20 of them wait, and no more."""
    load = rate_load(50, 1468)
    samples = open_loop(load, 0.02)
    frozen = samples.end_s > 29.6
    facts = window(load, replace(samples, end_s=np.where(frozen, samples.end_s + 0.6, samples.end_s)))
    found = check(facts)
    assert (found.missed, found.backlogged) == (False, True)
    assert run_figures(facts).known("achieved_rps") == pytest.approx(50 * (1 - 20 / 1500), rel=0.002)


def test_long_answers_under_way_are_no_backlog() -> None:
    """Answers of two seconds leave 100 requests open at 50/s when the schedule ends, on a lane that adds nothing."""
    load = rate_load(50, 468, connections=200)
    facts = window(load, open_loop(load, 2.0))
    found = check(facts)
    assert (found.missed, found.backlogged) == (False, False)
    assert run_figures(facts).known("achieved_rps") == 50


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(20, 128), (50, 218), (50, 1500), (150, 1200), (300, 2400)]),
    st.integers(0, 10_000),
    st.sampled_from([0.1, 0.5, 1.0]),
    st.floats(0.0, 0.6),
)
def test_a_lane_that_keeps_up_is_never_called_saturated(
    shape: tuple[int, int], seed: int, sigma: float, freeze_s: float
) -> None:
    """Log-normal responses around 20 ms, a freeze of up to 0.6 s anywhere, a slow last answer: never `missed`."""
    rate, count = shape
    rng = np.random.default_rng(seed)
    load = rate_load(rate, count, connections=max(32, rate))
    service = 0.02 * np.exp(rng.normal(0, sigma, load.window_count))
    samples = open_loop(load, service)
    begin = float(rng.uniform(0, load.window_count / rate))
    frozen = (samples.end_s > begin) & (samples.end_s < begin + freeze_s)
    end = np.where(frozen, begin + freeze_s, samples.end_s)
    end[-1] += rng.uniform(0, 0.5)
    facts = window(load, type(samples)(**{**vars(samples), "end_s": end}))
    assert not check(facts).missed


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([(150, 66.0), (50, 20.0), (300, 250.0), (150, 140.0), (20, 15.0)]),
    st.floats(2.0, 30.0),
    st.integers(0, 10_000),
    st.sampled_from([0.0, 0.3]),
)
def test_a_lane_below_the_rate_is_always_called_saturated(
    shape: tuple[int, float], seconds: float, seed: int, sigma: float
) -> None:
    """A lane with a capacity well below the rate is found in windows from two seconds on, jitter or not."""
    rate, capacity = shape
    if rate * seconds * (1 - capacity / rate) < 12:
        return
    load = rate_load(rate, round(rate * seconds))
    noise = np.exp(np.random.default_rng(seed).normal(-(sigma**2) / 2, sigma, load.window_count))
    found = check(window(load, open_loop(load, noise / capacity, servers=1)))
    assert found.missed
    assert not found.generator_missed
    assert found.connections_limited is False


@pytest.mark.parametrize(("count", "capacity", "missed"), [(4500, 147.0, True), (4500, 149.5, False)])
def test_long_windows_resolve_two_per_cent(count: int, capacity: float, missed: bool) -> None:
    """In 30 s at 150/s a lane of 147/s (98 %) is saturated, one of 149.5/s (99.7 %) is not."""
    load = rate_load(150, count)
    facts = window(load, open_loop(load, 1 / capacity, servers=1))
    assert check(facts).missed is missed


def test_a_level_shift_is_no_backlog() -> None:
    """A lane that gets 30 ms slower half-way keeps its rate: later responses, no growing queue."""
    load = rate_load(20, 128)
    service = np.full(160, 0.02)
    service[80:] = 0.12
    assert not check(window(load, open_loop(load, service))).missed


def test_a_cut_run_missed_its_rate_and_one_that_went_silent_stopped() -> None:
    """Cut while it was serving: saturated. Cut long after its last answer: it had stopped answering."""
    load = rate_load(150, 1500)
    samples = open_loop(load, 1 / 66, servers=1)
    serving = check(window(load, cut_at(samples, 20.0), cut=True, wall_s=20.0))
    assert (serving.missed, serving.stopped, serving.connections_limited) == (True, False, False)
    silent = check(window(load, cut_at(samples, 3.0), cut=True, wall_s=20.0))
    assert silent.stopped
    assert check(window(load, None, cut=True, answered_count=0, wall_s=20.0)).stopped


def test_a_pacer_that_releases_too_slowly_is_the_generators_fault() -> None:
    """A lane of 20 ms responses and a generator that falls behind by 5 %: `generator_missed`."""
    load = rate_load(150, 1500)
    late = np.arange(load.window_count) / 150 * 0.05
    found = check(window(load, open_loop(load, 0.02, pacer_s=late)))
    assert (found.missed, found.generator_missed) == (True, True)


def test_a_slow_lane_behind_few_connections_is_limited_by_the_connections() -> None:
    """Two-second responses over 32 connections cannot exceed 16/s: the cap's fault, not the lane's."""
    load = rate_load(50, 600)
    found = check(window(load, open_loop(load, 2.0)))
    assert (found.missed, found.connections_full, found.connections_limited) == (True, True, True)


def test_a_lane_that_slows_down_as_connections_fill_is_the_limit_itself() -> None:
    """66/s of 150 with all 32 connections in use is saturated: one request alone takes 15 ms, not 485."""
    load = rate_load(150, 1500)
    found = check(window(load, open_loop(load, 1 / 66, servers=1)))
    assert (found.missed, found.connections_full, found.connections_limited) == (True, True, False)


@pytest.mark.parametrize(("doubled", "limited"), [(66.5, False), (90.0, True)])
def test_a_window_with_twice_the_connections_decides(doubled: float, limited: bool) -> None:
    """More than 3 % gained by doubling says connections; less says the lane, whatever one window looked like."""
    load = rate_load(150, 1500)
    facts = window(load, open_loop(load, 1 / 66, servers=1))
    assert check(facts, doubled).connections_limited is limited


def test_without_samples_the_totals_still_show_a_missed_rate_and_not_why() -> None:
    """66/s of 150 by totals is missed; whether connections were the limit cannot be told."""
    load = rate_load(150, 1500)
    found = check(window(load, None, wall_s=1532 / 66))
    assert (found.missed, found.connections_limited) == (True, None)
    assert not check(window(load, None, wall_s=1532 / 150 + 0.02)).missed


def test_clients_offer_no_rate() -> None:
    """A closed loop has nothing to miss."""
    load = clients_load(10, 100)
    assert check_rate(window(load, closed_loop(load, 0.02)), 500.0) is None


def test_the_backlog_of_a_steady_loss() -> None:
    """Delays that rise by 100 ms per second over 30 s at 30/s: 90 of 900 are unanswered, the last third 2 s later."""
    at = np.arange(900) / 30
    found = backlog(at, at + 0.02 + 0.1 * at, 30.0)
    assert found is not None
    assert found.unanswered_count == pytest.approx(900 * (1 - 1 / 1.1), abs=2)
    assert found.rise_s == pytest.approx(2.0, rel=0.01)
    assert found.is_saturated(30.0)
    assert backlog(at * np.nan, at, 30.0) is None
    assert backlog(at, at * np.nan, 30.0).unanswered_count == 900


def test_a_lane_that_stops_answering_did_not_fall_behind() -> None:
    """Of 160 requests the last 30 are never answered: a large backlog of failures, and no queue that grew."""
    at = np.arange(160) / 60
    done = np.where(np.arange(160) < 130, at + 0.02, np.nan)
    found = backlog(at, done, 60.0)
    assert found is not None
    assert (found.unanswered_count, found.is_large, found.is_saturated(60.0)) == (30, True, False)


@pytest.mark.parametrize(
    ("name", "load", "missed", "limited"),
    [
        ("healthy", rate_load(50, 134, 16), False, False),
        ("rate1000", rate_load(1000, 268, 32), False, False),
        ("saturated", rate_load(50, 92, 8), True, False),
        ("saturated-csv", rate_load(50, 92, 8), True, False),
        ("one-connection", rate_load(40, 39, 1), True, True),
    ],
)
def test_captures_of_real_oha_are_told_apart(name: str, load: Load, missed: bool, limited: bool) -> None:
    """Healthy runs (one of 0.3 s that achieved 98.8 %) kept their rate; 25 of 50/s did not; one connection limits."""
    suffix = "csv" if name.endswith("csv") else "json"
    reading = read_report(
        CAPTURES / f"{name}.{suffix}",
        argv=(CAPTURES / f"{name}.argv").read_text().splitlines(),
        samples=CAPTURES / f"{name}.db",
        tool_version="1.16.0",
    )
    found = check(window_of(client(load, reading.samples, report=reading.report)))
    assert (found.missed, found.connections_limited) == (missed, limited)


def test_a_backlog_alone_is_a_remark() -> None:
    """A lane that stands still for its last 20 requests of 332 leaves a backlog, and never fell behind before."""
    load = rate_load(50, 300)
    service = np.full(load.window_count, 0.02)
    assert "backlogged" not in judge_run(inputs(window(load, open_loop(load, service)))).flags
    service[-20:] = 2.0
    found = judge_run(inputs(window(load, open_loop(load, service))))
    assert (found.verdict, "backlogged" in found.flags) == ("valid", True)
