"""A cell over its runs: added time, buffering against the baseline, what it reports itself, slopes, rig checks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.judge_examples import (
    campaign,
    code_of,
    inputs,
    open_loop,
    plan,
    rate_load,
    run,
    window,
    with_client,
)
from tests.examples.trace_examples import (
    MS,
    US,
    S,
    outcome,
    plain,
    provider_rows,
    released,
    streams,
    tables,
    traced_window,
)
from weighbridge.judge.cell.slopes import SlopePoint, fit
from weighbridge.judge.cell.summarise import summarise
from weighbridge.judge.figures.histograms import run_histograms
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.run.rig_checks import delayed_acks, driver_rate_differs
from weighbridge.judge.window import Window
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.record.campaign import Finished
from weighbridge.record.figures import Absent, Figure, Timing
from weighbridge.record.histogram import percentile_ns
from weighbridge.record.probe_counts import Fidelity, StampCounts
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import CellSummary, Summary

DONE = Finished(
    status="complete", exit_code=0, ended_at="2026-11-30T01:00:00Z", accepted_count=0, rejected_count=0, text="done"
)
LOAD = rate_load(50.0, 1000)


def names(mode: str) -> tuple[str, str]:
    """Ids of baseline and cell."""
    return f"direct.none.work.{mode}.rate-50", f"reference.none.work.{mode}.rate-50"


def record(cell: str, block: int, facts: Window, **changes: Any) -> RunRecord:
    """Judged record of one window."""
    judgement = judge_run(inputs(facts, evidence=()))
    fields = {
        "accepted": judgement.accepted,
        "verdict": judgement.verdict,
        "reason": judgement.reason,
        "flags": judgement.flags,
    }
    return run(cell, block, facts, **{**fields, **changes})


def summary_of(mode: str, lanes: dict[str, list[Window]], **changes: Any) -> Summary:
    """Summary of these windows, one a block."""
    runs = [
        record(cell, block, facts, **changes)
        for cell, windows in lanes.items()
        for block, facts in enumerate(windows, 1)
    ]
    return summarise(campaign(*(plan(cell, LOAD, driver="probe") for cell in names(mode))), runs, DONE)


def cell_of(summary: Summary, mode: str) -> CellSummary:
    """The gateway's cell."""
    return next(cell for cell in summary.cells if cell.cell == names(mode)[1])


def timing(value: object) -> Timing:
    """A timing that must exist."""
    assert isinstance(value, Timing), value
    return value


def lanes(request_path_ns: list[int], baseline_ns: Any = 80 * US) -> dict[str, list[Window]]:
    """Baseline and gateway, plain, one block for each leg of the request."""
    baseline, cell = names("plain")
    return {
        baseline: [traced_window(plain(1100, baseline_ns)) for _ in request_path_ns],
        cell: [traced_window(plain(1100, request_path)) for request_path in request_path_ns],
    }


def test_added_time_is_the_median_over_runs_with_its_interval() -> None:
    """Three blocks: median of run values, an interval over them, the legs, and the baseline in its own cell."""
    summary = summary_of("plain", lanes([3 * MS, 4 * MS, 5 * MS]))
    found = cell_of(summary, "plain")

    assert timing(found.added_ms).p50 == pytest.approx(4.06)
    assert timing(found.added_ms).interval is not None
    assert timing(found.request_path_ms).p50 == pytest.approx(4.0)
    assert timing(summary.cells[0].added_ms).p50 == pytest.approx(0.14)
    assert timing(found.added_with_rejected_ms).p50 == pytest.approx(4.06)
    assert "added_baseline_limited" not in found.flags


def test_a_baseline_that_is_no_better_limits_the_figure() -> None:
    """Where the direct lane's added p99 is above 20 % of the added p50, the figure is flagged."""
    noisy = np.where(np.arange(1100) % 50 == 0, 2 * MS, 80 * US)

    assert "added_baseline_limited" in cell_of(summary_of("plain", lanes([4 * MS] * 3, noisy)), "plain").flags


