"""The shift: paired within the block, median over blocks, honest about what it lacks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.judge_examples import campaign, clients_load, closed_loop, plan, run, window
from weighbridge.judge.cell.shift import baseline_limited, pairs_of, shift
from weighbridge.judge.cell.summarise import summarise
from weighbridge.record.campaign import Finished
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Absent, Timing

SERIAL = clients_load(1, 1000)
DONE = Finished(
    status="complete", exit_code=0, ended_at="2026-11-30T01:00:00Z", accepted_count=0, rejected_count=0, text="done"
)


def timing(p50: float, p95: float | None = None, p99: float | None = None, **changes: object) -> Timing:
    """Timing of 1,000 samples."""
    fields: dict[str, object] = {"p50": p50, "p95": p95, "p99": p99, "mean": p50, "n": 1000}
    return Timing.model_validate({**fields, **changes})


def facts(service_s: float):
    """Window of one client with constant responses."""
    return window(SERIAL, closed_loop(SERIAL, service_s))


def test_pairs_take_the_baseline_of_the_same_block() -> None:
    """When the machine drifts from 20 to 40 ms between blocks, pairing still finds the 5 ms of each block."""
    gateway = [run("litellm.none.work.plain.clients-1", b, facts(0.015 + b * 0.01)) for b in (1, 2, 3)]
    baselines = [run("direct.none.work.plain.clients-1", b, facts(0.010 + b * 0.01)) for b in (3, 1, 2)]
    found = shift(pairs_of(gateway, baselines, "response_ms"))
    assert isinstance(found, Timing)
    assert found.p50 == pytest.approx(5.0)
    assert found.mean is None
    assert found.interval is not None
    assert found.interval.p50 is not None
    assert (found.interval.p50.low, found.interval.p50.high) == pytest.approx((5.0, 5.0))
    assert found.interval.p50.kind == "range"


def test_a_block_without_a_baseline_run_gives_no_pair() -> None:
    """Runs are never compared across blocks; without any pair the shift is absent."""
    gateway = [run("g.none.work.plain.clients-1", 1, facts(0.02))]
    baselines = [run("direct.none.work.plain.clients-1", 2, facts(0.01))]
    assert pairs_of(gateway, baselines, "response_ms") == ()
    found = shift(())
    assert isinstance(found, Absent)
    assert found.absent == "no_baseline"


def test_an_accepted_baseline_run_is_preferred_to_a_rejected_one_of_its_block() -> None:
    """A rejected first attempt at the baseline is not what the gateway is compared with."""
    gateway = [run("g.none.work.plain.clients-1", 1, facts(0.03))]
    bad = run("direct.none.work.plain.clients-1", 1, facts(0.5), accepted=False, reason=Reason.of("steal"), attempt=1)
    good = run("direct.none.work.plain.clients-1", 1, facts(0.02), attempt=2)
    assert [baseline.p50 for _, baseline in pairs_of(gateway, [bad, good], "response_ms")] == pytest.approx([20.0])


def test_a_single_pair_has_an_interval_by_those_of_its_runs() -> None:
    """One run each: the shift of the only block has ends of its own, and holds itself."""
    load = clients_load(1, 400)
    rng = np.random.default_rng(2)
    lanes = [window(load, closed_loop(load, rng.normal(base, 0.001, load.window_count))) for base in (0.02, 0.025)]
    direct, through = (run("g.none.work.plain.clients-1", 1, facts) for facts in lanes)
    found = shift(pairs_of([through], [direct], "response_ms"))
    assert isinstance(found, Timing)
    assert found.interval is not None
    assert found.interval.p50 is not None
    assert found.p50 is not None
    assert found.interval.p50.kind == "batches"
    assert found.interval.p50.low is not None
    assert found.interval.p50.high is not None
    assert found.p50 - 1 < found.interval.p50.low < found.p50 < found.interval.p50.high < found.p50 + 1
    assert found.interval.p99 is None


def test_few_samples_and_nulls_of_either_side_stay() -> None:
    """A grey p99 of the baseline greys the shift; a null on one side makes it null, not the other side's value."""
    grey = timing(1.0, 2.0, 3.0, n=250, few_samples={"p99": "248th of 250"})
    found = shift([(timing(5.0, 6.0, 7.0), grey)])
    assert isinstance(found, Timing)
    assert found.few_samples == {"p99": "248th of 250"}
    assert found.n == 250
    missing = shift([(timing(5.0, 6.0, 7.0), timing(1.0, 2.0, None))])
    assert isinstance(missing, Timing)
    assert missing.p99 is None


@given(st.lists(st.floats(0.1, 100), min_size=3, max_size=9), st.floats(-50, 50))
def test_a_gateway_that_adds_a_constant_shifts_by_it_in_every_block(baselines: list[float], added: float) -> None:
    """Whatever the baseline does between blocks, a constant comes out, negative ones as well, with its interval."""
    found = shift([(timing(value + added), timing(value)) for value in baselines])
    assert isinstance(found, Timing)
    assert found.p50 == pytest.approx(added, abs=1e-9)
    assert found.interval is not None
    assert found.interval.p50 is not None
    assert (found.interval.p50.low, found.interval.p50.high) == pytest.approx((added, added), abs=1e-6)


@pytest.mark.parametrize(
    ("baseline_p99", "moved", "limited"), [(20.5, 5.0, False), (21.5, 5.0, True), (21.0, -1.0, True)]
)
def test_a_baseline_above_a_fifth_of_the_shift_is_flagged(baseline_p99: float, moved: float, limited: bool) -> None:
    """Beside a 5 ms shift the direct lane may take 1 ms beyond the provider's 20 ms at its p99, not more."""
    pairs = [(timing(25.0), timing(20.0, 20.2, baseline_p99))]
    assert baseline_limited(timing(moved), pairs, 20.0) is limited


def _flags(tail_s: float) -> set[str]:
    """Flags of a gateway that adds 5 ms to every request and takes this tail of the direct lane away."""
    load, rng = clients_load(1, 1000), np.random.default_rng(5)
    through, direct = "g.none.work.plain.clients-1", "direct.none.work.plain.clients-1"
    runs = []
    for block in (1, 2, 3):
        tail = np.where(rng.random(load.window_count) < 0.2, tail_s, 0.0)
        runs += [
            run(through, block, window(load, closed_loop(load, 0.0255))),
            run(direct, block, window(load, closed_loop(load, 0.0205 + tail))),
        ]
    found = summarise(campaign(plan(through, load), plan(direct, load)), runs, DONE)
    return set(found.cells[0].flags)


def test_a_direct_lane_with_a_tail_limits_the_shift_and_makes_it_fall() -> None:
    """A p99 of the baseline 4 ms off stands beside a shift of 5 ms, and its percentiles fall: each is remarked."""
    remarks = {"baseline_limited", "ttfb_baseline_limited", "shift_not_monotone"}
    assert _flags(0.004) >= remarks
    assert not _flags(0.0) & remarks
