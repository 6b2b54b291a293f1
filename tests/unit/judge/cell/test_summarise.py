"""The summary: every planned cell has an outcome, medians are over runs, nothing is hidden."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.examples.judge_examples import (
    QUIET,
    campaign,
    clients_load,
    closed_loop,
    counts,
    cut_at,
    gateway,
    open_loop,
    plan,
    rate_load,
    run,
    window,
    with_client,
)
from weighbridge.judge.cell.exit_code import exit_code
from weighbridge.judge.cell.summarise import summarise
from weighbridge.judge.cell.verdict import CellAttempts, outcome
from weighbridge.judge.run.sentences import failed_text
from weighbridge.record.campaign import Finished
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Absent, Figure, Timing
from weighbridge.record.run import IdleLook, Resources, RunRecord
from weighbridge.record.summary import CellSummary, Summary

SERIAL = clients_load(1, 1000)
BASELINE, CELL = "direct.none.work.plain.clients-1", "reference.none.work.plain.clients-1"
PLANS = (plan(BASELINE, SERIAL), plan(CELL, SERIAL))
DONE = Finished(
    status="complete", exit_code=0, ended_at="2026-11-30T01:00:00Z", accepted_count=0, rejected_count=0, text="done"
)


def lane(service_s: float):
    """Window of one client with constant responses."""
    return window(SERIAL, closed_loop(SERIAL, service_s))


def good(blocks: int = 3) -> list[RunRecord]:
    """Accepted runs of baseline and cell in each block."""
    numbers = range(1, blocks + 1)
    return [run(BASELINE, b, lane(0.0201)) for b in numbers] + [run(CELL, b, lane(0.024 + b / 1000)) for b in numbers]


def rejected(cell: str, block: int, reason: str, **changes: Any) -> RunRecord:
    """Attempt that does not count."""
    fields = {"accepted": False, "verdict": "errored", "reason": Reason.of(reason, f"{reason} happened")}
    return run(cell, block, changes.pop("facts", None), **{**fields, **changes})


def cell(summary: Summary, name: str = CELL) -> CellSummary:
    """One cell of a summary."""
    return next(one for one in summary.cells if one.cell == name)


def test_three_good_runs_make_a_valid_cell() -> None:
    """Medians of the runs, shift paired with the baseline, counts, exit code 0."""
    found = summarise(campaign(*PLANS), good(), DONE)
    one = cell(found)
    assert (one.verdict, one.reason, one.flags, one.runs_accepted) == ("valid", None, (), 3)
    assert isinstance(one.response_ms, Timing)
    assert one.response_ms.p50 == pytest.approx(26.0)
    assert isinstance(one.shift_ms, Timing)
    assert one.shift_ms.p50 == pytest.approx(5.9)
    assert one.shift_ms == one.shift_with_rejected_ms
    assert one.request_count == 3000
    assert isinstance(one.upstream_calls_per_request, Figure)
    assert one.upstream_calls_per_request.value == 1.0
    assert isinstance(cell(found, BASELINE).shift_ms, Absent)
    assert exit_code(found) == 0


def test_the_order_of_the_runs_changes_nothing() -> None:
    """The same runs, shuffled, give the same document to the last byte."""
    runs = [*good(), rejected(CELL, 2, "errors", attempt=4)]
    shuffled = [runs[i] for i in np.random.default_rng(3).permutation(len(runs))]
    assert summarise(campaign(*PLANS), runs, DONE).to_json() == summarise(campaign(*PLANS), shuffled, DONE).to_json()


def test_a_summary_reads_back_from_its_own_json() -> None:
    """What is written is a document that the strict reader takes."""
    found = summarise(campaign(*PLANS), good(), DONE)
    assert Summary.from_json(found.to_json(), origin="summary.json") == found


def test_every_planned_cell_is_there_whatever_became_of_it() -> None:
    """Not supported, unavailable, never run: each has its verdict and reason, and no figure is zero."""
    unsupported = plan("reference.finance.work.plain.clients-1", SERIAL, not_supported="no finance chain")
    absent = plan("litellm.none.work.plain.clients-1", SERIAL)
    never = plan("reference.starter.work.plain.clients-1", SERIAL)
    gateways = (gateway("direct"), gateway("reference"), gateway("litellm", unavailable="no wheel for this system"))
    found = summarise(campaign(*PLANS, unsupported, absent, never, gateways=gateways), good(), DONE)
    verdicts = {one.cell: (one.verdict, one.reason) for one in found.cells}
    assert verdicts[unsupported.cell] == ("not_supported", Reason.of("not_supported", "no finance chain"))
    assert verdicts[absent.cell] == ("unavailable", Reason.of("unavailable", "no wheel for this system"))
    assert verdicts[never.cell] == ("incomplete", Reason.of("not_run", "not run"))
    for name in (unsupported.cell, absent.cell, never.cell):
        one = cell(found, name)
        for figure in (one.response_ms, one.shift_ms, one.achieved_rps, one.drain_s, one.cpu_ms_per_request):
            assert isinstance(figure, Absent)
    assert exit_code(found) == 3


@pytest.mark.parametrize(("subject", "code"), [("reference", 3), ("litellm", 0)])
def test_a_subject_that_is_not_there_is_no_success(subject: str, code: int) -> None:
    """A campaign without the gateway under test says nothing of it: 3; another that is missing is an outcome."""
    gone = rejected(CELL, 3, "unavailable", verdict="unavailable")
    found = summarise(campaign(*PLANS, subject=subject), [*good(2), gone], DONE)
    assert cell(found).verdict == "unavailable"
    assert exit_code(found) == code


@pytest.mark.parametrize(
    ("reason", "verdict"),
    [("errors", "errored"), ("crashed", "errored"), ("incomplete", "incomplete"), ("not_served", "not_served"),
     ("load_limit", "rig_limited"), ("rate_missed", "rig_limited")],
)  # fmt: skip
def test_a_cell_without_an_accepted_run_speaks_by_its_commonest_reason(reason: str, verdict: str) -> None:
    """Six rejected attempts give the verdict of their reason, its sentence, no figures, and exit code 3."""
    runs = [*good()[:3], rejected(CELL, 1, "steal", attempt=9)]
    runs += [rejected(CELL, b, reason, attempt=b, facts=lane(0.03)) for b in range(1, 6)]
    found = summarise(campaign(*PLANS), runs, DONE)
    one = cell(found)
    assert one.verdict == verdict
    assert one.reason == Reason.of(reason, f"{reason} happened")
    assert (one.runs_accepted, one.runs_attempted, one.runs_wanted) == (0, 6, 3)
    assert [(entry.reason.code, entry.count) for entry in one.rejected] == [(reason, 5), ("steal", 1)]
    assert isinstance(one.shift_ms, Absent)
    assert isinstance(one.shift_with_rejected_ms, Absent)
    assert exit_code(found) == 3


def test_k_of_n_is_said_and_a_gateway_is_not_shown_by_its_lucky_runs() -> None:
    """One accepted of two because of the rig: valid with k of n. One accepted of five errors: errored."""
    rig = summarise(campaign(*PLANS), [*good(1), rejected(CELL, 2, "load_limit")], DONE)
    assert (cell(rig).verdict, cell(rig).flags) == ("valid", ("few_runs",))
    assert (cell(rig).reason, cell(rig).runs_attempted, cell(rig).runs_wanted) == (None, 2, 3)
    theirs = [rejected(CELL, b, "errors", attempt=b) for b in range(2, 7)]
    assert cell(summarise(campaign(*PLANS), [*good(1), *theirs], DONE)).verdict == "errored"


def test_a_gateway_that_was_changed_in_mid_campaign_has_no_figure() -> None:
    """One attempt before which its files were another's: the cell is unavailable, whatever was accepted before."""
    changed = rejected(CELL, 3, "unavailable", verdict="unavailable")
    found = summarise(campaign(*PLANS), [*good(2), changed], DONE)
    one = cell(found)

    assert (one.verdict, one.runs_accepted) == ("unavailable", 2)
    assert one.reason is not None
    assert one.reason.detail == "unavailable happened"
    assert isinstance(one.response_ms, Absent)
    assert cell(found, BASELINE).verdict == "valid"


