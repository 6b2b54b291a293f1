"""Acceptance of a run: each fault is injected once into a faultless attempt and must be detected under its name."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from tests.examples.judge_examples import (
    QUIET,
    clients_load,
    closed_loop,
    code_of,
    counts,
    cut_at,
    detail_of,
    evidence,
    inputs,
    open_loop,
    rate_load,
    window,
    with_client,
)
from weighbridge.judge.inputs import Attempted
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.window import Client, ProviderHealth, Window
from weighbridge.record.coded import Reason

LOAD = rate_load(50, 1000)
FACTS = window(LOAD, open_loop(LOAD, 0.02))


def saturated(**changes: Any) -> Window:
    """Window of a lane that serves 66 of 150 per second."""
    load = rate_load(150, 1500)
    return window(load, open_loop(load, 1 / 66, servers=1), **changes)


def with_rows(facts: Window, **columns: Any) -> Window:
    """The window with some columns of its samples replaced."""
    samples = facts.lead.samples
    assert samples is not None
    return with_client(facts, samples=replace(samples, **columns))


def test_a_faultless_run_is_valid_without_a_flag() -> None:
    """Nothing injected, nothing found."""
    found = judge_run(inputs(FACTS))
    assert (found.accepted, found.verdict, found.reason, found.flags) == (True, "valid", None, ())


@pytest.mark.parametrize(
    ("fault", "reason", "verdict"),
    [
        ({"failure": Reason.of("never_ready", "not ready within 30 s")}, "never_ready", "errored"),
        ({"death": "exit status 3"}, "crashed", "errored"),
        ({"evidence": (evidence(ok=False, status=404, problem="no such path"),)}, "not_served", "not_served"),
        ({"lead": {"exit_code": -9}}, "generator_failed", "rig_limited"),
        ({"lead": {"exit_code": 1, "problem": "No space left"}}, "generator_failed", "rig_limited"),
        ({"lead": {"exit_code": -9, "killed": True}}, "generator_failed", "rig_limited"),
        ({"lead": {"report": None, "problem": "no file"}}, "generator_failed", "rig_limited"),
        ({"window": None}, "generator_failed", "rig_limited"),
        ({"counts": counts(1032, provider_request_count=900)}, "provider_count", "errored"),
        ({"load_limit": 1.0, "load_after": QUIET.model_copy(update={"load_1m": 1.0})}, "load_limit", "rig_limited"),
        ({"load_limit": 1.0, "load_before": QUIET.model_copy(update={"load_1m": 3.0})}, "load_limit", "rig_limited"),
        ({"lead": {"cpu_cores": 0.71}}, "generator_saturated", "rig_limited"),
        ({"provider": ProviderHealth(0.0, 0.71)}, "mock_saturated", "rig_limited"),
        ({"provider": ProviderHealth(0.011, 0.3)}, "mock_saturated", "rig_limited"),
    ],
)  # fmt: skip
def test_a_fault_beside_the_window_is_detected(fault: dict[str, Any], reason: str, verdict: str) -> None:
    """Each injected fault alone turns the faultless run into a rejected one with its own reason and a sentence."""
    found = judge_run(inputs(FACTS, **fault))
    assert (found.accepted, code_of(found), found.verdict) == (False, reason, verdict)
    assert detail_of(found)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answered_by_status": {"200": 1030, "500": 2}}, "errors"),
        ({"answered_count": 1030, "failed_count": 2, "failed_by_class": {"reset": 2}}, "errors"),
        ({"answered_count": 1031}, "incomplete"),
        ({"verdict": "partial", "reason": "cut off"}, "incomplete"),
    ],
)
def test_a_fault_in_the_report_is_detected(changes: dict[str, Any], reason: str) -> None:
    """Two responses of a thousand that are no 2xx, two failures, one request without an outcome: each rejects."""
    found = judge_run(inputs(window(LOAD, FACTS.lead.samples, **changes)))
    assert (found.accepted, code_of(found)) == (False, reason)


@pytest.mark.parametrize(
    ("requests", "failed", "accepted"),
    [(900, 0, True), (900, 1, False), (968, 1, True), (967, 1, False), (2968, 3, True), (2968, 4, False)],
)
def test_a_window_may_have_one_failed_request_in_a_thousand(requests: int, failed: int, accepted: bool) -> None:
    """0.1 % of all that were sent, below 1,000 none; a window that stays counts what failed."""
    load = rate_load(50, requests)
    samples = open_loop(load, 0.02)
    status = samples.status.copy()
    status[:failed] = 500
    answers = {"200": load.window_count - failed, "500": failed}
    given = inputs(window(load, replace(samples, status=status), answered_by_status=answers))
    found = judge_run(given)
    assert given.figures is not None
    assert (found.accepted, given.figures.error_count) == (accepted, failed)
    if not accepted:
        assert detail_of(found) == f"{failed} of {load.window_count} requests failed: {failed} × status 500"


@pytest.mark.parametrize(("received", "code"), [(1032, None), (1031, None), (1030, "provider_count")])
def test_a_failed_request_need_not_have_got_to_the_provider(received: int, code: str | None) -> None:
    """A gateway that refuses one request of a thousand by itself loses no run; a second that is missing does."""
    facts = window(LOAD, FACTS.lead.samples, answered_by_status={"200": 1031, "500": 1})
    given = inputs(facts, counts=counts(1032, client_success_count=1031, provider_request_count=received,
                                        provider_distinct_count=received))  # fmt: skip
    assert code_of(judge_run(given)) == code


def test_missing_samples_are_incomplete() -> None:
    """A sample less than responses, or no samples at all, reject the run."""
    samples = FACTS.lead.samples
    assert samples is not None
    for facts in (with_client(FACTS, samples=samples.where(np.arange(1031))), with_client(FACTS, samples=None)):
        assert code_of(judge_run(inputs(facts))) == "incomplete"


def test_a_window_that_outlasts_its_deadline_is_the_lanes_doing_for_clients() -> None:
    """Clients that hang until the deadline are incomplete; there is no cut that the generator ignored."""
    load = clients_load(10, 100)
    facts = window(load, closed_loop(load, 0.02))
    assert code_of(judge_run(inputs(facts, lead={"exit_code": -9, "killed": True}))) == "incomplete"


def test_a_saturated_lane_is_a_result() -> None:
    """66 of 150/s is accepted as saturated with its sentence and is not tried again, whatever the counts are."""
    facts = saturated()
    found = judge_run(inputs(facts, counts=counts(1532, provider_request_count=1540)))
    assert (found.accepted, found.verdict, found.reason) == (True, "saturated", None)
    assert "connections_full" in found.flags


def test_a_cut_run_is_saturated_although_its_samples_are_incomplete() -> None:
    """An interrupted window with a partial report is the result that the cut was made for."""
    load = rate_load(150, 1500)
    samples = cut_at(open_loop(load, 1 / 66, servers=1), 20.0)
    found = judge_run(inputs(window(load, samples, cut=True, wall_s=20.0, verdict="partial", reason="interrupted")))
    assert (found.accepted, found.verdict) == (True, "saturated")


def test_a_lane_that_went_silent_is_not_saturated() -> None:
    """Served for 3 s and was silent until the cut at 20 s: incomplete, and tried again."""
    load = rate_load(150, 1500)
    samples = cut_at(open_loop(load, 1 / 66, servers=1), 3.0)
    found = judge_run(inputs(window(load, samples, cut=True, wall_s=20.0, verdict="partial")))
    assert (found.accepted, code_of(found)) == (False, "incomplete")


def test_time_outs_of_a_saturated_lane_are_its_queue_and_a_500_is_not() -> None:
    """Requests that waited beyond the time-out leave the verdict saturated, flagged; load shedding is errors."""
    late = saturated(answered_count=1432, failed_count=100, failed_by_class={"timeout": 100},
                     answered_by_status={"200": 1432})  # fmt: skip
    assert late.lead.samples is not None
    outcome = late.lead.samples.outcome.copy()
    outcome[-100:] = 1
    found = judge_run(inputs(with_rows(late, outcome=outcome)))
    assert (found.accepted, found.verdict) == (True, "saturated")
    assert "timeouts" in found.flags
    shed = saturated(answered_by_status={"200": 1500, "503": 32})
    assert code_of(judge_run(inputs(shed))) == "errors"


def test_a_cut_without_samples_asks_for_a_second_window_and_takes_its_answer() -> None:
    """By totals alone it is saturated but unchecked; a direct lane asks for nothing; the doubled window decides."""
    load = rate_load(150, 1500)
    facts = window(load, None, cut=True, wall_s=20.0, answered_count=1320, answered_by_status={"200": 1320})
    assert judge_run(inputs(facts)).flags == ("connections_unchecked",)
    assert judge_run(inputs(facts, is_baseline=True)).flags == ()
    assert judge_run(inputs(facts, doubled_achieved_rps=66.5)).flags == ()
    assert code_of(judge_run(inputs(facts, doubled_achieved_rps=90.0))) == "connection_limited"


def test_the_direct_lane_that_misses_the_rate_is_the_rigs_fault() -> None:
    """Without a gateway there is nothing to saturate."""
    found = judge_run(inputs(saturated(), is_baseline=True))
    assert (found.accepted, code_of(found), found.verdict) == (False, "rate_missed", "rig_limited")


def test_a_slow_generator_is_the_rigs_fault() -> None:
    """A pacer that falls behind makes the run rig_limited although the lane was idle."""
    load = rate_load(150, 1500)
    late = np.arange(load.window_count) / 150 * 0.05
    assert code_of(judge_run(inputs(window(load, open_loop(load, 0.02, pacer_s=late))))) == "rate_missed"


def test_too_few_connections_are_the_rigs_fault_unless_doubling_shows_otherwise() -> None:
    """2 s responses over 32 connections at 50/s: connection_limited; no gain with 64 makes it saturated."""
    load = rate_load(50, 600)
    facts = window(load, open_loop(load, 2.0))
    found = judge_run(inputs(facts))
    assert (found.accepted, code_of(found), found.verdict) == (False, "connection_limited", "rig_limited")
    assert judge_run(inputs(facts, doubled_achieved_rps=16.1)).verdict == "saturated"


@pytest.mark.parametrize(
    ("pacer_s", "late_share", "reason"),
    [(0.001, 1.0, None), (0.005, 1.0, None), (0.025, 1.0, "generator_lag"), (0.015, 0.02, "generator_lag")],
)
def test_generator_lag_voids_a_run_only_when_gross(pacer_s: float, late_share: float, reason: str | None) -> None:
    """A lag p99 above half of the median response: of 45 ms with all sent 25 ms late, of 20 ms with one in fifty."""
    late_s = np.where(np.arange(LOAD.window_count) % round(1 / late_share) == 0, pacer_s, 0.0)
    found = judge_run(inputs(window(LOAD, open_loop(LOAD, 0.02, pacer_s=late_s))))
    assert (found.flags, code_of(found)) == ((), reason)


def test_waiting_for_a_connection_of_a_saturated_lane_is_no_generator_lag() -> None:
    """Dispatch lag of seconds behind a full cap is the lane's queue."""
    assert "generator_lag" not in judge_run(inputs(saturated())).flags


