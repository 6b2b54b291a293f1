"""The certificate: joined quantiles, errors of known delays, A/A pairs, jitter, injected faults, validity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples.judge_examples import campaign, evidence, inputs, run, with_client
from tests.examples.trace_examples import MS, US, pick, plain, released, streams, tables, traced_window
from weighbridge.judge.calibration.certificate import CertificateOrigin, Findings, certify, invalid
from weighbridge.judge.calibration.fault_checks import detected
from weighbridge.judge.calibration.joined_quantiles import Timed, quantile_ns, truth_quantile
from weighbridge.judge.calibration.known_delays import (
    DelayBlock,
    KnownDelay,
    LaneSamples,
    aa_pair,
    block_error,
    burn,
    limit_ms,
    measure,
    under_jitter,
)
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.window import Window
from weighbridge.quantiles import rank
from weighbridge.record.certificate import Certificate, DelayResult, FaultResult
from weighbridge.record.host import ToolFacts
from weighbridge.record.run import RunRecord

TIMES = st.lists(st.integers(0, 10**11), min_size=1, max_size=30)
SHARE = st.floats(0.001, 1.0)


def ns(values: Any) -> np.ndarray:
    """Whole nanoseconds."""
    return np.asarray(values, dtype=np.int64)


def timed(values: Any) -> Timed:
    """Times of requests that were all released on time."""
    return Timed(ns(values), np.zeros(len(values), dtype=np.int64))


@given(TIMES, TIMES, SHARE)
def test_the_joined_quantile_is_that_of_all_pairs(sleeps: list[int], control: list[int], share: float) -> None:
    """Counting the pairs gives exactly the nearest rank among all of them made."""
    pairs = sorted(one + other for one in sleeps for other in control)

    assert truth_quantile(timed(sleeps), timed(control), share) == pairs[rank(len(pairs), share) - 1]


@given(TIMES, TIMES, st.integers(0, 10**9))
def test_a_constant_delay_moves_every_quantile_by_itself(sleeps: list[int], control: list[int], by: int) -> None:
    """A longer sleep of all moves the joined quantile by the same, and no sleep at all gives the control's own."""
    before = truth_quantile(timed(sleeps), timed(control), 0.95)
    assert truth_quantile(timed(ns(sleeps) + by), timed(control), 0.95) == before + by
    assert truth_quantile(timed([0]), timed(control), 0.95) == quantile_ns(ns(control), 0.95)


@pytest.mark.parametrize("count", [200, 1500])
def test_late_sleeps_are_joined_with_late_tares(count: int) -> None:
    """Where one released late is slow afterwards too, the join finds the true p95 and p99; all pairs fall short."""
    random = np.random.default_rng(11)
    lates = [random.exponential(100 * US, size) for size in (count, 2 * count)]
    hops = [random.gamma(20.0, 15 * US, len(late)) + 2 * late for late in lates]
    sleeps, control = Timed(ns(3 * MS + lates[0]), ns(lates[0])), Timed(ns(hops[1]), ns(lates[1]))
    lane_ns = sleeps.ns + ns(hops[0])

    for share in (0.95, 0.99):
        true_ns = quantile_ns(lane_ns, share)
        joined_ns = truth_quantile(sleeps, control, share)
        all_pairs_ns = truth_quantile(timed(sleeps.ns), timed(control.ns), share)
        assert abs(joined_ns - true_ns) < 0.5 * (true_ns - all_pairs_ns)


def test_groups_that_do_not_match_join_all_pairs() -> None:
    """Sleeps of which none is later than another find control samples that differ: everything is joined."""
    sleeps, control = np.arange(400), np.arange(400) * 7
    mixed = Timed(ns(sleeps), ns(np.arange(400)))
    assert truth_quantile(mixed, timed(control), 0.5) == truth_quantile(timed(sleeps), timed(control), 0.5)


def test_no_pairs_have_no_quantile() -> None:
    """Without sleeps or without a control there is nothing to join."""
    with pytest.raises(ValueError, match="no pairs"):
        truth_quantile(timed([]), timed([1]), 0.5)


