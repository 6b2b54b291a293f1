"""Windows of several clients: one offered rate, counts over all, added time from the probe, each bad end found."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.examples.judge_examples import (
    ANSWER,
    client,
    clients_load,
    closed_loop,
    code_of,
    counts,
    detail_of,
    inputs,
    open_loop,
    report,
    table,
    window,
    window_of,
    with_client,
)
from tests.examples.trace_examples import EPOCH_NS, MS, US, S, plain, streams, tables
from weighbridge.judge.figures.run_figures import client_rates, run_figures
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.window import Client, Trace, Window
from weighbridge.matrix.loads import Load, OpenStreamsLoad, RateLoad
from weighbridge.matrix.requests import Mode
from weighbridge.record.figures import Absent, Timing
from weighbridge.record.open_streams import OpenStreamsResult, OpenStreamsStep
from weighbridge.record.probe_tables import EventTable, RequestTable

LOAD = RateLoad(50.0, 30.0, 1500, 32, 0, 60.0).with_companion("probe", "auto")
MAIN, BESIDE = (part.load for part in LOAD.parts())


def _part(load: Load, requests: RequestTable) -> Any:
    """Samples of the probe's own part: dithered arrivals on its own clock."""
    intended = (requests.intended_ns - EPOCH_NS) / S
    sent, end = ((column - EPOCH_NS) / S for column in (requests.sent_ns, requests.end_ns))
    return table(sent, end, intended_s=intended, released_s=intended, status=requests.status)


def _dithered(requests: RequestTable) -> RequestTable:
    """The requests moved to one random point in each slot of the probe's rate."""
    load = BESIDE
    chance = np.random.default_rng(3)
    slot_ns = S / (load.rate_rps)
    moved = ((np.arange(len(requests)) + chance.random(len(requests))) * slot_ns).astype(np.int64)
    by = EPOCH_NS + moved - requests.sent_ns
    times = ("intended_ns", "sent_ns", "headers_ns", "first_byte_ns", "end_ns", "recv_ns", "send_ns")
    return replace(requests, **{name: getattr(requests, name) + by for name in times})


def _window(
    service_s: float = 0.021,
    *,
    requests: RequestTable | None = None,
    events: EventTable | None = None,
    **changes: Any,
) -> Window:
    """A faultless window of both clients; `changes` are those of the probe's load report."""
    seen = _dithered(plain(BESIDE.window_count)) if requests is None else requests
    driver = client(MAIN, open_loop(MAIN, service_s))
    mode: Mode = "plain" if events is None else "stream"
    return window_of(driver, _probe(seen, events, **changes), load=LOAD, mode=mode, counts=counts(LOAD.window_count))


def _probe(
    requests: RequestTable, events: EventTable | None = None, *, role: str = "companion", **changes: Any
) -> Client:
    """A probe with its part of the rate that saw these requests."""
    mine = _part(BESIDE, requests)
    seen = Trace("plain" if events is None else "stream", ANSWER, requests, BESIDE.connections, events)
    reported = report(mine, BESIDE, tool="probe", **changes)
    return client(BESIDE, mine, role=role, report=reported, trace=seen, sees_stamps=True)


def test_a_faultless_run_counts() -> None:
    """Offered is the whole rate, achieved both together, and the counts of both clients are the provider's."""
    given = inputs(_window())
    found = given.figures

    assert judge_run(given).verdict == "valid"
    assert found is not None
    assert found.offered_rps == 50.0
    assert found.known("achieved_rps") == pytest.approx(50.0, rel=0.002)
    assert found.known("goodput_rps") == found.known("achieved_rps")
    assert found.achieved_from == "samples"


def test_arrivals_do_not_scatter_the_probes_rate() -> None:
    """A lane that responds to all alike serves the probe's part exactly, wherever in its slots its ends fell."""
    rates = client_rates(_window().clients[1])

    assert rates.achieved_rps == rates.goodput_rps == pytest.approx(BESIDE.rate_rps, rel=1e-6)


