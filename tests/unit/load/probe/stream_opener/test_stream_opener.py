"""The stream opener against an injected server: what it opens, when a step stands, how a stream's end is told."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import uvloop

from tests.examples.probe_lane import DONE, JSON, LONGEST_WAIT_S, SECRET, Client, completion, event, injected
from weighbridge.errors import InputError
from weighbridge.load.contract.driver import LoadPlan
from weighbridge.load.probe.open_streams import StreamOpener, go_on, stream_opener_plan, waiting
from weighbridge.load.probe.stream_opener.plan import StreamOpenerPlan, read_plan
from weighbridge.load.probe.stream_opener.report import STREAMS_REPORT, write
from weighbridge.load.probe.stream_opener.steps import run_window
from weighbridge.load.read import read_report
from weighbridge.matrix.loads import OpenStreamsLoad
from weighbridge.matrix.requests import AnswerSpec
from weighbridge.record.open_streams import OpenStreamsResult

COUNTS = (0, 2, 5)
BODY = json.dumps({"model": "m", "stream": True, "messages": []}).encode()


class Gate:
    """Streams that have begun wait here until the test lets all of them end."""

    def __init__(self) -> None:
        self.opened = threading.Event()

    def stream(self, client: Client) -> None:
        """First content at once, the end when the gate is open."""
        client.begin_stream()
        client.chunk(event("some words"))
        self.opened.wait(LONGEST_WAIT_S)
        self.end(client)

    def late(self, client: Client) -> None:
        """Not even headers before the gate is open."""
        self.opened.wait(LONGEST_WAIT_S)
        client.begin_stream()
        client.chunk(event("some words"))
        self.end(client)

    @staticmethod
    def end(client: Client) -> None:
        client.chunk(event(finish="stop") + DONE)
        client.end_stream()


@pytest.fixture
def gate() -> Iterator[Gate]:
    """A closed gate that is open when the test is over."""
    made = Gate()
    yield made
    made.opened.set()


def plan(folder: Path, url: str, **changes: Any) -> StreamOpenerPlan:
    """A small plan with a step long enough for any machine."""
    (folder / "out").mkdir(exist_ok=True)
    (folder / "bodies.jsonl").write_bytes(BODY + b"\n")
    headers = (("authorization", f"Bearer {SECRET}"), ("content-type", JSON))
    made = StreamOpenerPlan(
        url, headers, COUNTS, 10.0, 1.0, folder / "bodies.jsonl", folder / "out", folder / "steps"
    )
    return replace(made, **changes)


@contextmanager
def caller(made: StreamOpenerPlan, gate: Gate, seen: list[dict[str, Any]]) -> Iterator[None]:
    """One that looks at each step in a thread, and opens the gate when the last one was seen."""
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set() and len(seen) < len(made.counts):
            step = waiting(made)
            if step is None:
                time.sleep(0.002)
                continue
            seen.append(json.loads(made.reached(step).read_bytes()))
            go_on(
                made, step, {"open_count": seen[-1]["client_open_count"], "rss_bytes": 1000 + step, "pss_bytes": None}
            )
        gate.opened.set()

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(LONGEST_WAIT_S)


def opened(made: StreamOpenerPlan, gate: Gate, seen: list[dict[str, Any]] | None = None) -> OpenStreamsResult:
    """What one window showed, read from its report as the campaign reads it."""
    with caller(made, gate, [] if seen is None else seen):
        state = uvloop.run(run_window(made, [BODY]))
    write(made, state, "0")
    outputs = StreamOpener().outputs(_load_plan(made), 0, b"")
    reading = StreamOpener().read(outputs)
    assert reading.open_streams is not None
    return reading.open_streams


def _load_plan(made: StreamOpenerPlan) -> LoadPlan:
    load = OpenStreamsLoad(made.counts, 3.0, 3.0)
    return LoadPlan(
        Path(sys.executable), made.url, "stream", load, made.headers, (SECRET,), made.bodies, made.out_dir, 9.0, 1
    )


def test_each_step_stands_with_all_its_streams_open(tmp_path: Path, gate: Gate) -> None:
    """A step is told when as many streams as it counts are open, each on its own connection; none is opened twice."""
    seen: list[dict[str, Any]] = []
    with injected(gate.stream) as server:
        found = opened(plan(tmp_path, server.url), gate, seen)
        assert server.open_max_count == COUNTS[-1]
    assert [(step["client_open_count"], step["content_count"]) for step in seen] == [(0, 0), (2, 2), (5, 5)]
    assert [(point.client_open_count, point.rss_bytes) for point in found.points] == [(0, 1000), (2, 1001), (5, 1002)]
    assert (found.opened_count, found.whole_count, found.broken, found.faults) == (5, 5, None, {})


def test_streams_without_content_are_told_after_their_time(tmp_path: Path, gate: Gate) -> None:
    """A server that says nothing yet does not stop the walk: a step stands without content when its time is over."""
    with injected(gate.late) as server:
        found = opened(plan(tmp_path, server.url, step_s=0.2), gate)
    assert [point.content_count for point in found.points] == [0, 0, 0]
    assert (found.whole_count, found.broken) == (5, None)


def _failing(gate: Gate, number: int, fail: Any) -> Any:
    return lambda client: fail(client) if client.number == number else gate.stream(client)


@pytest.mark.parametrize(
    ("fail", "fault"),
    [
        (lambda client: client.answer(b'{"error": {"message": "full"}}', status=429), "http_error (status 429)"),
        (lambda client: client.answer(completion("words")), "wrong_content_type"),
        (lambda client: client.reset(), "reset (connection reset by peer)"),
    ],
)
def test_a_stream_that_does_not_open_ends_the_window(tmp_path: Path, gate: Gate, fail: Any, fault: str) -> None:
    """The steps before it stand, those after it are never told, and the report says what it met."""
    with injected(_failing(gate, 3, fail)) as server:
        found = opened(plan(tmp_path, server.url), gate)
    assert [point.client_open_count for point in found.points] == [0, 2]
    assert found.broken == "ended_early"
    assert {text.lower().replace("[errno 104] ", "") for text in found.faults} == {fault}


def test_a_stream_that_ends_too_soon_ends_the_window(tmp_path: Path, gate: Gate) -> None:
    """A whole response does not stay open: what would be read after it is the memory of fewer than are counted."""

    def short(client: Client) -> None:
        client.begin_stream()
        client.chunk(event("some words"))
        gate.end(client)

    # One of the first step: its end has come long before the streams of the last step are open.
    with injected(_failing(gate, 1, short)) as server:
        found = opened(plan(tmp_path, server.url), gate)
    assert found.broken == "ended_early"
    assert len(found.points) < len(COUNTS)


def test_a_refused_connection_is_told(tmp_path: Path, gate: Gate) -> None:
    """Nobody listens: the streams failed, and why."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1/chat/completions"
    found = opened(plan(tmp_path, url), gate)
    assert found.broken == "ended_early"
    assert all(text.startswith("connect_error") for text in found.faults)