def lane(seed: int, count: int, sleeps: Any = 0, *, error_ns: int = 0, jitter_ns: float = 0.0) -> LaneSamples:
    """A lane: a hop of about 0.3 ms, these sleeps, a systematic error, and the provider's own time with jitter."""
    random = np.random.default_rng(seed)
    hop = random.gamma(20.0, 15 * US, count)
    added = ns(hop) + ns(sleeps) + error_ns
    jitter = ns(random.exponential(jitter_ns, count) if jitter_ns else 0)
    return LaneSamples(added, added + 20 * MS + jitter, np.zeros_like(added))


def delay(name: str = "3ms", *, error_ns: int = 0, blocks: int = 5, **changes: Any) -> KnownDelay:
    """A delay of 3 ms (or two-valued 1/9 ms, 70/30) in some blocks of 600 requests and 1,200 of control."""
    jitter_ns = changes.pop("jitter_ns", 0.0)
    made = []
    for block in range(1, blocks + 1):
        random = np.random.default_rng(100 + block)
        two = np.where(random.random(600) < 0.3, 9 * MS, 1 * MS)
        sleeps = ns(two if name == "two-valued" else np.full(600, 3 * MS)) + ns(random.integers(0, 80 * US, 600))
        control = lane(block, 1200, jitter_ns=jitter_ns)
        mine = lane(50 + block, 600, sleeps, error_ns=error_ns, jitter_ns=jitter_ns)
        made.append(DelayBlock(block, mine, timed(sleeps), control, timed(control.added_ns).late_ns))
    fields = {"mode": "plain", "arrangement": "mixed", "condition": "quiet", **changes}
    return KnownDelay(name=name, blocks=tuple(made), **fields)


@pytest.mark.parametrize("name", ["3ms", "two-valued"])
def test_known_delays_are_recovered(name: str) -> None:
    """A measurement without an error passes at every percentile of a constant and of a mixture."""
    rows = measure(delay(name))

    assert [row.figure for row in rows] == ["p50", "p95", "p99"]
    assert all(row.passed for row in rows)
    assert rows[0].known_ms == pytest.approx(1.07 if name == "two-valued" else 3.04, abs=0.05)


@pytest.mark.parametrize("error_ns", [250 * US, -250 * US])
def test_a_measurement_that_is_off_is_detected_at_every_percentile(error_ns: int) -> None:
    """An injected error of 0.25 ms either way fails p50, p95 and p99 of 3 ms, and is told to the digit."""
    rows = measure(delay(error_ns=error_ns))

    assert not any(row.passed for row in rows)
    assert rows[0].added_error_ms == pytest.approx(error_ns / MS, abs=0.03)


@pytest.mark.parametrize(("late", "passes"), [(2, True), (300, False)])
def test_late_turns_are_in_and_taken_off_and_the_worse_error_counts(late: int, passes: bool) -> None:
    """Rows that late turns touched stay; where taking the turns off moves a percentile too far, it does not pass."""
    given_delay = delay()
    blocks = []
    for block in given_delay.blocks:
        late_ns = np.zeros_like(block.lane.added_ns)
        late_ns[:late] = 7 * MS
        blocks.append(replace(block, lane=replace(block.lane, late_turn_ns=late_ns)))
    rows = measure(replace(given_delay, blocks=tuple(blocks)))

    assert {row.sample_count for row in rows} == {600}
    assert rows[0].passed is passes


def test_nominal_sleep_is_not_the_truth() -> None:
    """A gateway that overslept by 2 ms in its own record is no error of the measurement."""
    given_delay = delay()
    late = tuple(
        replace(
            block,
            sleeps=timed(block.sleeps.ns + 2 * MS),
            lane=replace(block.lane, added_ns=block.lane.added_ns + 2 * MS, total_ns=block.lane.total_ns + 2 * MS),
        )
        for block in given_delay.blocks
    )

    assert all(row.passed for row in measure(replace(given_delay, blocks=late)))


