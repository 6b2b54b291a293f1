"""Every outcome of the probe, each provoked by a server that behaves so."""

from __future__ import annotations

import contextlib
import socket
import time
from pathlib import Path

import pytest

from tests.examples.probe_lane import DONE, Client, Driven, Script, completion, event, injected, plan, run
from weighbridge.load.probe.program.output import report, write
from weighbridge.load.probe.program.plan import ProbePlan, Timeouts
from weighbridge.load.probe.report import GivenProbe, probe_reading
from weighbridge.load.probe.stored_tables import StoredTables
from weighbridge.load.read import read_report
from weighbridge.record.load_report import FAILURES, LoadReport
from weighbridge.record.probe_tables import OUTCOMES

SHORT = Timeouts(connect_s=0.2, headers_s=0.25, first_byte_s=0.25, idle_s=0.25, total_s=0.6)


def _silent(client: Client) -> None:
    client.stay()


def _headers_only(client: Client) -> None:
    client.begin_stream()
    client.stay()


def _stalls(client: Client) -> None:
    client.begin_stream()
    client.chunk(event("the river"))
    client.stay()


def _dribbles(client: Client) -> None:
    client.begin_stream()
    with contextlib.suppress(OSError):
        while True:
            client.chunk(event("on and on"))
            time.sleep(0.05)


def _error500(client: Client) -> None:
    client.answer(b'{"error": {"message": "no"}}', status=500)


def _error_with_200(client: Client) -> None:
    client.answer(b'{"error": {"message": "no"}}')


def _error_event(client: Client) -> None:
    client.begin_stream()
    client.chunk(event("the river"))
    client.chunk(b'data: {"error": {"message": "upstream broke"}}\n\n')
    client.chunk(DONE)
    client.end_stream()


def _ends_early(client: Client) -> None:
    client.begin_stream()
    client.chunk(event("the river"))
    client.end_stream()


def _closes_in_stream(client: Client) -> None:
    client.begin_stream()
    client.chunk(event("the river") + event("runs")[:20])
    client.sock.close()


def _closes_in_answer(client: Client) -> None:
    client.answer(completion("the river")[:30], length=500)
    client.sock.close()


def _resets_in_stream(client: Client) -> None:
    client.begin_stream()
    client.chunk(event("the river"))
    # What was sent must have been read, or the reset overtakes it.
    time.sleep(0.1)
    client.reset()


def _closes_at_once(client: Client) -> None:
    client.sock.close()


def _only_done(client: Client) -> None:
    client.begin_stream()
    client.chunk(DONE)
    client.end_stream()


def _no_text(client: Client) -> None:
    client.answer(completion(""))


def _page(client: Client) -> None:
    client.answer(b"<!doctype html><p>It works", kind="text/html; charset=utf-8")


def _whole_json(client: Client) -> None:
    client.answer(completion("the river runs"))


def _no_http(client: Client) -> None:
    client.send(b"220 welcome to the wrong port\r\n\r\n")
    client.stay()


def _no_json(client: Client) -> None:
    client.answer(b'{"choices": [')


def _no_json_event(client: Client) -> None:
    client.begin_stream()
    client.chunk(event("the river") + b"data: {no json\n\n" + DONE)
    client.end_stream()


def _two_answers(client: Client) -> None:
    client.send(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}" * 2)
    client.stay()


CASES: list[tuple[str, str, Script]] = [
    ("header_timeout", "plain", _silent),
    ("header_timeout", "stream", _silent),
    ("first_byte_timeout", "stream", _headers_only),
    ("idle_stall", "stream", _stalls),
    ("total_timeout", "stream", _dribbles),
    ("http_error", "plain", _error500),
    ("http_error", "stream", _error500),
    ("json_error", "plain", _error_with_200),
    ("json_error", "stream", _error_with_200),
    ("stream_error", "stream", _error_event),
    ("truncated", "stream", _ends_early),
    ("truncated", "stream", _closes_in_stream),
    ("truncated", "plain", _closes_in_answer),
    ("reset", "stream", _resets_in_stream),
    ("reset", "plain", _closes_at_once),
    ("empty_stream", "stream", _only_done),
    ("empty_response", "plain", _no_text),
    ("wrong_content_type", "plain", _page),
    ("wrong_content_type", "stream", _whole_json),
    ("protocol", "plain", _no_http),
    ("protocol", "plain", _no_json),
    ("protocol", "stream", _no_json_event),
    ("protocol", "plain", _two_answers),
]