def test_streams_that_never_end_are_no_whole_ones(
    tmp_path: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All steps were seen, but the streams do not end in their time."""
    monkeypatch.setattr("weighbridge.load.probe.stream_opener.steps._PATIENCE_S", 0.1)

    def endless(client: Client) -> None:
        client.begin_stream()
        client.chunk(event("some words"))
        client.stay()

    with injected(endless) as server:
        found = opened(plan(tmp_path, server.url, length_s=0.1), gate)
    assert len(found.points) == len(COUNTS)
    assert (found.opened_count, found.whole_count) == (5, 0)


def test_the_program_holds_streams_and_keeps_no_secret(tmp_path: Path, gate: Gate) -> None:
    """As its own program it takes turns through files, ends with 0, and its report has no key and no folder."""
    seen: list[dict[str, Any]] = []
    with injected(gate.stream) as server:
        made = plan(tmp_path, server.url)
        place = tmp_path / "plan.json"
        place.write_bytes(made.to_json())
        with caller(made, gate, seen):
            ended = subprocess.run(
                [sys.executable, "-P", "-m", "weighbridge.load.probe.stream_opener", "--plan", str(place)],
                cwd=made.out_dir, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True,
                timeout=LONGEST_WAIT_S, check=False,
            )  # fmt: skip
    assert (ended.returncode, ended.stderr) == (0, "")
    text = (made.out_dir / STREAMS_REPORT).read_text()
    assert SECRET not in text
    assert str(tmp_path) not in text
    assert len(seen) == len(COUNTS)
    with pytest.raises(InputError):  # nothing is timed in it: it is no report of a load generator
        read_report(made.out_dir / STREAMS_REPORT)


def test_the_program_answers_a_bad_plan_with_one_sentence(tmp_path: Path) -> None:
    """Exit 2 and one line, no traceback."""
    place = tmp_path / "plan.json"
    place.write_text("{}")
    ended = subprocess.run(
        [sys.executable, "-P", "-m", "weighbridge.load.probe.stream_opener", "--plan", str(place)],
        env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=LONGEST_WAIT_S, check=False,
    )  # fmt: skip
    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "no plan of this stream opener" in ended.stderr


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    """The document and back; numbers that do not rise and addresses of other machines are refused."""
    made = plan(tmp_path, "http://127.0.0.1:9/v1")
    place = tmp_path / "plan.json"
    place.write_bytes(made.to_json())
    assert read_plan(place) == made
    with pytest.raises(InputError, match="rise"):
        replace(made, counts=(0, 5, 5))
    with pytest.raises(InputError, match="loopback"):
        replace(made, url="http://192.0.2.1:9/v1")


def test_a_window_lasts_as_long_as_its_steps_may_take() -> None:
    """Whatever time each step takes, the stream opened first is still open at the last one, and a step more."""
    answer = AnswerSpec("slow", 0.5, 16, 0.005)
    load = OpenStreamsLoad((0, 20, 50, 100), 3.0, 3.5)
    sent = load.window_answer(answer)
    assert sent.provider_time_s("stream") - answer.delay_s >= 4 * load.timeout_s - 1e-9
    assert sent.delay_s == answer.delay_s


def test_a_report_adds_up_and_a_missing_one_is_told(tmp_path: Path, gate: Gate) -> None:
    """Sent, answered and failed of the load report are the streams; without a file there is one sentence."""
    load_plan = _load_plan(plan(tmp_path, "http://127.0.0.1:9/v1"))
    with pytest.raises(InputError, match="left no report"):
        StreamOpener().read(StreamOpener().outputs(load_plan, 2, b""))
    with injected(_failing(gate, 3, lambda client: client.answer(b"{}", status=500))) as server:
        opened(plan(tmp_path, server.url), gate)
    report = StreamOpener().read(StreamOpener().outputs(load_plan, 0, b"")).report
    assert (report.scheduled_count, report.sent_count, report.answered_count, report.failed_count) == (5, 5, 0, 1)
    assert report.censored_count == 4
    assert stream_opener_plan(load_plan).counts == COUNTS