def test_errors_are_sums_of_what_is_printed() -> None:
    """Every row and every block: added error = added − control − known; the control is no part of the delay."""
    for row in measure(delay("two-valued")):
        for one in (row, *row.blocks):
            assert one.added_error_ms == pytest.approx(one.added_ms - one.control_ms - one.known_ms, abs=1e-9)
        assert row.added_error_ms in [one.added_error_ms for one in row.blocks]


def test_differences_of_quantiles_would_be_wrong() -> None:
    """At p95 of the mixture, sleep quantile plus control quantile is off by more than the joined truth."""
    block = delay("two-valued").blocks[0]
    joined = truth_quantile(block.sleeps, timed(block.control.added_ns), 0.95)
    added = quantile_ns(block.sleeps.ns, 0.95) + quantile_ns(block.control.added_ns, 0.95)

    assert added - joined > 30 * US
    assert abs(block_error(block, "p95").added_error_ms) < 0.1


def test_the_median_block_is_judged_and_the_worst_shown() -> None:
    """One block that is off by 5 ms fails nothing, and stands in the row; of three such blocks of five it fails."""
    good, bad = delay().blocks, delay(error_ns=5 * MS).blocks
    one_bad = measure(replace(delay(), blocks=(*good[:4], bad[4])))
    most_bad = measure(replace(delay(), blocks=(*good[:2], *bad[2:])))

    assert all(row.passed for row in one_bad)
    assert one_bad[0].worst_added_error_ms == pytest.approx(5.0, abs=0.05)
    assert not any(row.passed for row in most_bad)


def test_of_an_even_number_of_blocks_the_worse_middle_one_is_judged() -> None:
    """Two blocks, one of them off: the certificate does not choose the lucky one."""
    blocks = (delay().blocks[0], delay(error_ns=1 * MS).blocks[1])

    assert not measure(replace(delay(), blocks=blocks))[0].passed


def test_limits_are_the_larger_of_share_and_baseline() -> None:
    """2 % or 20 µs at p50, 5 % or 100 µs at p95 and p99."""
    assert [limit_ms("p50", known) for known in (0.0, 1.0, 10.0)] == pytest.approx([0.02, 0.02, 0.2])
    assert [limit_ms("p99", known) for known in (0.0, 1.0, 10.0)] == pytest.approx([0.1, 0.1, 0.5])


@pytest.mark.parametrize("arrangement", ["mixed", "cell"])
@pytest.mark.parametrize("count", [3, 5])
def test_an_aa_pair_resolves_what_the_host_can(arrangement: Any, count: int) -> None:
    """Equal lanes pass with a small half width; a lane that is 0.3 ms slower in every block fails as a pair."""
    same = [(lane(one, 600), lane(one + 90, 600)) for one in range(count)]
    apart = [(lane(one, 600), lane(one + 90, 600, error_ns=300 * US)) for one in range(count)]

    assert all(row.passed for row in aa_pair(same, "plain", arrangement))
    assert 0 < aa_pair(same, "plain", arrangement)[0].half_width_ms < 0.05
    assert not any(row.passed for row in aa_pair(apart, "plain", arrangement))


def test_a_pair_that_differs_now_this_way_now_that_has_no_difference() -> None:
    """Blocks that scatter by 0.4 ms around zero show a coarse host, not a difference; told is how coarse it is."""
    errors_us = (400, -300, 350)
    pairs = [(lane(one, 600, error_ns=error * US), lane(one + 90, 600)) for one, error in enumerate(errors_us)]
    row = aa_pair(pairs, "plain", "mixed")[0]

    assert (row.passed, row.median_difference_ms > 0.3, row.half_width_ms > 0.9) == (True, True, True)


def test_one_pair_alone_is_shown_and_not_judged() -> None:
    """A single block has no interval; from two on a difference that stays fails."""
    apart = [(lane(one, 600), lane(one + 90, 600, error_ns=900 * US)) for one in range(2)]
    alone, both = (aa_pair(apart[:count], "plain", "cell")[0] for count in (1, 2))

    assert (alone.passed, both.passed) == (True, False)
    assert alone.median_difference_ms < -0.8


