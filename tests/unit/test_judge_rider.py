"""A run with a probe beside the driver: one offered rate, counts over both, added time from the probe alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from tests.unit.inband_examples import ANSWER, EPOCH_NS, MS, US, S, plain, streams, tables
from tests.unit.judge_examples import code_of, counts, detail_of, inputs, open_loop, report, table
from weighbridge.judge.acceptance import judge_run
from weighbridge.judge.figures import rider_rates, run_figures
from weighbridge.judge.inputs import DriverEnd, InbandFacts, RiderFacts, RunInputs, WindowFacts
from weighbridge.judge.lateness import LEFT_OUT_LIMITS
from weighbridge.matrix.loads import Load, RateLoad
from weighbridge.record.figures import Absent, Timing
from weighbridge.record.inband import EventTable, RequestTable

LOAD = RateLoad(50.0, 30.0, 1500, 32, 25, 60.0).with_companion("probe", "auto")
MAIN, RIDER = (part.load for part in LOAD.parts())


def _part(load: Load, requests: RequestTable) -> Any:
    """Samples of the probe's own part: dithered arrivals on its own clock."""
    intended = (requests.intended_ns - EPOCH_NS) / S
    sent, end = ((column - EPOCH_NS) / S for column in (requests.sent_ns, requests.end_ns))
    return table(sent, end, intended_s=intended, released_s=intended, status=requests.status)


def _dithered(requests: RequestTable) -> RequestTable:
    """The requests moved to one random point in each slot of the probe's rate."""
    load = RIDER
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
) -> WindowFacts:
    """A faultless window of both clients; `changes` are those of the probe's load report."""
    load = RIDER
    seen = _dithered(plain(load.window_count)) if requests is None else requests
    mine = _part(load, seen)
    main = open_loop(MAIN, service_s)
    rider = RiderFacts(load, report(mine, load, tool="probe", **changes), mine)
    inband = InbandFacts("plain" if events is None else "stream", ANSWER, seen, events, trim_count=load.connections)
    return WindowFacts(LOAD, report(main, MAIN), main, inband=inband, rider=rider)


def _inputs(facts: WindowFacts, **changes: Any) -> RunInputs:
    return inputs(facts, **{"counts": counts(LOAD.window_count), "rider": DriverEnd(0), **changes})


def test_a_faultless_run_counts() -> None:
    """Offered is the whole rate, achieved both together, and the counts of both clients are the provider's."""
    given = _inputs(_window())
    found = given.figures

    assert judge_run(given).verdict == "valid"
    assert found is not None
    assert found.offered_rps == 50.0
    assert found.known("achieved_rps") == pytest.approx(50.0, rel=0.002)
    assert found.known("goodput_rps") == found.known("achieved_rps")
    assert found.achieved_from == "samples"


def test_dither_does_not_scatter_the_probes_rate() -> None:
    """A lane that answers all alike serves the probe's part exactly, wherever in its slots its ends fell."""
    facts = _window()
    assert facts.rider is not None
    rates = rider_rates(facts.rider)

    assert rates.achieved_rps == rates.goodput_rps == pytest.approx(RIDER.rate_rps, rel=1e-6)


def test_percentiles_are_the_drivers_and_added_time_is_the_probes() -> None:
    """Response times are of the driver's requests alone; added time is of the probe's, less its first ones."""
    found = run_figures(_window())

    assert isinstance(found.response_ms, Timing)
    assert found.response_ms.n == MAIN.request_count
    assert isinstance(found.added_ms, Timing)
    assert found.added_ms.n == RIDER.request_count
    assert found.added_ms.p50 == pytest.approx(0.140)
    assert found.added_ms.p95 == pytest.approx(0.140)


def test_p99_is_left_to_a_run_of_the_probe() -> None:
    """With a couple of hundred samples p99 is no figure and says why; of chunks there are enough."""
    requests, events = tables(streams(RIDER.window_count))
    found = run_figures(_window(requests=requests, events=events))

    for one in (found.added_first_ms, found.added_total_ms, found.inbound_ms, found.ttft_ms):
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
    load = RIDER
    count = load.window_count
    late = np.linspace(0, 10 * S, count).astype(np.int64)
    requests = replace(plain(count, outbound_ns=60 * US + late), intended_ns=EPOCH_NS + np.arange(count) * 133 * MS)
    main = open_loop(MAIN, 1 / 32.0, servers=1)
    facts = replace(_window(requests=requests), samples=main, report=report(main, MAIN))

    judged = judge_run(_inputs(facts, figures=run_figures(facts)))

    assert judged.verdict == "saturated"