def test_a_saturated_cell_has_no_added_time() -> None:
    """A lane that did not keep the rate shows what it served, not an added time."""
    found = cell_of(summary_of("plain", lanes([4 * MS] * 3), verdict="saturated"), "plain")

    assert isinstance(found.added_ms, Absent)
    assert (found.added_ms.absent, found.added_ms.detail[:6]) == ("saturated", "served")


def test_one_cached_run_voids_the_cell() -> None:
    """Two good runs and one that a cache answered are no valid cell."""
    found = lanes([4 * MS] * 3)
    requests = plain(1100)
    requests.recv_ns[3] -= 300 * MS
    requests.send_ns[3] -= 300 * MS
    found[names("plain")[1]][1] = traced_window(requests)
    cell = cell_of(summary_of("plain", found), "plain")

    assert cell.verdict == "errored"
    assert cell.reason is not None
    assert cell.reason.code == "cache_hit"
    assert isinstance(cell.stamps, StampCounts)
    assert cell.stamps.stale_count == 1


def test_one_run_with_crossed_responses_voids_the_cell() -> None:
    """Two good runs and one in which two requests got each other's response are no valid cell."""
    found = lanes([4 * MS] * 3)
    requests = plain(1100)
    provider = provider_rows(requests)
    for name in ("recv_ns", "send_ns", "end_ns"):
        column = getattr(requests, name)
        column[[3, 4]] = column[[4, 3]]
    found[names("plain")[1]][1] = traced_window(requests, provider=provider)
    cell = cell_of(summary_of("plain", found), "plain")

    assert cell.verdict == "errored"
    assert cell.reason is not None
    assert cell.reason.code == "crossed_answers"


def test_buffering_is_judged_against_the_direct_lane() -> None:
    """The same merging is coalesced where the direct lane has none and passed through where it merges as well."""
    baseline, cell = names("stream")
    merged = [traced_window(*tables(released(streams(60), 2, one_read=True)))] * 3
    clean = [traced_window(*tables(streams(60)))] * 3

    against_clean = cell_of(summary_of("stream", {baseline: clean, cell: merged}), "stream")
    against_merged = cell_of(summary_of("stream", {baseline: merged, cell: merged}), "stream")

    assert (against_clean.buffering, against_merged.buffering) == ("coalesced", "passed through")
    assert isinstance(against_clean.coalesced_ratio, Figure)
    assert isinstance(against_clean.fidelity, Fidelity)
    assert against_clean.fidelity.answer_count == 180
    assert timing(against_clean.ttft_ms).p50 is not None
    assert timing(against_clean.forwarding_ms).p50 is not None


def test_the_own_claim_stands_beside_with_its_difference() -> None:
    """A gateway that claims 1 ms and adds 4.06 ms is off by 3.06 ms, in percentiles and in the mean."""
    claim = Timing(p50=1.0, p95=1.0, p99=1.0, mean=1.0, n=1100)
    found = cell_of(summary_of("plain", lanes([4 * MS] * 3), self_reported_ms=claim), "plain")

    assert timing(found.self_reported_difference_ms).p50 == pytest.approx(3.06)
    assert timing(found.self_reported_difference_ms).mean == pytest.approx(3.06)
    assert cell_of(summary_of("plain", lanes([4 * MS] * 3)), "plain").self_reported_difference_ms == Absent(
        absent="not_self_reported"
    )


def test_a_claim_of_one_request_differs_in_the_mean_alone() -> None:
    """One preflight header has no percentile; its difference has a mean and nulls."""
    claim = Timing(p50=None, p95=None, p99=None, mean=1.5, n=1)
    found = cell_of(summary_of("plain", lanes([4 * MS] * 3), self_reported_ms=claim), "plain")

    assert timing(found.self_reported_difference_ms).p50 is None
    assert timing(found.self_reported_difference_ms).mean == pytest.approx(2.56)


