"""The oha driver with the real oha against a small server of the tests' own, judged by that server's record."""

from __future__ import annotations

import asyncio
import json
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from mocks.stamps import find_reference
from weighbridge.command import Command
from weighbridge.load.contract.bodies import BodyPlan, write_bodies
from weighbridge.load.contract.driver import LoadPlan
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.drivers import DRIVERS
from weighbridge.load.oha.argv import parse_argv
from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad
from weighbridge.matrix.requests import PayloadSpec
from weighbridge.record.load_report import Percentiles

pytestmark = pytest.mark.real

DRIVER = DRIVERS["oha"]
PLAIN = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n"


@dataclass
class Server:
    """Answers in a way of its own and keeps when each request came, its head and body, and what became of it."""

    delay_s: float = 0.0
    one_at_a_time: bool = False
    stream: bool = False
    fails: Callable[[int], bool] = lambda _: False
    port: int = 0
    arrived_s: list[float] = field(default_factory=list)
    heads: list[bytes] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    failed: list[int] = field(default_factory=list)
    answered_count: int = 0
    connection_count: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connection_count += 1
        try:
            while await self._one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = await reader.readuntil(b"\r\n\r\n")
        length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        body = await reader.readexactly(length)
        number = len(self.arrived_s)
        self.arrived_s.append(time.monotonic())
        self.heads.append(head)
        self.bodies.append(body)
        if self.fails(number):
            self.failed.append(number)
            return False
        await self._wait()
        if self.stream:
            writer.write(CHUNKED + b"6\r\ndata: \r\n")
            await asyncio.sleep(self.delay_s)
            writer.write(b"2\r\n\n\n\r\n0\r\n\r\n")
        else:
            writer.write(PLAIN)
        await writer.drain()
        self.answered_count += 1
        return True

    async def _wait(self) -> None:
        if not self.one_at_a_time:
            await asyncio.sleep(self.delay_s)
            return
        async with self._turn:
            await asyncio.sleep(self.delay_s)

    async def run(self, ready: threading.Event) -> None:
        self._turn, self._stop, self._loop = asyncio.Lock(), asyncio.Event(), asyncio.get_running_loop()
        server = await asyncio.start_server(self.serve, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stop.wait()
        server.close()
        await server.wait_closed()

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)


@contextmanager
def _running(server: Server) -> Iterator[Server]:
    ready = threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(server.run(ready)))
    thread.start()
    try:
        assert ready.wait(10)
        yield server
    finally:
        server.stop()
        thread.join(10)


@dataclass(frozen=True)
class Window:
    """One window as it was driven."""

    reading: ReportReading
    cut: bool
    command: Command
    out_dir: Path


@pytest.fixture
def drive(tool: Callable[[str], Path], tmp_path: Path):
    """Drives one window of a load against a server by the driver's own command."""
    program = tool("oha")

    def run(server: Server, load: Load, mode: str = "plain") -> Window:
        out_dir = tmp_path / "out"
        out_dir.mkdir()
        bodies = tmp_path / "bodies.jsonl"
        write_bodies(bodies, BodyPlan(PayloadSpec("small", 32, 64), mode, "mock", load.window_count, 1))
        plan = LoadPlan(
            program=program,
            url=f"http://127.0.0.1:{server.port}/v1/chat/completions",
            mode=mode,
            load=load,
            headers=(("authorization", "Bearer key"),),
            secrets=("key",),
            bodies=bodies,
            out_dir=out_dir,
            expected_s=load.window_count / (load.offered_rps or 50),
            seed=1,
        )
        return _ended(plan, DRIVER.command(plan))

    return run


def _ended(plan: LoadPlan, command: Command) -> Window:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(plan.out_dir)}
    started = subprocess.Popen(command.argv, cwd=command.cwd, env=env, stderr=subprocess.PIPE, stdout=subprocess.PIPE)
    cut = False
    try:
        _, stderr = started.communicate(timeout=command.cut_after_s)
    except subprocess.TimeoutExpired:
        cut = True
        started.send_signal(command.stop_signal)
        _, stderr = started.communicate(timeout=command.deadline_s)
    finally:
        if started.poll() is None:
            started.kill()
            started.communicate()
    reading = DRIVER.read(DRIVER.outputs(plan, started.returncode, stderr))
    return Window(reading, cut, command, plan.out_dir)


def _rate(rate_rps: float, request_count: int, connections: int) -> Load:
    return RateLoad(rate_rps, request_count / rate_rps, request_count, connections, 0, 5.0)


def test_a_rate_window_sends_n_plus_c_and_all_are_answered(drive) -> None:
    """The server gets exactly N + C requests over at most C connections, and the report says the same."""
    with _running(Server(delay_s=0.005)) as server:
        window = drive(server, _rate(100, 100, 8))
    report, table = window.reading.report, window.reading.samples
    assert not window.cut
    assert len(server.arrived_s) == 108
    assert server.connection_count <= 8
    assert (report.verdict, report.generation, report.corrected) == ("ok", "G5", "yes")
    assert (report.scheduled_count, report.sent_count, report.answered_by_status) == (108, 108, {"200": 108})
    assert (report.failed_count, report.censored_count, report.success_ratio) == (0, 0, 1.0)
    assert report.received_bytes == 2 * 108
    assert table is not None
    assert len(table) == 108