def test_a_retry_of_the_rigs_doing_leaves_no_mark_but_its_count() -> None:
    """Three accepted and one that the rig spoiled: valid, no flag, the rejected one listed."""
    one = cell(summarise(campaign(*PLANS), [*good(), rejected(CELL, 2, "load_limit", attempt=4)], DONE))
    assert (one.verdict, one.flags, one.runs_attempted, one.failed) == ("valid", (), 4, None)
    assert one.rejected[0].reason.class_ == "rig"


def failing(block: int, failed: int, *, accepted: bool) -> RunRecord:
    """A run of 1,500 requests of which some failed."""
    load = clients_load(1, 1499)
    facts = window(load, closed_loop(load, 0.024), answered_by_status={"200": 1500 - failed, "500": failed})
    return run(CELL, block, facts) if accepted else rejected(CELL, block, "errors", facts=facts)


def test_failed_windows_are_said_with_their_share() -> None:
    """Two windows of six rejected and a third with one failure: figures, flag, and what failed of all (METHOD 5)."""
    runs = [failing(b, failed, accepted=failed < 2) for b, failed in enumerate((0, 2, 1, 0, 2, 0), start=1)]
    one = cell(summarise(campaign(*PLANS, runs=6), [*good(6)[:6], *runs], DONE))
    assert (one.verdict, one.reason, one.flags) == ("valid", None, ("few_runs", "failed_in_some_runs"))
    assert one.failed is not None
    assert failed_text(one.failed) == "3 of 6 windows, 5 of 9,000 requests (0.06 %, 0.02–0.13)"
    assert [line.failed_count for line in one.runs] == [0, 2, 1, 0, 2, 0]


