"""The wrk driver with the real wrk, judged by the record of whoever was asked: provider or faulty server."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mocks.stamps import find_reference
from tests.real.driving import KEY, Provider, Windows, clients, mock_provider, rate, windows
from tests.real.faulty_server import HALF, Faulty
from weighbridge.command import Command
from weighbridge.errors import InputError
from weighbridge.load.drivers import DRIVERS
from weighbridge.record.figures import Absent
from weighbridge.record.load_report import Percentiles
from weighbridge.rig.processes.ports import choose

pytestmark = pytest.mark.real

WRK = DRIVERS["wrk"]


@pytest.fixture
def drive(tmp_path: Path) -> Iterator[Windows]:
    """Windows of this test."""
    with windows(tmp_path) as made:
        yield made


@pytest.fixture
def provider(tmp_path: Path) -> Iterator[Provider]:
    """A provider of this test."""
    with mock_provider(tmp_path) as made:
        yield made


def script_of(command: Command) -> Path:
    """The script in a command's files."""
    return next(path for path in command.files if path.suffix == ".lua")


def test_a_rate_window_sends_each_prompt_once_and_all_are_answered(tool, drive: Windows, provider: Provider) -> None:
    """N + C requests, as many at the provider, as many different references; wrk does not wait for its -d."""
    driven = drive.drive(WRK, drive.plan(tool("wrk"), provider.port, rate(100, 100, 8)))
    report, counted = driven.reading.report, provider.counters()
    assert (driven.ended.exit_code, driven.ended.cut) == (0, False)
    assert driven.ended.wall_s < driven.command.cut_after_s
    assert (report.verdict, report.corrected, report.answered_by_status) == ("ok", "yes", {"200": 108})
    assert (report.scheduled_count, report.sent_count, report.failed_count) == (108, 108, 0)
    assert (report.censored_count, report.success_ratio) == (0, 1.0)
    assert counted["request_count"] == counted["distinct_reference_count"] == 108
    assert len(driven.samples) == 108


def test_slots_and_lines_belong_together(tool, drive: Windows, provider: Provider) -> None:
    """The prompt of slot i is line i of the bodies file, in the order of the schedule."""
    driven = drive.drive(WRK, drive.plan(tool("wrk"), provider.port, rate(50, 40, 4)))
    lines = driven.plan.bodies.read_bytes().splitlines()[:44]
    by_time = sorted(zip(provider.column("recv_ns"), provider.column("reference"), strict=True))
    arrived = [reference for _, reference in by_time]
    wanted = [(find_reference(line) or b"").decode() for line in lines]
    assert sorted(arrived) == sorted(wanted)
    assert sum(one == other for one, other in zip(arrived, wanted, strict=True)) > 0.8 * len(wanted)


def test_the_schedule_is_kept_by_the_providers_clock(tool, drive: Windows, provider: Provider) -> None:
    """Slots lie 1/R apart, nothing leaves before its slot, and arrivals follow the sends."""
    driven = drive.drive(WRK, drive.plan(tool("wrk"), provider.port, rate(50, 60, 8)))
    table = driven.samples
    assert np.diff(table.intended_s) == pytest.approx(1 / 50, abs=2e-6)
    assert (table.sent_s - table.intended_s >= -2e-6).all()
    assert (table.sent_s >= table.released_s).all()
    assert np.median(table.sent_s - table.intended_s) < 0.1 / 50
    arrivals = np.sort(np.array(provider.column("recv_ns"))) / 1e9
    assert (len(arrivals) - 1) / (arrivals[-1] - arrivals[0]) == pytest.approx(50, rel=0.02)
    offset = arrivals - np.sort(table.sent_s)
    assert np.median(np.abs(offset - np.median(offset))) < 0.25 / 50


def test_requests_are_what_they_should_be(tool, drive: Windows, provider: Provider) -> None:
    """POST, JSON, our headers, the lane's own address as host, and a whole body."""
    driven = drive.drive(WRK, drive.plan(tool("wrk"), provider.port, rate(100, 20, 2)))
    last = provider.last()
    headers = {name.lower(): value for name, value in dict(last["headers"]).items()}
    assert (last["method"], last["path"]) == ("POST", "/v1/chat/completions")
    assert headers["authorization"] == f"Bearer {KEY}"
    assert headers["content-type"] == "application/json"
    assert headers["host"] == f"127.0.0.1:{provider.port}"
    assert provider.counters()["bad_request_count"] == 0
    assert driven.reading.report.answered_count == 22