@given(
    st.floats(-5, 5), st.floats(-20, 20), st.lists(st.floats(0.25, 256), min_size=2, max_size=6, unique=True)
)  # fmt: skip
def test_a_line_is_found_exactly(slope: float, intercept: float, places: list[float]) -> None:
    """Points on a line give its slope and intercept in every block, without a residual."""
    points = [SlopePoint(block, at, slope * at + intercept + block) for block in (1, 2, 3) for at in places]
    if np.ptp(places) < 0.1:
        return
    line = fit(points)

    assert line is not None
    assert line.slopes_ms == pytest.approx([slope] * 3, abs=1e-6)
    assert line.intercepts_ms == pytest.approx([intercept + block for block in (1, 2, 3)], abs=1e-4)
    assert line.residual_ms < 1e-6


def test_one_place_on_the_axis_is_no_line() -> None:
    """Blocks with a single payload have no slope."""
    assert fit([SlopePoint(1, 4.0, 1.0), SlopePoint(1, 4.0, 2.0), SlopePoint(2, 8.0, 1.0)]) is None


def sized(payload: str, gateway: str, slope_ns: int, kib: int) -> list[RunRecord]:
    """Three blocks of a cell whose added time grows with the payload."""
    cell = f"{gateway}.none.work.plain.rate-50"
    return [
        record(f"{cell}+payload={payload}", block, traced_window(plain(300, 100 * US + kib * slope_ns + block * US)))
        for block in (1, 2, 3)
    ]


def test_payloads_as_an_axis_give_a_slope_per_kib() -> None:
    """1, 16 and 64 KiB with 20 µs for each KiB: 0.02 ms/KiB with its interval, beside the baseline's own slope."""
    sizes = {"1k": 1, "16k": 16, "64k": 64}
    plans = tuple(
        plan(
            f"{gateway}.none.work.plain.rate-50", LOAD, driver="probe", payload=PayloadSpec(name, 0, kib * 1024)
        ).model_copy(
            update={
                "cell": f"{gateway}.none.work.plain.rate-50+payload={name}",
                "baseline": f"direct.none.work.plain.rate-50+payload={name}",
            }
        )
        for gateway in ("direct", "reference")
        for name, kib in sizes.items()
    )
    runs = [
        one
        for gateway, slope_ns in (("direct", 2 * US), ("reference", 20 * US))
        for name, kib in sizes.items()
        for one in sized(name, gateway, slope_ns, kib)
    ]

    made = summarise(campaign(*plans), runs, DONE).slopes
    mine = next(one for one in made if one.gateway == "reference")

    assert mine.axis == "payload_kib"
    assert mine.slope_ms == pytest.approx(0.02, rel=1e-6)
    assert mine.interval_ms is not None
    assert (mine.interval_ms.low, mine.interval_ms.high) == pytest.approx((0.02, 0.02), rel=1e-3)
    assert mine.baseline_slope_ms == pytest.approx(0.002, rel=1e-6)
    assert (mine.block_count, mine.point_count) == (3, 9)


def test_answers_as_an_axis_give_a_slope_per_chunk() -> None:
    """Streams of 16 and 32 chunks whose end is 0.1 ms later for each chunk: that is the slope."""
    plans, runs = [], []
    for name, count in (("short", 16), ("long", 32)):
        cell = f"reference.none.work.stream.rate-50+answer={name}"
        base = plan(
            "reference.none.work.stream.rate-50", LOAD, driver="probe", answer=AnswerSpec(name, 0.02, count, 0.005)
        )
        plans.append(base.model_copy(update={"cell": cell}))
        for block in (1, 2, 3):
            facts = traced_window(*tables(streams(60, count, delay_ns=np.arange(count) * 100 * US)))
            assert facts.trace is not None
            answer = replace(facts.trace.answer, chunk_count=count)
            runs.append(record(cell, block, with_client(facts, trace=replace(facts.trace, answer=answer))))

    made = summarise(campaign(*plans), runs, DONE).slopes

    assert [one.axis for one in made] == ["answer_chunks"]
    assert made[0].slope_ms == pytest.approx(0.1, rel=1e-6)