def test_a_window_of_failures_behind_each_good_one_is_no_longer_tried_away() -> None:
    """Half of the windows failed with one request each and were made again (M9): flagged, with what failed of all."""
    failed = [failing(b, 1, accepted=False).model_copy(update={"attempt": 3 + b}) for b in (1, 2, 3)]
    one = cell(summarise(campaign(*PLANS), [*good(), *failed], DONE))
    assert (one.verdict, one.flags) == ("valid", ("failed_in_some_runs",))
    assert one.failed is not None
    assert failed_text(one.failed) == "3 of 6 windows, 3 of 7,503 requests (0.04 %, 0.01–0.12)"


@pytest.mark.parametrize(
    ("failed", "verdict"),
    [((0, 0, 2), "valid"), ((0, 2, 2), "errored"), ((0, 0, 8), "valid"), ((0, 0, 10), "errored")],
)
def test_a_cell_is_errored_by_its_lost_runs_or_by_the_lower_bound(failed: tuple[int, ...], verdict: str) -> None:
    """Two lost runs of three are too many; of one lost run, ten failed of 4,500 show that more than 0.1 % fail."""
    runs = [failing(b, count, accepted=count < 2) for b, count in enumerate(failed, start=1)]
    one = cell(summarise(campaign(*PLANS), [*good()[:3], *runs], DONE))
    assert one.verdict == verdict
    if verdict == "errored":
        assert one.reason is not None
        assert one.failed is not None
        assert one.reason.detail == f"{failed_text(one.failed)}; the first: errors happened"
        assert isinstance(one.response_ms, Absent)


def test_runs_that_the_rig_spoiled_are_not_counted_against_a_gateway() -> None:
    """One accepted of three, two spoiled by the rig, all of them with failed requests: valid with k of n."""
    spoiled = [
        failing(b, 700, accepted=False).model_copy(update={"reason": Reason.of("generator_lag")}) for b in (2, 3)
    ]
    one = cell(summarise(campaign(*PLANS), [*good(1), *spoiled], DONE))
    assert (one.verdict, one.flags, one.failed) == ("valid", ("few_runs",), None)