def test_no_kept_file_and_no_argument_holds_a_key(tool, drive: Windows, provider: Provider) -> None:
    """The key is in the plan beside the output folder, for its owner only, and nowhere else."""
    driven = drive.drive(WRK, drive.plan(tool("wrk"), provider.port, rate(100, 10, 2)))
    assert KEY not in " ".join([*driven.command.argv, *driven.command.env.values()])
    kept = sorted(driven.plan.out_dir.iterdir())
    assert [path.name for path in kept] == ["report.json", "samples.csv"]
    assert not any(KEY.encode() in path.read_bytes() for path in kept)
    with_key = [path for path in driven.command.files if KEY.encode() in path.read_bytes()]
    assert len(with_key) == 1
    assert with_key[0].stat().st_mode & 0o077 == 0


def test_streams_are_timed_to_their_end(tool, drive: Windows, provider: Provider) -> None:
    """A stream takes its chunks' time; the first byte is absent with a reason."""
    provider.reset(delay_s=0.005, chunk_count=6, gap_s=0.01)
    driven = drive.drive(WRK, drive.plan(tool("wrk"), provider.port, rate(50, 40, 8), "stream"))
    report, table = driven.reading.report, driven.samples
    assert (report.verdict, report.answered_count, provider.counters()["stream_count"]) == ("ok", 48, 48)
    assert report.first_byte_ms == Absent(absent="not_reported_by_wrk")
    assert np.isnan(table.first_byte_s).all()
    assert (table.end_s - table.sent_s > 0.05).all()


def test_clients_run_a_closed_loop(tool, drive: Windows, provider: Provider) -> None:
    """N requests in all, each prompt once, never more than C open, and no schedule to count from."""
    driven = drive.drive(WRK, drive.plan(tool("wrk"), provider.port, clients(4, 60)))
    report, counted, table = driven.reading.report, provider.counters(), driven.samples
    assert (report.verdict, report.corrected, report.answered_count) == ("ok", "no", 64)
    assert counted["request_count"] == counted["distinct_reference_count"] == 64
    assert counted["in_flight_max_count"] == 4
    assert np.isnan(table.intended_s).all()
    assert (np.diff(table.sent_s) >= 0).all()
    assert isinstance(report.response_ms, Percentiles)
    assert report.response_ms.p50 == pytest.approx(np.median(table.end_s - table.sent_s) * 1e3, rel=0.2)


def test_many_connections_do_not_keep_each_other_from_starting(tool, drive: Windows, provider: Provider) -> None:
    """Hundreds of threads wait for the common start without a core, and the schedule begins after the last one."""
    driven = drive.drive(WRK, drive.plan(tool("wrk"), provider.port, rate(300, 20, 300)))
    assert (driven.ended.cut, driven.reading.report.answered_count) == (False, 320)
    table = driven.samples
    assert np.median(table.released_s - table.intended_s) < 0.25 / 300
    assert driven.ended.cpu_s < driven.ended.wall_s


@pytest.mark.parametrize("before_close", [b"", HALF], ids=["nothing", "half an answer"])
def test_a_closing_server_is_not_flooded(tool, drive: Windows, before_close: bytes) -> None:
    """Every slot is sent once and fails; wrk by itself would have sent the same ones again without end."""
    with Faulty(every=1, before_close=before_close).running() as server:
        driven = drive.drive(WRK, drive.plan(tool("wrk"), server.port, rate(50, 40, 4)))
    report = driven.reading.report
    assert len(server.bodies) == len(set(server.bodies)) == 44
    assert (report.verdict, report.reason) == ("void", "nothing completed")
    assert (report.sent_count, report.failed_count, report.failed_by_class) == (44, 44, {"other": 44})
    assert (report.answered_count, report.censored_count, report.success_ratio) == (0, 0, 0.0)


def test_failed_requests_are_named_and_not_hidden(tool, drive: Windows) -> None:
    """Every fifth is dropped: those slots have a failed row, the others a response, and nothing was sent twice."""
    with Faulty(every=5, delay_s=0.002).running() as server:
        driven = drive.drive(WRK, drive.plan(tool("wrk"), server.port, rate(50, 50, 6)))
    report, table = driven.reading.report, driven.samples
    assert len(server.bodies) == len(set(server.bodies)) == 56
    assert (report.verdict, report.failed_count, report.answered_count) == ("ok", 12, 44)
    lines = driven.plan.bodies.read_bytes().splitlines()
    dropped = [lines.index(server.bodies[number]) for number in server.closed]
    assert np.flatnonzero(table.outcome == 1).tolist() == sorted(dropped)
    assert np.isnan(table.end_s[table.outcome == 1]).all()
    assert np.isfinite(table.end_s[table.outcome == 0]).all()