def test_the_half_width_widens_the_limit_of_cells_alone() -> None:
    """A cell of its own is judged against what an A/A pair of cells shows; a mixed lane is not."""
    wide = aa_pair([(lane(1, 600), lane(2, 600, error_ns=400 * US))] * 3, "plain", "cell")
    off = delay(error_ns=90 * US)

    assert not measure(off, wide)[0].passed
    assert measure(replace(off, arrangement="cell"), wide)[0].passed


def test_under_jitter_the_shift_is_ten_times_worse() -> None:
    """With 1 ms jitter of the provider the added time holds and the shift does not; p50 judges the mixture alone."""
    jittered = [delay(name, condition="jitter", jitter_ns=MS) for name in ("3ms", "two-valued")]
    jittered[1] = replace(jittered[1], two_valued=True)
    rows = under_jitter([*jittered, delay()])

    assert [row.figure for row in rows] == ["p50", "p95", "p99"]
    assert rows[0].delays == ("two-valued",)
    assert rows[0].passed
    assert rows[1].shift_mean_error_ms > 10 * rows[1].added_mean_error_ms
    assert not any(row.passed for row in under_jitter([delay(condition="jitter", error_ns=2 * MS)]))
    assert under_jitter([delay()]) == ()


def test_a_cpu_burn_passes_within_five_per_cent() -> None:
    """4 % passes, 6 % does not."""
    assert burn(2.0, 2.08, 100.0, 2000).passed
    assert not burn(2.0, 1.88, 100.0, 2000).passed


def attempt(window: Window, block: int = 1, **changes: Any) -> RunRecord:
    """Record of one judged window."""
    judgement = judge_run(inputs(window, evidence=changes.get("evidence", ())))
    fields = {"accepted": judgement.accepted, "verdict": judgement.verdict, "reason": judgement.reason}
    return run("faulty.none.work.stream.rate-50", block, window, **fields, **changes)


def faulty(fault: str) -> Window:
    """Window of a gateway with this fault."""
    given_streams = streams(60)
    if fault == "buffer":
        return traced_window(*tables(released(given_streams, 16, one_read=True)))
    if fault.startswith("coalesce"):
        return traced_window(*tables(released(given_streams, 4, one_read=True)))
    requests, events = tables(given_streams)
    if fault.startswith("drop-chunk"):
        return traced_window(requests, pick(events, events.sequence != 3))
    if fault == "no-end":
        requests.done_seen[:] = 0
        return traced_window(requests, events)
    read_ns = given_streams.read_ns.copy()
    read_ns[:, 9:] += 90 * MS
    return traced_window(*tables(replace(given_streams, read_ns=read_ns)))


@pytest.mark.parametrize("fault", ["buffer", "coalesce-4", "drop-chunk:4", "no-end", "stall"])
def test_injected_faults_are_detected_and_a_sound_lane_is_not(fault: str) -> None:
    """Each fault is detected by the check that is about it; the same check says nothing of a sound lane."""
    sound = (attempt(traced_window(*tables(streams(60)))),)

    assert detected(fault, (attempt(faulty(fault)),), sound).detected
    assert not detected(fault, sound, sound).detected


def test_a_fast_500_is_detected() -> None:
    """A gateway that responds with 500 at once is detected by its errors, in the window or before it."""
    requests = plain(300, 5 * US, 5 * US, residence_ns=1)
    requests.status[:] = 500
    requests.outcome[:] = 7
    window = traced_window(requests)
    report = window.reports[0].model_copy(update={"answered_by_status": {"500": 300}})
    window = with_client(window, report=report)
    refused = attempt(
        traced_window(plain(300)),
        evidence=(evidence("plain", ok=False, status=500, problem="an error"),),
    )

    assert detected("error500", (attempt(window),), ()).detected
    assert detected("error500", (refused,), ()).detected


def test_an_unknown_fault_is_no_fault_detected() -> None:
    """A fault that no check is about is refused, not passed over."""
    with pytest.raises(ValueError, match="known are"):
        detected("cafe", (), ())


NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
TOOL = ToolFacts(name="oha", version="1.16.0", sha256="0" * 64, source="path")
ORIGIN = CertificateOrigin("20261130T120000Z", NOW, 1, "0.1.0", campaign().host, (TOOL,))
FOUND = Findings(
    known_delays=measure(delay()), faults=(FaultResult(fault="buffer", detected=True, by="x"),), baselines=()
)