def test_percentiles_are_the_drivers_and_added_time_is_the_probes() -> None:
    """Response times are of the driver's requests alone; added time is of the probe's, less its first ones."""
    found = run_figures(_window())

    assert isinstance(found.response_ms, Timing)
    assert found.response_ms.n == MAIN.request_count
    assert isinstance(found.added_ms, Timing)
    assert found.added_ms.n == BESIDE.request_count
    assert found.added_ms.p50 == pytest.approx(0.140)
    assert found.added_ms.p95 == pytest.approx(0.140)


def test_p99_is_left_to_a_run_of_the_probe() -> None:
    """With a couple of hundred samples p99 is no figure and says why; of chunks there are enough."""
    requests, events = tables(streams(BESIDE.window_count))
    found = run_figures(_window(requests=requests, events=events))

    for one in (found.added_first_ms, found.added_total_ms, found.request_path_ms, found.ttft_ms):
        assert isinstance(one, Timing)
        assert one.p50 is not None
        assert one.p95 is not None
        assert one.p99 is None
        assert "p99 comes from a run that it drives" in one.absent["p99"].detail
        assert "p99" not in one.few_samples
    assert isinstance(found.forwarding_ms, Timing)
    assert found.forwarding_ms.p99 is not None


def test_a_slow_lane_is_saturated_by_both_rates() -> None:
    """A lane that serves two of three requests: offered and served are those of both clients."""
    load = BESIDE
    count = load.window_count
    late = np.linspace(0, 10 * S, count).astype(np.int64)
    requests = replace(
        plain(count, response_path_ns=60 * US + late), intended_ns=EPOCH_NS + np.arange(count) * 133 * MS
    )
    main = open_loop(MAIN, 1 / 32.0, servers=1)
    judged = judge_run(inputs(with_client(_window(requests=requests), samples=main, report=report(main, MAIN))))

    assert judged.verdict == "saturated"


def test_counts_that_do_not_add_up_reject() -> None:
    """The provider must have seen the requests of both clients; one that is missing is not explained."""
    sent = LOAD.window_count
    judged = judge_run(inputs(_window(), counts=counts(sent, provider_request_count=sent - 1)))

    assert (code_of(judged), judged.accepted) == ("provider_count", False)
    assert str(sent) in detail_of(judged)


def test_a_gateway_that_calls_again_is_retried_by_every_driver() -> None:
    """More calls than requests are the same flag and the same verdict, whoever drove."""
    load = clients_load(1, 300)
    alone, sent = window(load, closed_loop(load, 0.021)), load.window_count
    for facts in (alone, with_client(alone, sees_stamps=True)):
        judged = judge_run(inputs(facts, counts=counts(sent, provider_request_count=sent + 3)))
        assert (judged.verdict, "retried" in judged.flags) == ("valid", True)


def test_a_failing_request_of_the_probe_is_an_error_of_the_lane() -> None:
    """Two 503 among the probe's responses reject the run as two of the driver's would, and count."""
    count = BESIDE.window_count
    requests = _dithered(plain(count))
    requests.status[7:9] = 503
    facts = _window(requests=requests, answered_by_status={"200": count - 2, "503": 2})
    judged = judge_run(inputs(facts))

    assert run_figures(facts).error_count == 2
    assert code_of(judged) == "errors"
    assert detail_of(judged) == f"2 of {LOAD.window_count} requests failed: 2 × status 503"


def test_one_bad_content_that_the_probe_saw_rejects_for_the_driver_sees_none() -> None:
    """A 503 in a thousand is all of them; a response that cannot be read is one of those that were looked at."""
    count = BESIDE.window_count
    reported = {"answered_count": count - 1, "failed_count": 1, "answered_by_status": {"200": count - 1}}
    seen = judge_run(inputs(_window(**reported, failed_by_class={"error_in_body": 1})))
    lost = judge_run(inputs(_window(**reported, failed_by_class={"reset": 1})))

    assert (code_of(seen), code_of(lost)) == ("errors", "incomplete")