@pytest.mark.parametrize(
    ("fault", "flag"),
    [
        ({"gate_text": "PSI cpu 9 %"}, "loaded_machine"),
        ({"load_before": QUIET.model_copy(update={"foreign_cpu_cores": 0.06})}, "loaded_machine"),
        ({"load_after": QUIET.model_copy(update={"steal_pct": 1.5})}, "loaded_machine"),
        ({"load_limit": 4.0, "load_after": None}, "load_unknown"),
        ({"undelivered_at_end_count": 52}, "backlog_growing"),
        ({"evidence": (evidence(stamp_survives=False),)}, "no_inband"),
        ({"counts": counts(1032, provider_distinct_count=1033)}, "counts_differ"),
        ({"counts": counts(1032, client_success_count=1033)}, "counts_differ"),
        ({"counts": counts(1032, repeat_share_ratio=0.5)}, "prompts_repeated"),
    ],
)  # fmt: skip
def test_a_remark_is_a_flag_and_changes_no_verdict(fault: dict[str, Any], flag: str) -> None:
    """Each remark is found under its name and the run stays valid."""
    found = judge_run(inputs(FACTS, **fault))
    assert found.flags == (flag,)
    assert found.accepted


@pytest.mark.parametrize(("odd", "bytes_", "is_error"), [(1, 400, False), (20, 400, True), (20, 460, False)])
def test_a_200_of_an_unexpected_size_failed(odd: int, bytes_: int, *, is_error: bool) -> None:
    """Where no content is read a body of 80 % of the usual size is an error; one in 1,532 is allowed, and counted."""
    size = np.full(LOAD.window_count, 500)
    size[700 : 700 + odd] = bytes_
    given = inputs(with_rows(FACTS, received_bytes=size))
    assert given.figures is not None
    assert given.figures.count("error_count") == (odd if bytes_ == 400 else 0)
    found = judge_run(given)
    assert (code_of(found) == "errors") is is_error
    assert not is_error or "20 × 200 of an unexpected size" in detail_of(found)