def test_a_certificate_passes_when_everything_did_and_says_what_failed() -> None:
    """One delay off, or one fault not detected, fails it with a sentence; nothing weighed is no pass either."""
    off = certify(ORIGIN, replace(FOUND, known_delays=measure(delay(error_ns=MS))), is_quick=False)
    missed = certify(
        ORIGIN, replace(FOUND, faults=(FaultResult(fault="buffer", detected=False, by=None),)), is_quick=False
    )

    assert certify(ORIGIN, FOUND, is_quick=False).passed
    assert not off.passed
    assert "3ms" in off.problems[0]
    assert missed.problems == ("the injected fault buffer was not detected",)
    assert not certify(ORIGIN, Findings((), (), ()), is_quick=False).passed


def test_a_certificate_in_a_hurry_is_provisional() -> None:
    """Quick, two blocks, or a thin control make it provisional; five whole blocks do not."""
    control = lane(1, 300)
    blocks = (replace(b, control=control, control_late_ns=timed(control.added_ns).late_ns) for b in delay().blocks)
    thin = measure(replace(delay(), blocks=tuple(blocks)))

    assert not certify(ORIGIN, FOUND, is_quick=False).provisional
    assert certify(ORIGIN, FOUND, is_quick=True).provisional
    assert certify(ORIGIN, replace(FOUND, known_delays=measure(delay(blocks=2))), is_quick=False).provisional
    assert certify(ORIGIN, replace(FOUND, known_delays=thin), is_quick=False).provisional


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"made_at": NOW + timedelta(days=8)}, "seven days"),
        ({"made_at": NOW - timedelta(days=1)}, "after"),
        ({"method_version": 2}, "method"),
        ({"weighbridge_version": "0.2.0"}, "Weighbridge"),
        ({"host": ORIGIN.host.model_copy(update={"kernel": "Linux 7"})}, "kernel"),
        ({"host": ORIGIN.host.model_copy(update={"cpu_count": 4})}, "host"),
        ({"tools": (TOOL.model_copy(update={"version": "1.17.0"}),)}, "oha"),
        ({"tools": (TOOL.model_copy(update={"sha256": "1" * 64}),)}, "oha"),
    ],
)
def test_a_certificate_holds_for_its_own_circumstances(change: dict[str, Any], why: str) -> None:
    """Another time, host, kernel, method, tool version or tool's files: it does not hold, with the reason."""
    made = certify(ORIGIN, FOUND, is_quick=False)

    assert invalid(made, replace(ORIGIN, made_at=NOW + timedelta(days=6))) is None
    assert why in (invalid(made, replace(ORIGIN, **change)) or "")


def test_a_failed_certificate_does_not_hold() -> None:
    """A calibration that failed vouches for nothing."""
    failed = certify(ORIGIN, Findings((), (), ()), is_quick=False)

    assert invalid(failed, ORIGIN) == "the calibration failed"


def test_the_document_reads_back_with_its_named_fields() -> None:
    """The file holds every field that readers rely on, and reads back the same."""
    made = certify(ORIGIN, FOUND, is_quick=False)
    needed = {
        "delay",
        "mode",
        "figure",
        "known_ms",
        "control_ms",
        "added_ms",
        "added_error_ms",
        "shift_error_ms",
        "passed",
    }

    assert Certificate.from_json(made.to_json(), origin="certificate.json") == made
    assert needed <= set(DelayResult.model_fields)


@settings(deadline=None, max_examples=20)
@given(st.permutations(range(5)))
def test_the_order_of_blocks_does_not_matter(order: Sequence[int]) -> None:
    """Blocks in any order give the same judgement."""
    base = delay("two-valued")
    moved = measure(replace(base, blocks=tuple(base.blocks[number] for number in order)))

    assert [row.model_copy(update={"blocks": ()}) for row in moved] == [
        row.model_copy(update={"blocks": ()}) for row in measure(base)
    ]