def test_a_gateway_that_spoils_windows_at_random_is_never_shown_without_a_word() -> None:
    """Simulated cells of three windows, 30 and 50 % of them spoiled: each that has one says so or is errored."""
    rng = np.random.default_rng(9)
    verdicts = []
    for share in (0.3, 0.5):
        for _ in range(60):
            bad = rng.random(3) < share
            runs = [failing(b, 2 if is_bad else 0, accepted=not is_bad) for b, is_bad in enumerate(bad, start=1)]
            found = outcome(CellAttempts(plan=PLANS[1], runs=tuple(runs), wanted=3, status="complete"))
            assert bad.any() == ("failed_in_some_runs" in found.flags or found.verdict == "errored")
            assert (bad.sum() > 1) == (found.verdict == "errored")
            verdicts.append(found.verdict)
    assert set(verdicts) == {"valid", "errored"}


def without_figure(one: RunRecord, key: str) -> RunRecord:
    """The run without one of its figures."""
    assert one.figures is not None
    return one.model_copy(update={"figures": one.figures.changed(**{key: Absent(absent="cut")})})


def test_a_figure_needs_two_thirds_of_the_accepted_runs() -> None:
    """Of three runs two with the figure are enough, and say so; one is not, and says that."""
    runs = good()
    two = cell(summarise(campaign(*PLANS), [*runs[:5], without_figure(runs[5], "ttfb_ms")], DONE))
    assert isinstance(two.ttfb_ms, Timing)
    assert (two.ttfb_ms.run_count, two.ttfb_ms.missing_run_count) == (2, 1)
    assert "figures_of_some_runs" in two.flags
    gone = [without_figure(one, "ttfb_ms") for one in runs[4:]]
    one = cell(summarise(campaign(*PLANS), [*runs[:4], *gone], DONE))
    assert one.ttfb_ms.absent == "too_few_runs"
    assert one.ttfb_ms.text == "1 of 3 runs has it; of the others: cut: requests without a response have no time"
    assert one.ttfb_shift_ms.absent == "too_few_runs"
    assert "figures_of_some_runs" not in one.flags


def test_the_headline_is_recomputed_with_the_rejected_runs() -> None:
    """Two rejected runs that were 20 ms slower change the second headline and not the first."""
    bad = [rejected(CELL, b, "load_limit", attempt=3 + b, facts=lane(0.05)) for b in (1, 2, 3, 3)]
    one = cell(summarise(campaign(*PLANS), [*good(), *bad], DONE))
    assert isinstance(one.shift_ms, Timing)
    assert isinstance(one.shift_with_rejected_ms, Timing)
    assert one.shift_ms.p50 == pytest.approx(5.9)
    assert one.shift_with_rejected_ms.p50 == pytest.approx(29.9)


def test_a_saturated_cell_says_what_it_served_and_has_no_shift() -> None:
    """66 of 150/s: saturated, with its sentence in place of every shift; exit code 0."""
    load = rate_load(150, 1500)
    name = "reference.none.work.plain.rate-150"
    baseline = plan("direct.none.work.plain.rate-150", load)
    slow = cut_at(open_loop(load, 1 / 66, servers=1), 20.0)
    facts = window(load, slow, cut=True, wall_s=20.0)
    runs = [run(baseline.cell, b, window(load, open_loop(load, 0.02))) for b in (1, 2, 3)]
    runs += [run(name, b, facts, verdict="saturated") for b in (1, 2, 3)]
    found = summarise(campaign(baseline, plan(name, load)), runs, DONE)
    one = cell(found, name)
    assert (one.verdict, one.served_text) == ("saturated", "served 66 of 150 per second")
    assert one.shift_ms == Absent(absent="saturated", detail="served 66 of 150 per second")
    assert isinstance(one.response_ms, Absent)
    assert (one.offered_rps, exit_code(found)) == (150, 0)