@pytest.mark.parametrize(("outcome", "mode", "script"), CASES, ids=lambda v: getattr(v, "__name__", v).lstrip("_"))
def test_each_misbehaviour_has_its_name(tmp_path: Path, outcome: str, mode: str, script: Script) -> None:
    """The outcome is the one, the request is no success, and the load report says so too."""
    with injected(script) as server:
        made = plan(tmp_path, server.url, mode=mode, timeouts=SHORT)
        driven = run(made)
    assert driven.outcomes == [outcome]
    told = reported(driven, made)
    assert told.success_ratio == 0
    assert told.verdict == "void"
    assert (told.answered_count, told.failed_count) == ((1, 0) if outcome == "http_error" else (0, 1))


def test_nobody_listens(tmp_path: Path) -> None:
    """A refused connection is a connect error of the class that says so, and was never sent."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    made = plan(tmp_path, f"http://127.0.0.1:{port}/v1", count=3)
    driven = run(made)
    told = reported(driven, made)
    assert driven.outcomes == ["connect_error"] * 3
    assert told.failed_by_class == {"connect_refused": 3}
    assert told.sent_count == 0


def test_nobody_accepts(tmp_path: Path) -> None:
    """A connection that is never established is a connect time-out."""
    with contextlib.ExitStack() as held:
        full = held.enter_context(socket.socket())
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for _ in range(4):
            one = held.enter_context(socket.socket())
            one.setblocking(False)
            one.connect_ex(full.getsockname())
        driven = run(plan(tmp_path, f"http://127.0.0.1:{full.getsockname()[1]}/v1", timeouts=SHORT))
    assert driven.outcomes == ["connect_timeout"]


def test_every_outcome_is_provoked() -> None:
    """The cases above leave out no outcome but success, which has tests of its own."""
    named = {outcome for outcome, _, _ in CASES} | {"connect_error", "connect_timeout", "ok"}
    assert named == set(OUTCOMES)


def _finishes_without_done(client: Client) -> None:
    client.begin_stream()
    client.chunk(event("the river"))
    client.chunk(event(finish="stop"))
    client.end_stream()


def _ends_with_close(client: Client) -> None:
    client.send(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" + event("the river") + DONE)
    client.sock.close()


def _says_continue(client: Client) -> None:
    client.send(b"HTTP/1.1 100 Continue\r\n\r\n")
    time.sleep(0.02)
    _whole_stream(client)


def _whole_stream(client: Client) -> None:
    client.begin_stream("text/event-stream; charset=utf-8")
    client.chunk(b": a comment\n\n" + event("the river").replace(b"\n", b"\r\n"))
    client.chunk(event(finish="stop") + DONE)
    client.end_stream()


@pytest.mark.parametrize(
    ("script", "done"),
    [(_finishes_without_done, 0), (_ends_with_close, 1), (_says_continue, 1), (_whole_stream, 1)],
    ids=lambda v: getattr(v, "__name__", "").lstrip("_"),
)
def test_what_may_be_is_a_success(tmp_path: Path, script: Script, done: int) -> None:
    """A missing end marker is told, not failed; neither close as the end nor an interim response is a fault."""
    with injected(script) as server:
        driven = run(plan(tmp_path, server.url, mode="stream", timeouts=SHORT))
    assert driven.outcomes == ["ok"]
    assert driven.tables.requests.done_seen.tolist() == [done]
    assert driven.tables.requests.content_count.tolist() == [1]


def test_a_failure_does_not_spoil_the_next(tmp_path: Path) -> None:
    """After each kind of broken connection the next request gets a response of its own."""

    def every_other(client: Client) -> None:
        if client.number % 2:
            client.answer(completion("the river runs"))
        elif client.number % 4:
            client.reset()
        else:
            client.answer(completion("x"), length=400)
            client.sock.close()

    with injected(every_other) as server:
        driven = run(plan(tmp_path, server.url, count=8, timeouts=SHORT))
    assert driven.outcomes == ["truncated", "ok", "reset", "ok"] * 2


def reported(driven: Driven, made: ProbePlan) -> LoadReport:
    """The load report of a window, through the files as `invoke read` does it."""
    write(made, driven.capture, driven.tables, "0")
    told = read_report(made.out_dir / "report.json").report
    assert told == probe_reading(GivenProbe(report(made, driven.capture, driven.tables, "0"), StoredTables())).report
    assert set(told.failed_by_class) <= set(FAILURES)
    return told