@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ({"exit_code": 1, "problem": "disk full"}, "the companion probe ended with exit status 1: disk full"),
        ({"exit_code": -9}, "the companion probe ended with signal 9"),
        (
            {"exit_code": -9, "killed": True},
            "the companion probe was interrupted, did not stop, and was killed",
        ),
        ({"problem": "no file"}, "the companion probe left no report of the window: no file"),
    ],
)
def test_a_probe_that_dies_in_the_window_rejects(end: dict[str, Any], sentence: str) -> None:
    """Its part of the rate went with it, so the lane was not driven as offered: the rig's fault, tried again."""
    facts = with_client(_window(), 1, report=None, samples=None, trace=None, **end)
    judged = judge_run(inputs(facts, counts=counts(MAIN.window_count, client_sent_count=None)))

    assert (code_of(judged), judged.verdict) == ("generator_failed", "rig_limited")
    assert detail_of(judged) == sentence


def test_a_probe_without_all_its_answers_is_incomplete() -> None:
    """What the probe did not finish is missing of the run, though the driver has everything."""
    count = BESIDE.window_count
    judged = judge_run(inputs(_window(answered_count=count - 3, answered_by_status={"200": count - 3})))

    assert code_of(judged) == "incomplete"
    assert detail_of(judged) == f"{count - 3} of {count} requests of the companion probe have an outcome"


def test_without_a_probe_the_figures_say_why() -> None:
    """A companion that was left out leaves its reason in the place of each time; the run is none the worse."""
    why = Absent(absent="no_companion", detail="off: for this test")
    load = LOAD.without_companion(why.detail)
    samples = open_loop(load, 0.021)
    facts = window_of(client(load, samples))
    found = run_figures(facts)

    assert found.added_ms == found.added_first_ms == found.forwarding_ms == why
    assert judge_run(inputs(facts)).verdict == "valid"


STREAMS = OpenStreamsLoad((0, 20), 3.0, 3.02)
KINDS = ("three", "two probes")
PLACES = [(kind, place) for kind, number in (("three", 3), ("two probes", 2)) for place in range(number)]


def _opened(**changes: Any) -> OpenStreamsResult:
    points = tuple(
        OpenStreamsStep(client_open_count=n, content_count=n, open_count=n, at_s=0.1) for n in STREAMS.counts
    )
    return OpenStreamsResult(**{"points": points, "opened_count": 20, "whole_count": 20, "broken": None, **changes})


def _several(kind: str) -> Window:
    """A faultless window of a driver, a probe and a stream opener, or of two probes alone."""
    if kind == "two probes":
        seen = [_dithered(plain(BESIDE.window_count)) for _ in range(2)]
        load = replace(BESIDE, rate_rps=2 * BESIDE.rate_rps, request_count=2 * BESIDE.window_count)
        probes = (_probe(seen[0], role="driver"), _probe(seen[1]))
        return window_of(*probes, load=load, counts=counts(2 * BESIDE.window_count))
    reported = report(None, STREAMS, tool="probe", completed_rps=None)
    opener = client(STREAMS, None, role="open_streams", report=reported, streams=_opened())
    facts = _window()
    return replace(facts, clients=(*facts.clients, opener), counts=counts(LOAD.window_count + STREAMS.window_count))


@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_clients_makes_one_run(kind: str) -> None:
    """Counts add up over all, the rate is that of those that have one, and the first probe's trace has the times."""
    given = inputs(_several(kind))
    judged, found = judge_run(given), given.figures

    assert (judged.verdict, judged.reason) == ("valid", None)
    assert not {"counts_differ", "driver_rate_differs"} & set(judged.flags)
    assert found is not None
    assert found.known("achieved_rps") == pytest.approx(given.load.offered_rps, rel=0.01)
    assert isinstance(found.added_ms, Timing)
    assert found.added_ms.p50 == pytest.approx(0.140)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("missing", "code"), [(-1, "provider_count"), (1, None)])