def test_an_error_of_the_usual_size_in_every_row_is_told_by_the_preflight() -> None:
    """Where all are bad none is unusual; the size of the response before the window shows it."""
    found = judge_run(inputs(replace(FACTS, expected_bytes=900)))
    assert code_of(found) == "errors"


def test_few_samples_are_a_flag() -> None:
    """A p99 of 250 is remarked."""
    load = rate_load(50, 250)
    assert judge_run(inputs(window(load, open_loop(load, 0.02)))).flags == ("few_samples",)


def test_unknown_readings_are_no_load() -> None:
    """A kernel that tells nothing makes no loaded machine and, with no limit set, no flag."""
    silent = QUIET.model_copy(update=dict.fromkeys(("load_1m", "steal_pct", "foreign_cpu_cores")))
    assert judge_run(inputs(FACTS, load_before=silent, load_after=None)).flags == ()


def test_no_rule_can_look_at_an_overhead() -> None:
    """The inputs of a judgement have no field with a shift or an added time, and no baseline figure."""
    names = {field.name for kind in (Attempted, Window, Client) for field in fields(kind)}
    assert not {name for name in names if "shift" in name or "added" in name or "overhead" in name}
    faster, slower = (inputs(window(LOAD, open_loop(LOAD, service))) for service in (0.02, 0.3))
    assert judge_run(faster) == judge_run(slower)
