"""The probe's window: on time, open whatever the server does, true to stamps, and honest about itself."""

from __future__ import annotations

import asyncio
import gc
import json
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import psutil
import pytest
import uvloop

from tests.examples.dialect_cases import answer, length
from tests.examples.gateway_lane import Lane, ask, open_lane, wait_for
from tests.examples.probe_lane import SECRET, Client, bodies, injected, plan, run, stamped, start_program
from weighbridge.judge.figures.connections import connection_figures, is_not_kept_alive
from weighbridge.judge.figures.lateness import late_ns, touched
from weighbridge.load.probe.program.arrivals import offsets_ns
from weighbridge.load.probe.program.capture import Capture
from weighbridge.load.probe.program.engine import drive
from weighbridge.load.probe.program.heartbeat import PERIOD_NS, Heartbeat
from weighbridge.load.probe.program.output import report, write
from weighbridge.load.probe.program.pacing import Alarm
from weighbridge.load.probe.program.plan import ProbeLane
from weighbridge.load.probe.program.tables import make_tables
from weighbridge.load.read import read_report
from weighbridge.record.figures import Figure
from weighbridge.record.probe_tables import UNKNOWN, LateTurns, RequestTable

CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    """A provider and a control plane for the whole module."""
    with open_lane(tmp_path_factory.mktemp("probe")) as lane:
        yield lane


@pytest.fixture
def lane(opened: Lane) -> Lane:
    """The same with all counts at zero and the usual answer: 20 ms, 16 chunks 5 ms apart."""
    opened.reset(delay_s=0.02, chunk_count=16, gap_s=0.005)
    return opened


def provider_url(lane: Lane) -> str:
    """Where the provider responds."""
    return f"http://127.0.0.1:{lane.provider.ports[0]}{CHAT}"


def added_ns(table: RequestTable) -> np.ndarray:
    """Added time of non-streaming responses: what the client saw less what the provider held."""
    return (table.end_ns - table.sent_ns) - (table.send_ns - table.recv_ns)


@pytest.mark.parametrize(("rate_rps", "count"), [(50.0, 40), (300.0, 240), (1_000.0, 800)])
def test_requests_leave_on_schedule(
    tmp_path: Path, lane: Lane, capsys: pytest.CaptureFixture[str], rate_rps: float, count: int
) -> None:
    """Against its own schedule the rate is right and hardly a request is a slot late; the targets are printed."""
    made = plan(tmp_path, provider_url(lane), rate_rps=rate_rps, count=count)
    driven = run(made)
    reported = report(made, driven.capture, driven.tables, "0")
    table = driven.tables.requests
    lag_s, target_s = reported["lag_s"], 0.002 if rate_rps > 300 else 0.001
    with capsys.disabled():
        print(  # noqa: T201 - a ratio for people to read
            f"\n{rate_rps:g}/s: rate error {reported['rate_error_ratio']:+.4%} (target 0.1 %), lag p99 is "
            f"{lag_s['p99'] / target_s:.2f} of its target, p50 {lag_s['p50'] * rate_rps:.3f} of a slot"
        )
    assert reported["pacing"] == ("timerfd" if sys.platform == "linux" else "call_later")
    assert driven.outcomes == ["ok"] * count
    assert np.all(table.sent_ns >= table.intended_ns)
    assert np.array_equal(np.diff(table.intended_ns), np.diff(offsets_ns("poisson", rate_rps, count, made.seed)))
    # On a busy machine single wake-ups are late; the half of them is not, and no lateness adds up.
    assert lag_s["p50"] < 0.5 / rate_rps
    assert abs(reported["rate_error_ratio"]) < 0.02