def test_a_request_too_many_is_found_whoever_sent_the_others(kind: str, missing: int, code: str | None) -> None:
    """One request less at the provider than all clients sent is not explained, one more is a call again."""
    facts = _several(kind)
    sent = sum(one.sent_count or 0 for one in facts.reports)
    judged = judge_run(inputs(facts, counts=counts(sent, provider_request_count=sent + missing)))

    assert code_of(judged) == code
    assert ("retried" in judged.flags) is (code is None)


@pytest.mark.parametrize(("kind", "place"), PLACES)
@pytest.mark.parametrize(
    ("end", "sentence"),
    [
        ({"exit_code": 3}, "{who} ended with exit status 3"),
        ({"exit_code": -9}, "{who} ended with signal 9"),
        ({"report": None, "problem": "the file is empty"}, "{who} left no report of the window: the file is empty"),
    ],
)
def test_a_bad_end_is_found_whichever_client_it_is(kind: str, place: int, end: dict[str, Any], sentence: str) -> None:
    """A client that failed rejects the run for the rig's sake, and the sentence says which client it was."""
    facts = with_client(_several(kind), place, **end)
    judged = judge_run(inputs(facts))

    assert (judged.accepted, code_of(judged), judged.verdict) == (False, "generator_failed", "rig_limited")
    assert detail_of(judged) == sentence.format(who=WHO[facts.clients[place].role])


@pytest.mark.parametrize(("kind", "place"), PLACES)
def test_a_client_killed_at_its_deadline_is_named(kind: str, place: int) -> None:
    """One with a schedule ignored its interrupt; one without a schedule had a window that did not end."""
    facts = with_client(_several(kind), place, exit_code=-9, killed=True)
    one, judged = facts.clients[place], judge_run(inputs(facts))

    assert code_of(judged) == ("generator_failed" if one.load.has_schedule else "incomplete")
    assert WHO[one.role] in detail_of(judged)
    assert detail_of(judged).endswith("was killed")


@pytest.mark.parametrize(("kind", "place"), PLACES)
def test_a_client_that_takes_a_whole_core_is_found(kind: str, place: int) -> None:
    """No client may be the limit of what it measures, whichever it is."""
    facts = with_client(_several(kind), place, cpu_cores=0.9)
    judged = judge_run(inputs(facts))

    assert code_of(judged) == "generator_saturated"
    assert detail_of(judged) == f"{WHO[facts.clients[place].role]} took 0.90 of a core; the limit is 0.7"


@pytest.mark.parametrize(("kind", "place"), PLACES)
def test_a_failed_request_counts_whoever_sent_it(kind: str, place: int) -> None:
    """A 503 to any client is an error of the lane, and counts in the figures; two of a thousand reject."""
    facts = _several(kind)
    answers = facts.reports[place].answered_count or 0
    reported = facts.reports[place].model_copy(update={"answered_by_status": {"200": answers - 2, "503": 2}})
    given = inputs(with_client(facts, place, report=reported))

    assert given.figures is not None
    assert given.figures.error_count == 2
    assert code_of(judge_run(given)) == "errors"


@pytest.mark.parametrize(("kind", "place"), [one for one in PLACES if one != ("three", 2)])
def test_what_is_missing_is_told_of_each_client(kind: str, place: int) -> None:
    """Samples, outcomes and the worth of the report are looked at for each client that measures times."""
    facts = _several(kind)
    who, samples = WHO[facts.clients[place].role], facts.clients[place].samples
    assert samples is not None
    count = len(samples)
    partial = facts.reports[place].model_copy(update={"verdict": "partial", "reason": "cut off"})
    faults = {
        f"{who} left no samples": {"samples": None},
        f"{count - 1} samples of {who} for {count} answers": {"samples": samples.where(np.arange(count - 1))},
        f"the load report of {who} is partial: cut off": {"report": partial},
    }

    for sentence, fault in faults.items():
        judged = judge_run(inputs(with_client(facts, place, **fault)))
        assert (code_of(judged), detail_of(judged)) == ("incomplete", sentence)