def test_requests_are_what_they_should_be(drive) -> None:
    """POST, JSON, our header, no Accept-Encoding, and each body is a line of the file with its own reference."""
    with _running(Server()) as server:
        window = drive(server, _rate(200, 100, 4))
    lines = set((window.out_dir.parent / "bodies.jsonl").read_bytes().splitlines())
    assert all(body in lines for body in server.bodies)
    assert all(json.loads(body)["model"] == "mock" for body in server.bodies)
    references = {find_reference(body) for body in server.bodies}
    assert None not in references
    assert len(references) > 0.8 * len(server.bodies)
    for head in map(bytes.lower, server.heads):
        assert head.startswith(b"post /v1/chat/completions http/1.1\r\n")
        assert b"\r\nauthorization: bearer key\r\n" in head
        assert b"\r\ncontent-type: application/json\r\n" in head
        assert b"accept-encoding" not in head


def test_the_rebuilt_schedule_agrees_with_the_servers_clock(drive) -> None:
    """Arrivals at the server follow the sends of the samples, and the rebuilt grid is even and never late."""
    with _running(Server(delay_s=0.002)) as server:
        window = drive(server, _rate(50, 60, 8))
    table = window.reading.samples
    assert table is not None
    assert np.diff(table.intended_s) == pytest.approx(1 / 50)
    assert ((table.released_s - table.intended_s) >= -1e-9).all()
    assert (table.sent_s >= table.released_s).all()
    offset = np.array(server.arrived_s) - np.sort(table.sent_s)
    assert np.median(np.abs(offset - np.median(offset))) < 0.25 / 50
    arrivals = np.array(server.arrived_s)
    assert (len(arrivals) - 1) / (arrivals[-1] - arrivals[0]) == pytest.approx(50, rel=0.02)


def test_arrivals_that_failed_are_named(drive) -> None:
    """Every fifth request is dropped by the server: those slots have a failed row, and no others."""
    with _running(Server(fails=lambda number: number % 5 == 3)) as server:
        window = drive(server, _rate(50, 50, 6))
    report, table = window.reading.report, window.reading.samples
    assert report.failed_by_class == {"closed_before_answer": len(server.failed)}
    assert report.answered_count == 56 - len(server.failed)
    assert table is not None
    assert len(table) == 56
    assert np.flatnonzero(table.outcome == 1).tolist() == server.failed
    assert np.isnan(table.sent_s[table.outcome == 1]).all()


@pytest.mark.parametrize("mode", ["plain", "stream"])
def test_a_saturated_lane_is_cut_and_reports_what_it_served(drive, mode: str) -> None:
    """INT at twice the window leaves a whole report of what was answered, the rest censored, and no samples file."""
    with _running(Server(delay_s=0.05, one_at_a_time=True)) as server:
        window = drive(server, _rate(100, 80, 8), mode)
    report = window.reading.report
    assert window.cut
    assert (report.verdict, report.scheduled_count) == ("partial", 88)
    assert not (window.out_dir / "samples.db").exists()
    assert report.answered_count is not None
    # What was written to a connection that was just cut is answered for the server only.
    assert server.answered_count - 8 <= report.answered_count <= server.answered_count
    assert isinstance(report.response_ms, Percentiles)
    assert report.response_ms.p95 is None
    if mode == "plain":
        assert report.censored_count == 88 - report.answered_count
        assert report.completed_rps == pytest.approx(report.answered_count / report.wall_s)
        assert report.completed_rps < 0.5 * 100
    else:
        assert (report.failed_count, report.censored_count) == (None, None)


def test_corrected_durations_hold_the_wait(drive) -> None:
    """A lane at half the rate, let run to its end: response grows with the queue, service does not."""
    with _running(Server(delay_s=0.02)) as server:
        window = drive(server, _rate(60, 40, 1))
    table = window.reading.samples
    assert window.reading.report.corrected == "yes"
    assert table is not None
    response, service = table.end_s - table.intended_s, table.end_s - table.sent_s
    assert response[-1] > 5 * np.median(service)
    assert "saturated" in window.reading.report.flags


def test_a_stream_has_its_first_bytes(drive) -> None:
    """CSV and SQLite of one run join: the first byte comes half-way between start and end."""
    with _running(Server(delay_s=0.03, stream=True)) as server:
        window = drive(server, _rate(50, 40, 6), "stream")
    report, table = window.reading.report, window.reading.samples
    assert (report.verdict, report.generation, report.corrected) == ("ok", "csv", "yes")
    assert len(server.arrived_s) == report.answered_count == 46
    assert isinstance(report.first_byte_ms, Percentiles)
    assert report.first_byte_ms.n == 46
    assert table is not None
    half = (table.first_byte_s - table.sent_s) / (table.end_s - table.sent_s)
    assert 0.3 < np.median(half) < 0.7
    assert np.isfinite(table.intended_s).all()


def test_clients_run_a_closed_loop(drive) -> None:
    """N + C requests with no schedule: no intended times, no correction, C in flight."""
    load = ClientsLoad(4, 60, 4, 0, 5.0)
    with _running(Server(delay_s=0.005)) as server:
        window = drive(server, load)
    report, table = window.reading.report, window.reading.samples
    assert (report.verdict, report.corrected, report.answered_count) == ("ok", "no", 64)
    assert len(server.arrived_s) == 64
    assert parse_argv(window.command.argv).scheduled_count == 64
    assert table is not None
    assert np.isnan(table.intended_s).all()
    assert (np.diff(table.sent_s) >= 0).all()