def test_a_stall_is_charged_to_those_who_waited(tmp_path: Path) -> None:
    """While the server stands still requests go on leaving by schedule; all that were due tell of the wait.

    With as many connections as it likes the stall shows in service time; with few of them it shows in response
    time, while service time of those that queued for a connection hides it.
    """
    stall_s, rate_rps, count = 1.0, 100.0, 140
    awake = threading.Event()
    awake.set()

    def script(client: Client) -> None:
        if client.number == 20:
            awake.clear()
            time.sleep(stall_s)
            awake.set()
        awake.wait(10)
        client.answer(stamped())

    for connections, hides in ((None, False), (4, True)):
        with injected(script) as server:
            driven = run(plan(tmp_path, server.url, rate_rps=rate_rps, count=count, connections=connections))
        samples = driven.tables.samples
        response, service = samples.end_s - samples.intended_s, samples.end_s - samples.sent_s
        waited = int(np.count_nonzero(response > stall_s / 2))
        assert driven.outcomes == ["ok"] * count
        # Half of the requests that were due in the stall waited for more than half of it.
        assert waited == pytest.approx(stall_s / 2 * rate_rps, rel=0.3)
        assert np.all(np.diff(samples.released_s) >= 0)
        assert float(np.median(samples.released_s - samples.intended_s)) < 0.005
        slow = int(np.count_nonzero(service > stall_s / 2))
        # Sent a little after it was due, the one at the edge may have waited less than half by its service time.
        assert (slow <= 4) if hides else (waited - 2 <= slow <= waited)
        assert driven.capture.in_flight_max_count > 50


def test_the_pool_is_no_larger_than_asked(tmp_path: Path) -> None:
    """The server never sees more connections than the size; unbounded it sees as many as are due at a time."""

    def script(client: Client) -> None:
        time.sleep(0.1)
        client.answer(stamped())

    for connections, expected in ((3, 3), (None, 10)):
        with injected(script) as server:
            driven = run(plan(tmp_path, server.url, rate_rps=200.0, count=30, connections=connections))
            assert driven.outcomes == ["ok"] * 30
            if connections:
                assert server.open_max_count == expected == driven.capture.connection_count
                assert int(driven.tables.requests.reused.sum()) == 27
            else:
                assert server.open_max_count > expected


def test_a_closed_loop_keeps_its_number(tmp_path: Path) -> None:
    """N clients have N requests open and no more; every prompt is sent once, in its order."""
    seen: list[bytes] = []

    def script(client: Client) -> None:
        seen.append(client.body)
        time.sleep(0.01)
        client.answer(stamped())

    with injected(script) as server:
        made = plan(tmp_path, server.url, clients=4, count=40)
        driven = run(made)
    assert driven.capture.in_flight_max_count == server.open_max_count == 4
    assert Counter(seen) == Counter(bodies(made))
    assert np.isnan(driven.tables.samples.intended_s).all()
    assert len(set(driven.tables.requests.reference)) == 40


def test_mixed_lanes_share_one_window(tmp_path: Path) -> None:
    """Requests of one schedule go to lanes by delay, each with its own headers and pool."""
    seen: Counter[str] = Counter()

    def script(client: Client) -> None:
        seen[str(client.sock.getsockname()[1])] += 1
        client.answer(stamped())

    with injected(script) as first, injected(script) as second:
        lanes = (ProbeLane(first.url, (), 1.0), ProbeLane(second.url, (), 3.0))
        driven = run(plan(tmp_path, first.url, lanes=lanes, rate_rps=400.0, count=200))
        drawn = Counter(driven.tables.requests.lane.tolist())
        assert seen == {str(first.port): drawn[0], str(second.port): drawn[1]}
    assert drawn[1] > drawn[0]


def test_added_time_of_the_baseline_is_small_and_never_negative(tmp_path: Path, lane: Lane) -> None:
    """Direct to the provider nothing is added but the wire: a small share of the response, both legs above zero."""
    driven = run(plan(tmp_path, provider_url(lane), rate_rps=100.0, count=100))
    table = driven.tables.requests
    added = added_ns(table)
    assert np.all(added > 0)
    assert np.all(table.recv_ns > table.sent_ns)
    assert np.all(table.end_ns > table.send_ns)
    assert float(np.median(added)) < 0.1 * float(np.median(table.end_ns - table.sent_ns))