def test_open_streams_beside_others_must_have_stayed_open() -> None:
    """A stream that broke rejects the window although driver and probe have all of their responses."""
    facts = with_client(_several("three"), 2, streams=_opened(faults={"reset": 1}))

    assert code_of(judge_run(inputs(facts))) == "errors"
    assert "1 of 20 open streams failed: 1 × reset" in detail_of(judge_run(inputs(facts)))


WHO = {
    "driver": "the load generator",
    "companion": "the companion probe",
    "open_streams": "the stream opener",
}


@pytest.mark.parametrize(("name", "advice"), [("client_ports", "TIME_WAIT"), ("client_files", "ulimit -n")])
def test_a_limit_of_this_machine_is_never_the_gateways(name: str, advice: str) -> None:
    """Requests that failed for want of ports or files reject the run for the rig, with what helps."""
    load = clients_load(10, 1000)
    samples = closed_loop(load, 0.02)
    told = report(samples, load, failed_count=12, failed_by_class={name: 12, "reset": 1})
    found = judge_run(inputs(with_client(window(load, samples), report=told)))
    assert (code_of(found), found.verdict) == ("client_limited", "rig_limited")
    assert "12 × " in detail_of(found)
    assert advice in detail_of(found)
    assert "reset" not in detail_of(found)


def test_an_error_inside_a_200_is_named_with_what_it_said() -> None:
    """The reason says more than a class: what stood in the body."""
    load = clients_load(1, 100)
    samples = closed_loop(load, 0.02)
    texts = {"json_error: quota exceeded": 11, "json_error: other": 1}
    told = report(samples, load, failed_count=12, failed_by_class={"error_in_body": 12}, error_text=texts)
    found = judge_run(inputs(with_client(window(load, samples), report=told)))
    assert code_of(found) == "errors"
    assert "12 × 200 with an error in the body (“quota exceeded”)" in detail_of(found)


def test_what_the_companion_saw_is_scaled_with_its_bounds() -> None:
    """Of contents that only a part was looked at for, the sentence says about how many of all."""
    count = BESIDE.window_count
    reported = {"answered_count": count - 2, "failed_count": 2, "answered_by_status": {"200": count - 2}}
    given = inputs(_window(**reported, failed_by_class={"empty": 2}))
    total = MAIN.window_count + count
    about = round(2 / count * total)
    assert given.figures is not None
    assert given.figures.count("error_count") == about
    assert detail_of(judge_run(given)).startswith(f"about {about} of {total} requests failed (")
    assert f"from 2 of {count} looked at: 2 × 200 without content" in detail_of(judge_run(given))


def test_none_seen_is_not_none_where_no_size_is_known() -> None:
    """A driver that tells no size and a companion that saw nothing bad: how many were looked at is kept."""
    seen = run_figures(_window())
    assert seen is not None
    assert seen.count("looked_at_count") is None  # sizes are known, and all were expected
    facts = _window()
    samples = facts.lead.samples
    assert samples is not None
    blind = replace(samples, received_bytes=np.full(len(samples), -1))
    found = run_figures(with_client(facts, samples=blind))
    assert found is not None
    assert (found.count("error_count"), found.count("looked_at_count")) == (0, BESIDE.window_count)


def test_a_pass_of_one_client_gives_the_added_time_and_of_more_the_errors_alone() -> None:
    """Behind oha with one client the probe tells what oha cannot; with ten it judges contents, and no time."""
    for clients in (1, 10):
        load = clients_load(clients, 300)
        passed = _probe(plain(BESIDE.window_count), role="probe_pass", failed_count=1, failed_by_class={"empty": 1})
        facts = replace(window(load, closed_loop(load, 0.021)), probe_pass=passed)
        found = run_figures(facts)
        assert found is not None
        assert isinstance(found.added_ms, Timing) is (clients == 1)
        assert (found.count("error_count") or 0) > 1
        assert code_of(judge_run(inputs(facts))) == "errors"
        # Rates and response times are the driver's alone.
        alone = run_figures(window(load, closed_loop(load, 0.021)))
        assert alone is not None
        assert (found.response_ms, found.achieved_rps) == (alone.response_ms, alone.achieved_rps)