def test_the_majority_of_the_runs_decides_whether_a_cell_is_saturated() -> None:
    """One saturated run of three is a flag and stays in the medians; two of three make the cell saturated."""
    load = rate_load(50, 1000)
    baseline, mine = plan("direct.none.work.plain.rate-50", load), plan("reference.none.work.plain.rate-50", load)
    fast, slow = window(load, open_loop(load, 0.02)), window(load, open_loop(load, 1 / 40, servers=1))
    for count, verdict in ((1, "valid"), (2, "saturated")):
        runs = [run(baseline.cell, b, fast) for b in (1, 2, 3)]
        runs += [
            run(mine.cell, b, slow if b <= count else fast, verdict="saturated" if b <= count else "valid")
            for b in (1, 2, 3)
        ]
        one = cell(summarise(campaign(baseline, mine), runs, DONE), mine.cell)
        assert one.verdict == verdict
        assert ("saturated_in_some_runs" in one.flags) == (count == 1)


def test_many_clients_have_littles_rate_beside_the_achieved_one() -> None:
    """50 clients with 25 ms answers: 2,000/s by Little's law, and achieved says the same."""
    load = clients_load(50, 1000)
    name = "reference.none.work.plain.clients-50"
    runs = [run(name, b, window(load, closed_loop(load, 0.025))) for b in (1, 2, 3)]
    one = cell(summarise(campaign(plan(name, load)), runs, DONE), name)
    assert one.littles_rps == pytest.approx(2000)
    assert isinstance(one.achieved_rps, Figure)
    assert one.achieved_rps.value == pytest.approx(2000, rel=0.01)
    assert isinstance(one.shift_ms, Absent)
    assert one.shift_ms.absent == "no_baseline"


def test_calls_drain_and_cost_are_per_request_and_absent_where_unknown() -> None:
    """Two calls in the path and one beside it, 2 ms of CPU per request; no control plane is absent, not zero."""
    calls = {"authorize": 1001, "dispatch": 1001, "complete": 1001}
    rich = run(
        CELL,
        1,
        lane(0.025),
        counts=counts(1001, control_plane_calls=calls, admission_call_count=2002, background_call_count=1001),
        drain_s=1.5,
        undelivered_at_end_count=7,
        resources=Resources(
            cpu_s=2.302,
            cpu_span_s=30.0,
            idle_before=IdleLook(slice_s=1.0, cores=(0.01,) * 4),
            rss_idle_bytes=5,
            rss_peak_bytes=9,
            absent={"flush_count": Absent(absent="no_device")},
        ),
    )
    found = summarise(campaign(*PLANS, runs=1), [run(BASELINE, 1, lane(0.02)), rich], DONE)
    one = cell(found)
    assert one.known("admission_calls_per_request") == pytest.approx(2.0)
    assert one.known("background_calls_per_request") == pytest.approx(1.0)
    assert isinstance(one.cpu_ms_per_request, Figure)
    assert one.cpu_ms_per_request.value == pytest.approx(2.0)
    assert (one.drain_s, one.undelivered_at_end_count) == (Figure(value=1.5, low=1.5, high=1.5), 7)
    assert one.flushes_per_request == Absent(absent="no_device")
    assert cell(found, BASELINE).admission_calls_per_request == Absent(absent="no_control_plane")
    assert cell(found, BASELINE).drain_s == Absent(absent="no_events")


def test_other_work_on_the_machine_is_said_with_its_limit() -> None:
    """One accepted run beside 0.4 foreign cores marks the campaign; a rejected one does not."""
    busy = QUIET.model_copy(update={"foreign_cpu_cores": 0.4})
    quiet = summarise(campaign(*PLANS), [*good(), rejected(CELL, 1, "errors", attempt=4, load_after=busy)], DONE)
    assert (quiet.loaded_machine, quiet.loaded_text) == (False, None)
    runs = [replace_reading(one, busy) if one.cell == CELL and one.block == 2 else one for one in good()]
    loaded = summarise(campaign(*PLANS), runs, DONE)
    assert loaded.loaded_machine
    assert loaded.loaded_text == (
        "Other work loaded this machine in 1 of 6 accepted runs: other processes took up to 0.40 cores (limit 0.05)."
    )


