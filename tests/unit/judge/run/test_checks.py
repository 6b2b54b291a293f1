"""Arithmetic checks: each must pass on sound figures and catch its injected fault."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from tests.examples.judge_examples import clients_load, closed_loop, counts, inputs, report, window
from tests.examples.trace_examples import plain, traced_window
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.run import checks
from weighbridge.record.figures import Absent, Timing
from weighbridge.record.run import Resources

Draw = Callable[[np.random.Generator, int], npt.NDArray[np.float64]]
# Times of a request in seconds, and their mean: scattered, skewed, and with few that are very slow.
DRAWS: dict[str, tuple[Draw, float]] = {
    "exponential": (lambda rng, count: rng.exponential(0.02, count), 0.02),
    "lognormal": (lambda rng, count: 0.02 * rng.lognormal(0, 1, count), 0.02 * math.exp(0.5)),
    "2 % slow by 25": (lambda rng, count: np.where(rng.random(count) < 0.02, 0.5, 0.02), 0.0296),
    "1.3 % slow by 2 s": (lambda rng, count: np.where(rng.random(count) < 0.013, 2.02, 0.02), 0.046),
}


@pytest.mark.parametrize("clients", [2, 10, 50])
@pytest.mark.parametrize("draw", DRAWS)
def test_littles_law_holds_for_a_closed_loop_with_any_answers(draw: str, clients: int) -> None:
    """No closed loop of N clients is blamed for its tail; one that idles a tenth of the time between is detected."""
    load = clients_load(clients, max(1000, 100 * clients))
    for seed in range(10):
        samples = closed_loop(load, DRAWS[draw][0](np.random.default_rng(seed), load.window_count))
        assert checks.littles_law_holds(samples, clients)
        thinking = replace(samples, end_s=samples.end_s - 0.1 * (samples.end_s - samples.sent_s))
        assert not checks.littles_law_holds(thinking, clients)


@pytest.mark.parametrize("draw", list(DRAWS)[:3])
def test_the_achieved_rate_of_a_closed_loop_is_no_lower_for_the_drain(draw: str) -> None:
    """50 clients with slow responses among theirs achieve N ÷ mean within 4 % on average, not 15 % less."""
    load = clients_load(50, 5000)
    found = []
    for seed in range(20):
        service = DRAWS[draw][0](np.random.default_rng(seed), load.window_count)
        found.append(run_figures(window(load, closed_loop(load, service))).known("achieved_rps"))
    assert np.mean(found) == pytest.approx(50 / DRAWS[draw][1], rel=0.04)


def test_a_run_against_littles_law_is_flagged() -> None:
    """A generator that idles between requests (think time) is not N clients: detected."""
    load = clients_load(2, 1000)
    samples = closed_loop(load, 0.02)
    idle = window(load, replace(samples, end_s=samples.sent_s + 0.01))
    assert "littles_law" in set(checks.run_flags(inputs(idle)))
    assert "littles_law" not in set(checks.run_flags(inputs(window(load, samples))))


@pytest.mark.parametrize(
    ("count", "wall_s", "is_short"), [(999, 20.0, True), (1000, 20.0, False), (999, 61.0, False)]
)
def test_a_short_closed_loop_is_flagged(count: int, wall_s: float, is_short: bool) -> None:
    """Fewer than 100 requests of each of 10 clients are said, unless the window was a minute long."""
    load = clients_load(10, count)
    facts = window(load, closed_loop(load, 0.02), wall_s=wall_s)
    assert ("few_requests_per_client" in set(checks.run_flags(inputs(facts)))) is is_short


def test_one_client_has_no_littles_rate() -> None:
    """For N = 1, which rates have too, there is nothing to print beside."""
    timing = Timing(p50=20.0, p95=20.0, p99=20.0, mean=20.0, n=1000)
    assert checks.littles_rps(timing, 1) is None
    assert checks.littles_rps(timing, 50) == pytest.approx(2500)


@pytest.mark.parametrize(
    "changes",
    [
        {"answered_by_status": {"200": 1000}},
        {"failed_count": 2, "failed_by_class": {"reset": 1}},
        {"scheduled_count": 900},
    ],
)
def test_counts_that_do_not_add_up_are_detected(changes: dict[str, object]) -> None:
    """Statuses against responses, classes against failures, outcomes against the schedule."""
    load = clients_load(1, 1000)
    samples = closed_loop(load, 0.02)
    assert checks.report_adds_up(report(samples, load))
    assert not checks.report_adds_up(report(samples, load, **changes))


def test_percentiles_that_fall_are_detected() -> None:
    """p95 above p99 is flagged; a missing one is no fall; a grey one is left out when asked."""
    good = Timing(p50=1.0, p95=None, p99=2.0, mean=1.0, n=100)
    bad = Timing(p50=1.0, p95=3.0, p99=2.0, mean=1.0, n=100, few_samples={"p99": "99th of 100"})
    assert checks.monotone(good)
    assert not checks.monotone(bad)
    assert checks.monotone(bad, full_only=True)
    load = clients_load(1, 1000)
    facts = window(load, closed_loop(load, 0.02))
    figures = run_figures(facts).changed(ttfb_ms=bad)
    assert "not_monotone" in set(checks.run_flags(inputs(facts, figures=figures)))


def test_repeats_that_chance_explains_pass() -> None:
    """Drawing 1,000 of 10,000 lines repeats 4.8 % of them, give or take; 10 % is a fault."""
    assert not checks.prompts_repeated(counts(1000, repeat_share_ratio=0.060))
    assert checks.prompts_repeated(counts(1000, repeat_share_ratio=0.100))
    assert not checks.prompts_repeated(counts(0))


def test_memory_below_idle_is_detected() -> None:
    """A peak below the idle value cannot be; unknown values can."""
    assert checks.memory_in_order(Resources(rss_idle_bytes=100, rss_peak_bytes=100))
    assert checks.memory_in_order(Resources(rss_idle_bytes=100))
    assert not checks.memory_in_order(Resources(rss_idle_bytes=101, rss_peak_bytes=100))


def test_a_baseline_that_doubles_under_load_is_detected() -> None:
    """The direct lane at 45 ms where one client has 20 ms is the rig's limit; at 35 ms, or unknown, it is not."""
    serial = Timing(p50=20.0, p95=20.0, p99=20.0, mean=20.0, n=1000)
    assert checks.baseline_slow(serial.model_copy(update={"p50": 45.0}), serial)
    assert not checks.baseline_slow(serial.model_copy(update={"p50": 35.0}), serial)
    assert not checks.baseline_slow(Absent(absent="no_samples"), serial)


@pytest.mark.parametrize(("undelivered", "growing"), [(None, False), (10, False), (50, False), (60, True)])
def test_a_backlog_beyond_five_per_cent_of_the_requests_grows(undelivered: int | None, growing: bool) -> None:
    """Of 1,001 requests 50 undelivered events are a queue, 60 are a debt."""
    load = clients_load(1, 1000)
    figures = run_figures(window(load, closed_loop(load, 0.02)))
    assert checks.backlog_growing(undelivered, figures) is growing


def test_connections_that_are_not_kept_are_remarked() -> None:
    """A gateway that closes behind every response: each request of the window opened a connection."""
    requests = plain(200)
    closing = replace(requests, reused=np.zeros(200, dtype=np.int64), connect_ns=np.full(200, 240_000))
    assert "no_keep_alive" in set(checks.run_flags(inputs(traced_window(closing))))
    assert "no_keep_alive" not in set(checks.run_flags(inputs(traced_window(requests))))