def test_a_server_that_closes_idle_connections_breaks_no_slot(tool, drive: Windows) -> None:
    """Connections are opened again, a few times at most for each slot, and every request leaves at its own slot."""
    with Faulty(idle_s=0.01).running() as server:
        driven = drive.drive(WRK, drive.plan(tool("wrk"), server.port, rate(40, 40, 8)))
    report, table = driven.reading.report, driven.samples
    assert (report.scheduled_count, report.answered_count) == (48, len(server.bodies) - (report.failed_count or 0))
    assert len(set(server.bodies)) == len(server.bodies) >= 40
    assert server.connection_count <= 8 + 1 + 4 * 48
    assert np.median(table.sent_s - table.intended_s) < 0.1 / 40


def test_a_stuck_answer_holds_up_nobody_else(tool, drive: Windows) -> None:
    """The next slot goes to whichever connection is free, as in one queue."""
    with Faulty(slow={3: 0.8}).running() as server:
        driven = drive.drive(WRK, drive.plan(tool("wrk"), server.port, rate(50, 40, 2)))
    table = driven.samples
    took = table.end_s - table.sent_s
    stuck = int(np.argmax(took))
    waits = np.delete(table.sent_s - table.intended_s, stuck)
    assert took[stuck] > 0.7
    assert np.count_nonzero(waits > 0.25) == 0


def test_a_saturated_lane_is_cut_and_reports_what_it_served(tool, drive: Windows) -> None:
    """INT at twice the window leaves report and samples of what was answered; the rest never ended."""
    with Faulty(delay_s=0.06, one_at_a_time=True).running() as server:
        driven = drive.drive(WRK, drive.plan(tool("wrk"), server.port, rate(100, 80, 8)))
    report, table = driven.reading.report, driven.samples
    assert driven.ended.cut
    assert (report.verdict, report.scheduled_count) == ("partial", 88)
    assert report.answered_count is not None
    assert server.answered_count - 8 <= report.answered_count <= server.answered_count
    assert report.answered_count + report.censored_count == 88
    assert len(table) == report.answered_count
    waits = table.sent_s - table.released_s
    assert waits[-1] > 5 * waits[0]
    assert np.median(table.released_s - table.intended_s) < 0.1 / 100


def test_an_answer_after_the_timeout_has_failed(tool, drive: Windows) -> None:
    """As with the other drivers a late response is a failure of class timeout, not a success."""
    with Faulty(slow={5: 0.6}).running() as server:
        driven = drive.drive(WRK, drive.plan(tool("wrk"), server.port, rate(50, 30, 4, timeout_s=0.3)))
    report = driven.reading.report
    assert (report.answered_count, report.failed_count, report.failed_by_class) == (33, 1, {"timeout": 1})


@pytest.mark.parametrize("fault", ["missing", "does not compile", "fails at its end", "no plan"])
def test_without_its_script_nothing_is_sent(tool, drive: Windows, provider: Provider, fault: str) -> None:
    """Wrk goes on without a script that it cannot load; then it has no address to flood, and there is no report."""
    plan = drive.plan(tool("wrk"), provider.port, rate(50, 40, 4))
    command = WRK.command(plan)
    script, files = script_of(command), dict(command.files)
    if fault == "missing":
        del files[script]
    elif fault == "does not compile":
        files[script] += b"\nfunction ("
    elif fault == "fails at its end":
        files[script] = files[script].replace(b"\nfunction wrk.resolve", b"\nerror('broken')\nfunction wrk.resolve")
        assert files[script] != command.files[script]
    else:
        files = {script: files[script]}
    driven = drive.drive(WRK, plan, replace(command, files=files))
    with pytest.raises(InputError, match="wrk left no report of the script"):
        _ = driven.reading
    assert driven.ended.exit_code == 1
    counted = provider.counters()
    assert (counted["request_count"], counted["other_path_count"]) == (0, 0)


def test_a_thread_without_the_script_sends_nothing(tool, drive: Windows, provider: Provider) -> None:
    """A script that loads in wrk's own state and not in a thread's ends the run before it begins."""
    plan = drive.plan(tool("wrk"), provider.port, rate(50, 40, 4))
    command = WRK.command(plan)
    script, mark = script_of(command), drive.folder / "loaded-once"
    once = f"if io.open('{mark}') then error('not twice') end\nio.open('{mark}', 'w'):close()\n".encode()
    driven = drive.drive(WRK, plan, replace(command, files={**command.files, script: once + command.files[script]}))
    assert mark.exists()
    assert driven.ended.exit_code != 0
    counted = provider.counters()
    assert (counted["request_count"], counted["other_path_count"]) == (0, 0)


def test_a_lane_that_does_not_listen_is_said_at_once(tool, drive: Windows) -> None:
    """Wrk would try to connect without end; it ends, and its words are in the sentence."""
    (port,) = choose(1, None)
    driven = drive.drive(WRK, drive.plan(tool("wrk"), port, rate(50, 40, 4)))
    assert not driven.ended.cut
    with pytest.raises(InputError, match="unable to connect"):
        _ = driven.reading