def test_a_known_delay_is_recovered(tmp_path: Path, lane: Lane, capsys: pytest.CaptureFixture[str]) -> None:
    """What a gateway recorded that it slept comes back as added time, request by request, above its control."""
    with (
        lane.gateway("add-10ms", control_plane_url=None, client_keys=[SECRET], audit=False) as heavy,
        lane.gateway("none", control_plane_url=None, client_keys=[SECRET], audit=False) as light,
    ):
        headers = (("authorization", f"Bearer {SECRET}"), ("content-type", "application/json"))
        lanes = tuple(ProbeLane(f"http://127.0.0.1:{one.ports[0]}{CHAT}", headers) for one in (heavy, light))
        driven = run(plan(tmp_path, lanes[0].url, lanes=lanes, rate_rps=100.0, count=120))
        rows = ask(heavy.ports[0], path="/faults").document["rows"]
    table = driven.tables.requests
    assert driven.outcomes == ["ok"] * 120
    slept = {number_of(letters): end_ns - start_ns for letters, start_ns, end_ns in rows}
    mine = table.where(table.lane == 0)
    delay = np.array([slept[number % 2**64] for number in mine.reference.tolist()])
    # The quieter quarter: on a machine whose cores are taken every further hop may wait for a time slice.
    control = float(np.quantile(added_ns(table.where(table.lane == 1)), 0.25))
    recovered = float(np.quantile(added_ns(mine) - delay, 0.25))
    # `recovered` is what is left above the recorded sleep; it should be the control and nothing more.
    share = (recovered - control) / float(np.median(delay))
    with capsys.disabled():
        print(f"\nerror of the recovered delay, control off: {share:+.2%} of what was slept")  # noqa: T201
    assert np.all(added_ns(mine) > delay)
    assert abs(share) < 0.15


def number_of(letters: str) -> int:
    """The number of a reference's letters, as the faulty gateway tells them."""
    return int(letters.translate(str.maketrans("abcdefghijklmnop", "0123456789abcdef")), 16)


def test_every_chunk_of_a_stream_is_seen_with_its_stamp(tmp_path: Path, lane: Lane) -> None:
    """16 chunks a stream, each with send time and number; they arrive after they were sent and in their order."""
    driven = run(plan(tmp_path, provider_url(lane), mode="stream", rate_rps=40.0, count=20))
    requests, events = driven.tables.requests, driven.tables.events
    assert driven.outcomes == ["ok"] * 20
    assert requests.content_count.tolist() == [16] * 20
    assert requests.done_seen.all()
    assert events.sequence.tolist() == list(range(16)) * 20
    assert np.all(events.read_ns >= events.send_ns)
    assert np.all(requests.first_content_ns >= requests.first_byte_ns)
    assert np.all(requests.headers_ns <= requests.first_byte_ns)
    assert np.all(requests.last_content_ns <= requests.end_ns)
    for row in range(20):
        assert np.all(np.diff(events.send_ns[events.row == row]) > 0)


@pytest.mark.parametrize(("fault", "opened_count"), [("none", 1), ("close", 40)])
def test_connections_that_are_not_kept_are_counted_and_timed(
    tmp_path: Path, lane: Lane, fault: str, opened_count: int
) -> None:
    """A gateway that closes after each answer shows in connections per request, and in no added time."""
    lane.reset(delay_s=0.002)
    with lane.gateway(fault, control_plane_url=None, client_keys=[SECRET], audit=False) as gateway:
        driven = run(plan(tmp_path, f"http://127.0.0.1:{gateway.ports[0]}{CHAT}", count=40))
    table = driven.tables.requests
    found = connection_figures(table)
    assert driven.outcomes == ["ok"] * 40
    assert found["connections_per_request"] == Figure(value=opened_count / 40)
    assert found["connect_ms"].n == opened_count
    assert is_not_kept_alive(table) is (fault == "close")
    assert np.all(table.connect_ns[table.reused == 0] > 0)
    assert np.all(table.connect_ns[table.reused == 1] == UNKNOWN)


def test_a_retry_shows_at_the_provider(tmp_path: Path, lane: Lane) -> None:
    """A gateway that asks twice: one whole stamp at the client, one reference twice in the provider's records."""

    def script(client: Client) -> None:
        for _ in range(2 if client.number == 1 else 1):
            answer = ask(lane.provider.ports[0], client.body)
        client.answer(answer.body)

    with injected(script) as server:
        driven = run(plan(tmp_path, server.url, count=3))
    page = ask(lane.provider.ports[1], path="/records?offset=0&limit=100").document
    place = page["columns"].index("reference")
    provider = Counter(number_of(row[place]) for row in page["rows"])
    sent = [number % 2**64 for number in driven.tables.requests.reference.tolist()]
    assert driven.outcomes == ["ok"] * 3
    assert [provider[number] for number in sent] == [1, 2, 1]