@pytest.mark.parametrize("missing", [-1, 1])
def test_counts_that_do_not_add_up_reject(missing: int) -> None:
    """The provider must have seen the requests of both clients, one less or more is not explained."""
    sent = LOAD.window_count
    judged = judge_run(_inputs(_window(), counts=counts(sent, provider_request_count=sent + missing)))

    assert (code_of(judged), judged.accepted) == ("provider_count", False)
    assert str(sent) in detail_of(judged)


def test_a_failing_request_of_the_probe_is_an_error_of_the_lane() -> None:
    """One 503 among the probe's answers rejects the run as one of the driver's would, and counts."""
    count = RIDER.window_count
    requests = _dithered(plain(count))
    requests.status[7] = 503
    facts = _window(requests=requests, answered_by_status={"200": count - 1, "503": 1})
    judged = judge_run(_inputs(facts))

    assert run_figures(facts).error_count == 1
    assert code_of(judged) == "errors"
    assert detail_of(judged) == f"1 of {LOAD.window_count} requests failed: 1 × status 503"


@pytest.mark.parametrize(
    "end", [DriverEnd(1, error_text="the probe left no report"), DriverEnd(-9, killed=True), DriverEnd(0)]
)
def test_a_probe_that_dies_in_the_window_rejects(end: DriverEnd) -> None:
    """Its part of the rate went with it, so the lane was not driven as offered: the rig's fault, tried again."""
    facts = replace(_window(), rider=None, inband=None)
    judged = judge_run(_inputs(facts, rider=end, counts=counts(MAIN.window_count, client_sent_count=None)))

    assert (code_of(judged), judged.verdict) == ("generator_failed", "rig_limited")
    assert "the probe beside the driver" in detail_of(judged)


def test_a_probe_without_all_its_answers_is_incomplete() -> None:
    """What the probe did not finish is missing of the run, though the driver has everything."""
    count = RIDER.window_count
    judged = judge_run(_inputs(_window(answered_count=count - 3, answered_by_status={"200": count - 3})))

    assert code_of(judged) == "incomplete"
    assert detail_of(judged) == f"of the probe beside the driver {count - 3} of {count} requests have an outcome"


def test_without_a_probe_the_figures_say_why() -> None:
    """A ride that was left out leaves its reason in the place of each time; the run is none the worse."""
    why = Absent(absent="no_companion", detail="off: for this test")
    load = LOAD.without_companion(why.detail)
    samples = open_loop(load, 0.021)
    facts = WindowFacts(load, report(samples, load), samples, no_inband=why)
    found = run_figures(facts)

    assert found.added_ms == found.added_first_ms == found.forwarding_ms == why
    assert judge_run(inputs(facts)).verdict == "valid"


@pytest.mark.parametrize(
    ("late", "kept"),
    [(0, {"p50", "p95"}), (9, {"p50", "p95"}), (14, {"p50"}), (50, {"p50"}), (70, set())],
)
def test_what_the_probes_own_lateness_leaves(late: int, kept: set[str]) -> None:
    """Left out are 4, 6, 22 and 30 %: p95 goes above 5 %, all above 25 %, each with its reason; the run stays."""
    requests = _dithered(plain(RIDER.window_count))
    requests.lagged[100 : 100 + late] = 1
    facts = _window(requests=requests)
    found = run_figures(facts).added_ms

    if kept:
        assert isinstance(found, Timing)
        assert {name for name in LEFT_OUT_LIMITS if getattr(found, name) is not None} == kept
        assert set(found.absent) >= set(LEFT_OUT_LIMITS) - kept - {"p99"}
    else:
        assert isinstance(found, Absent)
        assert "the probe itself was late around 30" in found.detail
    assert judge_run(_inputs(facts)).accepted
    assert ("probe_lagged" in judge_run(_inputs(facts)).flags) is (late > 2)