def test_histograms_hold_what_the_figures_show() -> None:
    """The blob of the added time has as many values as the figure, and its median to 0.1 %."""
    facts = traced_window(plain(1000, np.arange(1000) * US))
    made = run_histograms(facts)

    assert made is not None
    assert set(made.metrics) == {"added_ns", "request_path_ns", "response_path_ns"}
    assert made.metrics["added_ns"].count == 1000
    assert percentile_ns(made.metrics["added_ns"], 0.5) == pytest.approx(559_000, rel=1e-3)
    assert run_histograms(with_client(facts, trace=None)) is None


def test_a_driver_that_lies_about_its_rate_is_flagged() -> None:
    """A report's rate 10 % above its samples, or a process that ran far too long for its rate, is flagged."""
    load = rate_load(50.0, 500)
    honest = window(load, open_loop(load, 0.02))
    lying = window(load, open_loop(load, 0.02), completed_rps=55.0)
    slow = with_client(honest, wall_s=40.0)

    assert not driver_rate_differs(honest, 50.0)
    assert not driver_rate_differs(with_client(honest, wall_s=11.0), 50.0)
    assert driver_rate_differs(lying, 50.0)
    assert driver_rate_differs(slow, 50.0)
    assert "driver_rate_differs" in judge_run(inputs(lying)).flags


def test_a_driver_whose_clock_runs_fast_is_flagged_by_the_provider() -> None:
    """The provider's arrivals take 20 % longer than the driver's own ends say."""
    facts = traced_window(plain(600))
    assert facts.trace is not None
    requests = facts.trace.requests
    stretched = requests.recv_ns + (requests.recv_ns - requests.recv_ns[0]) // 5
    lying = with_client(facts, trace=replace(facts.trace, requests=replace(requests, recv_ns=stretched)))

    assert not driver_rate_differs(facts, 50.0)
    assert driver_rate_differs(lying, 50.0)


def test_a_nagle_plateau_on_the_baseline_is_flagged() -> None:
    """3 % of the direct responses 40 ms late are a step; a smooth tail that passes there is none."""
    load = rate_load(50.0, 1000)
    late = np.where(np.arange(load.window_count) % 33 == 0, 0.0604, 0.0202)
    tail = 0.0202 + np.random.default_rng(3).exponential(0.012, load.window_count)
    step, smooth = window(load, open_loop(load, late)), window(load, open_loop(load, tail))

    assert step.lead.samples is not None
    assert delayed_acks(step.lead.samples, 0.02)
    assert smooth.lead.samples is not None
    assert not delayed_acks(smooth.lead.samples, 0.02)
    assert "delayed_ack" in judge_run(inputs(step, is_baseline=True)).flags
    assert "delayed_ack" not in judge_run(inputs(step)).flags


def test_a_plateau_of_every_answer_is_a_step_too() -> None:
    """When each direct response is 40 ms late there is no other step to compare with, and it is flagged."""
    load = rate_load(20.0, 200)
    samples = window(load, open_loop(load, 0.0603)).lead.samples

    assert samples is not None
    assert delayed_acks(samples, 0.02)


def test_a_fast_500_is_rejected_and_has_no_times() -> None:
    """A gateway that responds with 500 in 10 µs: an error, no added time, never a fast lane."""
    requests = plain(600, 5 * US, 5 * US, residence_ns=1)
    requests.status[:] = 500
    requests.outcome[:] = outcome("http_error")
    facts = traced_window(requests)
    facts = with_client(facts, report=facts.reports[0].model_copy(update={"answered_by_status": {"500": 600}}))
    made = inputs(facts, evidence=())

    assert code_of(judge_run(made)) == "errors"
    assert made.figures is not None
    assert made.figures.added_ms == Absent(absent="no_good_response")


def test_an_impossible_added_time_is_flagged() -> None:
    """A median below zero is arithmetic that failed."""
    requests = plain(600, 5 * US, -2 * MS)

    assert "added_negative" in judge_run(inputs(traced_window(requests), evidence=())).flags


def test_unknown_stamps_are_flagged() -> None:
    """A whole stamp that the provider has no record of stays out of the figures and is flagged."""
    requests = plain(600)
    rows = provider_rows(requests)
    requests.recv_ns[5] += S // 1000
    judged = judge_run(inputs(traced_window(requests, provider=rows), evidence=()))

    assert "stamps_unknown" in judged.flags
