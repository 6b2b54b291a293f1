"""Late turns of the probe's own loop: no request is lost for them, and the truth lies between the bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.examples.judge_examples import inputs
from tests.examples.trace_examples import EPOCH_NS, MS, US, S, late_turns, plain, streams, tables, traced_window
from weighbridge.judge.figures import lateness
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.stats.bounds import limit_ms
from weighbridge.judge.stats.timing import merge_runs
from weighbridge.judge.stats.timing import timing as timing_of
from weighbridge.quantiles import rank
from weighbridge.record.figures import PERCENTILES, Percentile, Timing
from weighbridge.record.measured import RunFigures
from weighbridge.record.probe_tables import LateTurns, RequestTable

SHARES: dict[Percentile, float] = {"p50": 0.50, "p95": 0.95, "p99": 0.99}


def timing(value: object) -> Timing:
    """Timing that must exist."""
    assert isinstance(value, Timing), value
    return value


def one_late_beat() -> tuple[RequestTable, LateTurns]:
    """450 requests at 150/s that queue for a lock, as M3 saw them, and one beat 2.1 ms late in their midst."""
    random = np.random.default_rng(3)
    requests = plain(450, 80 * US + random.gamma(4.0, 8 * MS, 450).astype(np.int64))
    gap = np.arange(450) * (20 * MS - S // 150)
    columns = ("intended_ns", "sent_ns", "headers_ns", "first_byte_ns", "end_ns", "recv_ns", "send_ns")
    requests = replace(requests, **{name: getattr(requests, name) - gap for name in columns})
    due = EPOCH_NS + int(1.5 * S)
    return requests, late_turns((due - 3 * MS, due + 2_100 * US))


def test_one_late_beat_costs_no_request_and_no_percentile() -> None:
    """A beat 2.1 ms late leaves all 450 requests in, touches a handful, and takes no percentile away."""
    requests, turns = one_late_beat()
    window = traced_window(requests, late_turns=turns)
    found = run_figures(window)
    added = timing(found.added_ms)

    assert added.n == 450
    assert None not in (added.p50, added.p95, added.p99)
    assert added.absent == {}
    assert added.between == ()
    assert 0 < found.late_response_count <= 6
    assert found.late_turn_count == 1
    assert judge_run(inputs(window, evidence=())).accepted


@pytest.mark.parametrize("stalls_per_s", [0.1, 0.35])
def test_long_answers_are_not_lost_for_their_length(stalls_per_s: float) -> None:
    """Of answers that take 2 s none goes, and they are touched no more often than others are."""
    random = np.random.default_rng(7)
    count = 3_000
    slow = random.random(count) < 0.013
    requests = plain(count, 80 * US, np.where(slow, 2 * S, random.gamma(2.0, 500 * US, count)).astype(np.int64))
    stalls = np.sort(random.random(random.poisson(stalls_per_s * 60)) * 60 * S).astype(np.int64) + EPOCH_NS
    turns = late_turns(*((at, at + 7 * MS) for at in stalls.tolist()))
    found = run_figures(traced_window(requests, late_turns=turns))
    added = timing(found.added_ms)
    truth = np.sort((requests.end_ns - requests.sent_ns - 20 * MS) / MS)
    is_touched = lateness.touched(turns, requests.sent_ns, requests.end_ns)

    assert added.n == count
    assert added.p99 == pytest.approx(truth[rank(count, 0.99) - 1])
    assert added.p99 > 1_900
    assert is_touched[slow].mean() < 0.06
    assert is_touched.mean() < 0.03


def test_the_truth_lies_between_the_bounds() -> None:
    """In 300 windows whose loop stood still now and then every true percentile lies between its bounds."""
    random = np.random.default_rng(11)
    open_count = 0
    for _ in range(300):
        sent = np.sort(random.random(300)) * 10 * S
        added = random.gamma(3.0, 1 * MS, 300)
        read = sent + 20 * MS + added
        begun = np.sort(random.random(random.poisson(6)) * 10 * S)
        begun = begun[np.diff(begun, prepend=-S) > 40 * MS]
        ended = begun + random.uniform(3 * MS, 30 * MS, len(begun))
        seen = read.copy()
        for begin, end in zip(begun, ended, strict=True):
            seen[(read > begin) & (read <= end)] = end - 10 * US
        # The loop was about some time before each stall; from then on its turn is counted.
        turns = LateTurns((begun - random.uniform(0, MS, len(begun))).astype(np.int64), ended.astype(np.int64))
        measured = (seen - sent - 20 * MS).astype(np.int64)
        times = lateness.times(measured, turns, sent.astype(np.int64), seen.astype(np.int64))
        shown = timing_of(times.ns / 1e9, (times.least_ns / 1e9, times.most_ns / 1e9))
        for name, share in SHARES.items():
            truth = float(np.sort(added)[rank(300, share) - 1]) / MS
            low, high = shown.bounds_ms.get(name, (shown.percentile(name),) * 2)
            assert low - 1e-5 <= truth <= high + 1e-5
            open_count += name in shown.between
    assert 30 < open_count < 600


def _half_late() -> tuple[RequestTable, LateTurns]:
    """400 requests of which one in ten ends in a late turn of 6 ms."""
    requests = plain(400)
    ends = requests.end_ns[::10]
    return requests, late_turns(*((end - 5 * MS, end + 1 * MS) for end in ends.tolist()))


def _figures(requests: RequestTable, turns: LateTurns) -> RunFigures:
    found = run_figures(traced_window(requests, late_turns=turns))
    assert found is not None
    return found


def test_a_percentile_that_late_turns_leave_open_lies_between_two_values() -> None:
    """Nothing is absent: the median of the measured times is a figure, and one that the turns moved has both ends."""
    requests, turns = _half_late()
    requests.end_ns[::10] += 4 * MS
    window = traced_window(
        requests, late_turns=late_turns(*((end - 6 * MS, end + 1 * MS) for end in requests.end_ns[::10].tolist()))
    )
    added = timing(run_figures(window).added_ms)
    judged = judge_run(inputs(window, evidence=()))

    assert (added.p50, added.p95) == (pytest.approx(0.14), pytest.approx(4.14))
    assert added.bounds_ms["p95"] == (pytest.approx(0.14), pytest.approx(4.14))
    assert added.between == ("p95", "p99")
    assert (added.is_reliable("p50"), added.is_reliable("p95")) == (True, False)
    assert added.absent == {}
    assert judged.accepted
    assert "probe_late" in judged.flags
    assert len(turns) == 40


def test_response_and_service_time_of_the_probe_have_bounds_too() -> None:
    """What the probe drives is read by the same loop."""
    requests, turns = _half_late()
    found = _figures(requests, turns)

    for key in ("response_ms", "service_ms"):
        low, high = timing(getattr(found, key)).bounds_ms["p50"]
        assert low == pytest.approx(high, rel=0.01)
        assert low < high


def test_differences_within_the_limit_leave_a_figure() -> None:
    """Both values are kept where they differ; beyond 2 % or 20 µs (p50), 5 % or 100 µs (above) it is open."""
    assert [limit_ms("p50", size) for size in (0.1, 5.0)] == pytest.approx([0.020, 0.100])
    assert [limit_ms("p95", size) for size in (0.1, 5.0)] == pytest.approx([0.100, 0.250])
    values = np.linspace(1.0, 2.0, 1_000) / 1e3
    near, far = (timing_of(values, (values - by, values)) for by in (25e-6, 35e-6))

    assert (set(near.bounds_ms), near.between) == (set(PERCENTILES), ())
    assert far.between == ("p50",)


def test_a_gap_may_have_been_longer_as_well() -> None:
    """Where the earlier of two readings was late their gap is too short, where the later one was too long."""
    given = streams(30)
    requests, events = tables(given)
    turns = late_turns((int(given.read_ns[0, 3]) - MS, int(given.read_ns[0, 3]) + MS))
    gaps = lateness.gaps(turns, given.read_ns[0, :-1], given.read_ns[0, 1:])
    assert [gaps.least_ns[2], gaps.most_ns[2]] == [3 * MS, 5 * MS]
    assert [gaps.least_ns[3], gaps.most_ns[3]] == [5 * MS, 7 * MS]
    far = lateness.distances(gaps, np.full(15, 5 * MS))
    assert [far.least_ns[2], far.ns[2], far.most_ns[2]] == [0, 0, 2 * MS]
    assert timing(run_figures(traced_window(requests, events, late_turns=turns)).gap_ms).n == 30 * 15


def test_a_turn_is_taken_off_once_and_its_begin_is_outside() -> None:
    """Two instants in one turn cost its length once, in two turns both; the instant it began at was in time."""
    turns = late_turns((100, 110), (200, 230))

    def off(*instants: int) -> int:
        return int(lateness.late_ns(turns, *(np.array([one]) for one in instants))[0])

    assert [off(100, 99), off(101, 110), off(105, 205), off(111, 231), off(-1, 230)] == [0, 10, 40, 0, 30]


def test_a_cell_is_open_where_its_median_is() -> None:
    """One open run of three leaves the median a figure; with two it is open, and has no interval."""
    firm = timing_of(np.linspace(3.0, 4.0, 1_000) / 1e3)
    values = np.linspace(3.0, 4.0, 1_000) / 1e3
    left_open = timing_of(values, (values - 1e-3, values))

    one, two = (timing(merge_runs(runs)) for runs in ([firm, firm, left_open], [firm, left_open, left_open]))
    assert one.between == ()
    assert one.interval is not None
    assert one.interval.p50 is not None
    assert two.between == PERCENTILES
    assert two.bounds_ms["p50"] == (pytest.approx(2.5, abs=0.01), pytest.approx(3.5, abs=0.01))
    assert two.interval is None