def replace_reading(one: RunRecord, reading: Any) -> RunRecord:
    """The run with another reading after its window."""
    return one.model_copy(update={"load_after": reading})


def test_a_direct_lane_that_is_slow_under_load_marks_itself_and_its_cells() -> None:
    """Direct at 50 clients takes 60 ms where one client has 20: the baseline and what is compared with it say so."""
    load = clients_load(50, 1000)
    baseline, mine = (
        plan("direct.none.work.plain.clients-50", load),
        plan("reference.none.work.plain.clients-50", load),
    )
    runs = [*good()]
    runs += [run(baseline.cell, b, window(load, closed_loop(load, 0.06))) for b in (1, 2, 3)]
    runs += [run(mine.cell, b, window(load, closed_loop(load, 0.08))) for b in (1, 2, 3)]
    found = summarise(campaign(*PLANS, baseline, mine), runs, DONE)
    flagged = {one.cell for one in found.cells if "baseline_slow" in one.flags}
    assert flagged == {baseline.cell, mine.cell}


def test_a_campaign_that_still_runs_or_was_interrupted_says_so() -> None:
    """Without a finish the status is running; after an interrupt the cells that lack runs name it."""
    assert summarise(campaign(*PLANS), good(), None).status == "running"
    stopped = DONE.model_copy(update={"status": "interrupted"})
    found = summarise(campaign(*PLANS), good(1)[:1], stopped)
    assert cell(found).reason == Reason.of("not_run", "not run: the campaign is interrupted")
    assert (cell(found, BASELINE).reason, cell(found, BASELINE).runs_wanted) == (None, 3)


def test_the_mock_is_labelled_wherever_it_stands_and_the_baseline_comes_first() -> None:
    """The reference gateway is a mock, not a product; a recipe's own label is kept."""
    gateways = (gateway("reference"), gateway("litellm", label="beta"), gateway("direct"))
    found = summarise(campaign(*PLANS, gateways=gateways), good(), DONE)
    assert [(one.id, one.label) for one in found.gateways] == [
        ("direct", None), ("reference", "mock, not a product"), ("litellm", "beta"),
    ]  # fmt: skip


def test_peak_memory_below_idle_is_flagged() -> None:
    """A failed arithmetic check on resources stands on the cell."""
    wrong = replace_resources(good(), Resources(rss_idle_bytes=10, rss_peak_bytes=9))
    assert "memory_order" in cell(summarise(campaign(*PLANS), wrong, DONE)).flags


def replace_resources(runs: list[RunRecord], resources: Resources) -> list[RunRecord]:
    """The runs with other resources."""
    return [one.model_copy(update={"resources": resources}) for one in runs]


def test_a_rejected_baseline_leaves_the_shift_absent_and_shown_with_rejected_runs_only() -> None:
    """Without an accepted baseline run there is no headline; the recomputed one stands for itself."""
    runs = [one for one in good() if one.cell == CELL]
    runs += [rejected(BASELINE, b, "load_limit", facts=lane(0.0201)) for b in (1, 2, 3)]
    one = cell(summarise(campaign(*PLANS), runs, DONE))
    assert isinstance(one.shift_ms, Absent)
    assert isinstance(one.shift_with_rejected_ms, Timing)


def test_a_windowless_accepted_run_breaks_nothing() -> None:
    """A record without figures, counts or report (a phase that failed) is summarised, not crashed on."""
    bare = [run(CELL, b, None, accepted=False, verdict="errored", reason=Reason.of("never_ready")) for b in (1, 2)]
    found = cell(summarise(campaign(*PLANS), bare, DONE))
    assert found.verdict == "errored"
    assert found.error_count == 0
    assert with_client(lane(0.02), cut=True).lead.cut