def test_an_interrupt_leaves_what_there_is(tmp_path: Path, lane: Lane) -> None:
    """After INT the program sends no more, waits for nothing and writes a partial report that reads as one."""
    lane.reset(delay_s=0.3)
    made = plan(tmp_path, provider_url(lane), rate_rps=50.0, count=3_000)
    probe = start_program(made)
    wait_for(lambda: counters(lane)["request_count"] > 30)
    probe.send_signal(signal.SIGINT)
    _, message = probe.communicate(timeout=20)
    reading = read_report(tmp_path / "report.json")
    reported = reading.report
    assert (probe.returncode, message) == (0, "")
    assert reported.verdict == "partial"
    assert json.loads((tmp_path / "report.json").read_text())["partial"] is True
    assert reported.scheduled_count == 3_000
    assert reported.answered_count + reported.failed_count + reported.censored_count == 3_000
    assert 0 < reported.answered_count < reported.sent_count < 300
    assert reading.requests is not None
    assert int(np.count_nonzero(reading.samples.outcome == 2)) == reported.sent_count - reported.answered_count
    assert counters(lane)["request_count"] == reported.sent_count


def counters(lane: Lane) -> dict[str, int]:
    """What the provider counted."""
    document: dict[str, int] = ask(lane.provider.ports[1], path="/counters").document
    return document


def test_the_files_tell_no_secret_and_read_back(tmp_path: Path, lane: Lane) -> None:
    """No file of a window holds the key; report and tables agree and read back as one load report."""
    made = plan(tmp_path / "out", provider_url(lane), count=5, clients=2, bodies=tmp_path / "bodies.jsonl")
    made.out_dir.mkdir()
    driven = run(made)
    write(made, driven.capture, driven.tables, "1.2.3")
    files = sorted(path.name for path in made.out_dir.iterdir())
    assert files == ["events.npz", "late_turns.npz", "report.json", "requests.npz", "samples.npz"]
    for name in files:
        assert SECRET.encode() not in (made.out_dir / name).read_bytes()
        assert str(tmp_path).encode() not in (made.out_dir / name).read_bytes()
    reading = read_report(made.out_dir / "report.json")
    assert (reading.report.tool, reading.report.tool_version, reading.report.verdict) == ("probe", "1.2.3", "ok")
    assert len(reading.samples) == len(reading.requests) == reading.report.answered_count == 5
    (made.out_dir / "requests.npz").rename(made.out_dir / "requests.npz")  # as the first versions called it
    assert len(read_report(made.out_dir / "report.json").requests) == 5
    (made.out_dir / "samples.npz").unlink()
    assert read_report(made.out_dir / "report.json").samples is None


def test_tables_of_another_run_are_left_out(tmp_path: Path, lane: Lane) -> None:
    """A table that does not fit the report is not used, and the report says so."""
    made = plan(tmp_path, provider_url(lane), count=3)
    driven = run(made)
    write(made, driven.capture, driven.tables, "1")
    document = json.loads((tmp_path / "report.json").read_text())
    (tmp_path / "report.json").write_text(json.dumps({**document, "released_count": 4}))
    reading = read_report(tmp_path / "report.json")
    assert (reading.samples, reading.requests, reading.events) == (None, None, None)
    assert "samples_mismatch" in reading.report.flags


def test_the_heartbeat_finds_a_loop_that_stood_still() -> None:
    """A block of 30 ms is one late beat whose turn ends behind it; on time beats are none."""

    async def stand_still() -> tuple[Heartbeat, int, int]:
        heartbeat = Heartbeat(lambda _now: None)
        heartbeat.start()
        await asyncio.sleep(0.05)
        begin = time.monotonic_ns()
        time.sleep(0.03)  # the fault that is to be found
        end = time.monotonic_ns()
        await asyncio.sleep(0.05)
        heartbeat.close()
        return heartbeat, begin, end

    heartbeat, begin, end = uvloop.run(stand_still())
    beats = heartbeat.beats
    late = [(due, ended) for due, ended in beats.too_late if due <= end and ended >= begin]
    assert len(late) == 1
    ((due, ended),) = late
    assert due <= begin + PERIOD_NS
    assert ended >= end
    assert max(beats.late_ns) > 0.5 * (end - begin)
    assert len(beats.came_ns) == len(beats.late_ns) + 1


@pytest.mark.parametrize("answer_s", [0.005, 0.3])
def test_a_late_turn_touches_what_was_sent_or_read_in_it(tmp_path: Path, answer_s: float) -> None:
    """A loop that stood still for 100 ms touches requests by their own instants, however long their answers take.

    Its turn begins before what it read late was sent by the server: so the true reading is within its bounds.
    """

    def script(client: Client) -> None:
        time.sleep(answer_s)
        client.answer(stamped())

    blocked: list[int] = []

    def block() -> None:
        blocked.append(time.monotonic_ns())
        time.sleep(0.1)

    async def disturbed() -> Capture:
        asyncio.get_running_loop().call_later(0.6, block)
        return await drive(made, bodies(made))

    with injected(script) as server:
        made = plan(tmp_path, server.url, rate_rps=100.0, count=100, arrivals="dithered")
        capture = uvloop.run(disturbed())
    found = make_tables(capture, is_stream=False)
    table, turns = found.requests, found.late_turns
    middle = blocked[0] + 50_000_000
    (place,) = np.flatnonzero((turns.begun_ns < middle) & (turns.ended_ns > middle))
    turn = LateTurns(turns.begun_ns[place : place + 1], turns.ended_ns[place : place + 1])
    read_late, sent_late = touched(turn, table.end_ns), touched(turn, table.sent_ns)
    under_way = (table.sent_ns <= turn.ended_ns) & (table.end_ns >= turn.begun_ns)

    assert turn.ended_ns[0] - turn.begun_ns[0] > 90_000_000
    assert np.all(np.diff(turns.begun_ns) > 0)
    assert np.all(turns.begun_ns[1:] >= turns.ended_ns[:-1])
    sent_meanwhile = (table.send_ns > blocked[0]) & (table.send_ns < middle)
    assert np.all(table.end_ns[sent_meanwhile] > blocked[0] + 100_000_000)
    # Of requests that take 300 ms some are under way beside the turn and have no instant of their own in it.
    count, open_count = int((sent_late | read_late).sum()), int(under_way.sum())
    assert count < open_count if answer_s > 0.1 else count <= open_count
    assert np.all((table.end_ns - late_ns(turn, table.end_ns))[read_late] <= table.send_ns[read_late])


@pytest.mark.parametrize("timerfd", [True, False])
def test_an_alarm_fires_for_its_last_time_only(timerfd: bool) -> None:
    """Armed twice it fires once, at the later setting; a time in the past fires at once; None never."""
    if timerfd and sys.platform != "linux":
        pytest.skip("no timerfd here")

    async def ring() -> list[int]:
        rung: list[int] = []
        alarm = Alarm(lambda: (rung.append(time.monotonic_ns()), alarm.arm(None)), timerfd=timerfd)  # type: ignore[arg-type, return-value]
        start = time.monotonic_ns()
        alarm.arm(start + 10_000_000)
        alarm.arm(start + 40_000_000)
        await asyncio.sleep(0.1)
        assert len(rung) == 1
        # The loop's own timer may be a millisecond early, a timerfd never is.
        assert rung[0] - start >= (40_000_000 if timerfd else 38_000_000)
        alarm.arm(1)
        await asyncio.sleep(0.05)
        alarm.close()
        return rung

    assert len(uvloop.run(ring())) == 2


def test_the_window_is_left_as_it_was_found(tmp_path: Path) -> None:
    """After a window collections are on again and no file stays open."""

    def script(client: Client) -> None:
        client.answer(stamped())

    with injected(script) as server:
        run(plan(tmp_path, server.url, count=3))
        before = psutil.Process().num_fds()
        run(plan(tmp_path, server.url, count=3))
        after = psutil.Process().num_fds()
    assert gc.isenabled()
    assert after <= before + 1


@pytest.mark.parametrize(
    ("values", "expected_ns"),
    [
        (["2.5", "3", "0"], [2_500_000, 3_000_000, 0]),
        (["", "soon", "nan"], [UNKNOWN] * 3),
        (["inf", "-1", "9" * 500], [UNKNOWN] * 3),
    ],
)
def test_what_a_gateway_reports_is_read_request_by_request(
    tmp_path: Path, values: list[str], expected_ns: list[int]
) -> None:
    """Each request has the number of its own header, in its unit; what is no time is nothing."""
    said = iter(values)

    def script(client: Client) -> None:
        body = stamped()
        client.send(
            answer(body, b"content-type: application/json", b"X-Own-Ms: " + next(said).encode(), length(body))
        )

    with injected(script) as server:
        made = plan(tmp_path, server.url, count=3)
        (lane,) = made.lanes
        asked = replace(made, lanes=(replace(lane, overhead_header="x-own-ms", overhead_unit_s=1e-3),))
        driven = run(asked)
    assert driven.tables.requests.reported_ns.tolist() == expected_ns
