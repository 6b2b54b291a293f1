"""The mock provider as a program, met over HTTP; its due times also on a loop that can be stalled."""

from __future__ import annotations

import asyncio
import gc
import json
import re
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import uvloop

from mocks import stamps
from mocks.provider.answers import AnswerPlan
from mocks.provider.replies import PlainReply, StreamReply
from mocks.provider.service import Provider
from mocks.wire import DueTimes, HttpExchange, serve
from weighbridge.dialects.event_stream import read_events
from weighbridge.dialects.openai_chat import read_stream

CHECKOUT = Path(__file__).resolve().parents[3]
DEADLINE_S = 10.0
CHAT = "/v1/chat/completions"
MS_NS = 1_000_000


class Mock:
    """A running mock: its ports, and calls to them."""

    def __init__(self, process: subprocess.Popen[str], port: int, admin_port: int) -> None:
        self.process, self.port, self.admin_port = process, port, admin_port

    def call(self, method: str, path: str, document: Any = None, *, admin: bool = False) -> tuple[int, bytes]:
        """Status and body of one call."""
        with closing(
            HTTPConnection("127.0.0.1", self.admin_port if admin else self.port, timeout=DEADLINE_S)
        ) as client:
            body = document if document is None or isinstance(document, bytes) else json.dumps(document)
            client.request(method, path, body, {"Content-Type": "application/json", "X-Case": "one"})
            answer = client.getresponse()
            return answer.status, answer.read()

    def admin(self, path: str, document: Any = None, *, method: str = "GET") -> Any:
        """The JSON response of the admin port."""
        status, body = self.call(method, path, document, admin=True)
        assert status == 200, body
        return json.loads(body)

    def counters(self) -> dict[str, Any]:
        return self.admin("/counters")

    def records(self) -> list[dict[str, Any]]:
        document = self.admin("/records")
        return [dict(zip(document["columns"], row, strict=True)) for row in document["rows"]]

    def until(self, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Counters that fulfil a condition, with a deadline."""
        end = time.monotonic() + DEADLINE_S
        while not condition(counters := self.counters()):
            assert time.monotonic() < end, counters
        return counters


@contextmanager
def started(*arguments: str) -> Iterator[Mock]:
    """The provider as its own process on free ports."""
    command = [sys.executable, "-m", "mocks.provider", "--port", "0", "--admin-port", "0", *arguments]
    process = subprocess.Popen(
        command, cwd=CHECKOUT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    with process:
        greeting = process.stdout.readline()
        ports = [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", greeting)]
        assert len(ports) == 2, process.stderr.read()
        try:
            yield Mock(process, *ports)
        finally:
            process.terminate()
            process.wait(DEADLINE_S)
            assert process.stderr.read() == ""


@pytest.fixture(scope="module")
def program() -> Iterator[Mock]:
    """One provider for the module; each test resets it."""
    with started() as mock:
        yield mock


@pytest.fixture
def provider(program: Mock) -> Mock:
    """The provider with fresh counts and a quick response."""
    program.until(lambda counters: counters["in_flight_count"] == 0)
    program.admin("/reset", {"delay_s": 0.005, "chunk_count": 4, "gap_s": 0.001}, method="POST")
    return program


def chat(number: int | None = 1, **more: Any) -> dict[str, Any]:
    """A chat request whose prompt carries the reference of that number."""
    reference = "" if number is None else stamps.encode_reference(number).decode() + " "
    messages = [{"role": "system", "content": "be brief"}, {"role": "user", "content": reference + "hello there"}]
    return {"model": "any-model", "messages": messages, **more}


def events(body: bytes) -> list[Any]:
    """The data of each event; every one must be a `data:` line and an empty line."""
    assert body.endswith(b"\n\n")
    texts = body[:-2].split(b"\n\n")
    assert all(text.startswith(b"data: ") and b"\n" not in text for text in texts)
    found = [data for _, _, data in read_events([(0, body)])]
    return [*(json.loads(data) for data in found[:-1]), found[-1]]


def test_plain_answer_is_a_whole_completion_with_stamp_and_usage(provider: Mock) -> None:
    """The response has the fields that clients read, and its stamp says what the record says."""
    status, body = provider.call("POST", CHAT, chat(7, stream=False))
    answer, (record,) = json.loads(body), provider.records()

    assert status == 200
    assert answer["object"] == "chat.completion"
    assert answer["model"] == "any-model"
    (choice,) = answer["choices"]
    assert (choice["index"], choice["finish_reason"], choice["message"]["role"]) == (0, "stop", "assistant")
    used = answer["usage"]
    assert used["total_tokens"] == used["prompt_tokens"] + used["completion_tokens"]
    stamp = stamps.find_stamp(choice["message"]["content"].encode())
    assert stamp == stamps.Stamp(record["recv_ns"], record["send_ns"])
    assert record["reference"] == stamps.encode_reference(7).decode()[8:-1]
    assert (record["mode"], record["outcome"]) == ("plain", "answered")
    assert stamp.send_ns - stamp.recv_ns >= 5 * MS_NS


@pytest.mark.parametrize("include_usage", [True, False])
def test_stream_is_what_a_client_expects(provider: Mock, include_usage: bool) -> None:
    """Exactly the planned content chunks in order, role in the first, finish, usage when asked, end marker."""
    options = {"stream_options": {"include_usage": True}} if include_usage else {}
    _, body = provider.call("POST", CHAT, chat(stream=True, **options))
    *chunks, done = events(body)

    assert done == b"[DONE]"
    content = [c for c in chunks if c["choices"] and "content" in c["choices"][0]["delta"]]
    assert chunks[: len(content)] == content
    assert ["role" in c["choices"][0]["delta"] for c in content] == [True, False, False, False]
    assert all(c["choices"][0]["finish_reason"] is None for c in content)
    assert chunks[4]["choices"][0] == {"index": 0, "delta": {}, "logprobs": None, "finish_reason": "stop"}
    assert len({(c["id"], c["object"], c["model"]) for c in chunks}) == 1
    if include_usage:
        assert [c["usage"] for c in chunks[:5]] == [None] * 5
        assert chunks[5]["choices"] == []
        assert chunks[5]["usage"]["completion_tokens"] == 4
        assert len(chunks) == 6
    else:
        assert not any("usage" in c for c in chunks)
        assert len(chunks) == 5


def test_stream_stamps_say_what_the_record_says(provider: Mock) -> None:
    """Each content chunk carries its own place and time; the first one also when the request was read."""
    _, body = provider.call("POST", CHAT, chat(stream=True))
    (record,) = provider.records()
    texts = [text for _, text in read_stream([(0, body)]).pieces]
    found = [stamps.find_chunk_stamps(text.encode()) for text in texts]

    assert [len(stamps_of_chunk) for stamps_of_chunk in found] == [1, 1, 1, 1]
    assert [chunk[0].sequence for chunk in found] == [0, 1, 2, 3]
    assert stamps.find_stamp("".join(texts).encode()) == stamps.Stamp(record["recv_ns"], record["send_ns"])
    assert found[0][0].send_ns == record["send_ns"]
    assert found[3][0].send_ns == record["end_ns"]
    assert len(stamps.find_chunk_stamps("".join(texts).encode())) == 4
    assert record["mode"] == "stream"


def test_each_event_is_one_http_chunk(provider: Mock) -> None:
    """Chunk framing and events agree one to one, so that whoever merges them is seen."""
    body = json.dumps(chat(stream=True)).encode()
    with closing(socket.create_connection(("127.0.0.1", provider.port), DEADLINE_S)) as client:
        head = b"POST %b HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: %d\r\n\r\n"
        client.sendall(head % (CHAT.encode(), len(body)) + body)
        answer = b""
        while part := client.recv(65536):
            answer += part
    rest, frames = answer.partition(b"\r\n\r\n")[2], []
    while rest:
        size, _, rest = rest.partition(b"\r\n")
        frames.append(rest[: int(size, 16)])
        rest = rest[int(size, 16) + 2 :]

    assert frames.pop() == b""
    assert len(frames) == 6
    assert all(frame.startswith(b"data: ") and frame.endswith(b"\n\n") for frame in frames)


def test_no_answer_is_early_and_all_come_in_due_order(provider: Mock) -> None:
    """By the provider's own records: nothing is sent before it is due, and responses leave in due order."""
    provider.admin("/reset", {"delay_s": 0.03, "chunk_count": 5, "gap_s": 0.004}, method="POST")
    bodies: list[bytes] = []
    threads = [
        threading.Thread(target=lambda n=n: bodies.append(provider.call("POST", CHAT, chat(n, stream=n % 2 == 1))[1]))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    records, counters = provider.records(), provider.counters()

    assert all(r["send_ns"] - r["recv_ns"] >= 30 * MS_NS for r in records)
    by_due, by_sent = (sorted(records, key=lambda r, k=k: r[k]) for k in ("recv_ns", "send_ns"))
    assert [r["reference"] for r in by_due] == [r["reference"] for r in by_sent]
    for body in bodies:
        chunks = stamps.find_chunk_stamps(body)
        assert all(c.send_ns - chunks[0].send_ns >= 0 for c in chunks)
        stamp = stamps.find_stamp(body)
        assert all(c.send_ns - stamp.recv_ns >= 30 * MS_NS + c.sequence * 4 * MS_NS for c in chunks)
    assert counters["lateness_p50_s"] >= 0
    assert counters["due_count"] == 6 + 6 * 5
    assert (counters["plain_count"], counters["stream_count"], counters["distinct_reference_count"]) == (6, 6, 12)


async def _stream_of(plan: AnswerPlan, requests: list[dict[str, Any]], stall_s: float = 0.0) -> bytes:
    """Answers to pipelined requests by a provider on this loop, which stands still for a while if told to."""
    due_times = DueTimes()
    provider = Provider(plan, "mock-model", due_times)

    def handle(exchange: HttpExchange) -> None:
        provider.handle(exchange)
        if stall_s:
            due_times.at(exchange.received_ns + 50 * MS_NS, lambda: time.sleep(stall_s))

    server = await serve(handle, 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    for number, document in enumerate(requests, 1):
        body = json.dumps(document).encode()
        close = b"Connection: close\r\n" if number == len(requests) else b""
        writer.write(b"POST %b HTTP/1.1\r\nHost: x\r\n%b" % (CHAT.encode(), close))
        writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    answer = await asyncio.wait_for(reader.read(), DEADLINE_S)
    writer.close()
    await writer.wait_closed()
    await server.close()
    due_times.close()
    return answer


def test_answered_requests_leave_no_garbage() -> None:
    """Replies vanish without a collection, for mocks run with the collector off."""
    plan = AnswerPlan(delay_s=0.001, chunk_count=3, gap_s=0.001)
    gc.collect()
    gc.disable()
    try:
        answer = uvloop.run(_stream_of(plan, [chat(n, stream=n % 2 == 0) for n in range(20)]))
        left = [kind.__name__ for kind in map(type, gc.get_objects()) if kind in (PlainReply, StreamReply)]
    finally:
        gc.enable()

    assert answer.count(b"HTTP/1.1 200") == 20
    assert left == []


def test_a_stall_does_not_shift_the_chunks_after_it() -> None:
    """Due times are absolute: after the loop stood still for a third of the stream, the last chunk is on time."""
    plan = AnswerPlan(delay_s=0.01, chunk_count=31, gap_s=0.01)
    chunks = stamps.find_chunk_stamps(uvloop.run(_stream_of(plan, [chat(stream=True)], stall_s=0.1)))
    span_ratio = (chunks[-1].send_ns - chunks[0].send_ns) / (300 * MS_NS)

    assert len(chunks) == 31
    assert span_ratio < 1.25, "a chunk's lateness was handed on to the next"


def test_a_client_that_goes_is_counted_as_aborted(provider: Mock) -> None:
    """A client that leaves in mid-stream, or before a non-streaming response, is aborted; nobody else is."""
    provider.admin("/reset", {"delay_s": 0.05, "chunk_count": 1000, "gap_s": 0.01}, method="POST")
    for stream in (True, False):
        body = json.dumps(chat(stream=stream)).encode()
        with closing(socket.create_connection(("127.0.0.1", provider.port), DEADLINE_S)) as client:
            client.sendall(
                b"POST %b HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (CHAT.encode(), len(body)) + body
            )
            if stream:
                client.recv(100)
            else:
                provider.until(lambda counters: counters["request_count"] == 2)
    counters = provider.until(lambda counters: counters["in_flight_count"] == 0)

    assert counters["aborted_count"] == 2
    assert counters["answered_count"] == 0
    assert [r["outcome"] for r in provider.records()] == ["aborted", "aborted"]
    assert [r["send_ns"] is None for r in provider.records()] == [False, True]


BAD_BODIES = {
    "empty": b"",
    "cut": b'{"model": "m", "messages": [',
    "not UTF-8": b'{"model": "\xff"}',
    "a list": b"[]",
    "deep": b"[" * 100_000,
    "no model": {"messages": [{"role": "user", "content": "x"}]},
    "no messages": {"model": "m"},
    "empty messages": {"model": "m", "messages": []},
    "message without role": {"model": "m", "messages": [{"content": "x"}]},
    "content a number": {"model": "m", "messages": [{"role": "user", "content": 3}]},
    "stream a text": {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream": "true"},
    "options a list": {"model": "m", "messages": [{"role": "user", "content": "x"}], "stream_options": []},
}


@pytest.mark.parametrize("case", BAD_BODIES)
def test_a_bad_body_is_refused_as_by_the_real_api(provider: Mock, case: str) -> None:
    """400 with an error object, counted and recorded as bad, never answered."""
    status, body = provider.call("POST", CHAT, BAD_BODIES[case])
    counters = provider.counters()

    assert status == 400
    error = json.loads(body)["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"
    assert (counters["request_count"], counters["bad_request_count"], counters["answered_count"]) == (1, 1, 0)
    assert [(r["mode"], r["outcome"]) for r in provider.records()] == [(None, "bad_request")]


def test_other_paths_are_json_errors_and_no_requests(provider: Mock) -> None:
    """The list of models is served; elsewhere is 404, a wrong method 405, counted apart from requests."""
    status, body = provider.call("GET", "/v1/models")
    model = json.loads(body)["data"][0]
    other = [provider.call(*what) for what in (("GET", "/"), ("POST", "/v1/completions"), ("GET", CHAT))]
    counters = provider.counters()

    assert (status, model["id"], model["object"]) == (200, "mock-model", "model")
    assert [status for status, _ in other] == [404, 404, 405]
    assert all("error" in json.loads(body) for _, body in other)
    assert (counters["other_path_count"], counters["request_count"]) == (3, 0)


def test_references_prove_repeats_and_damage(provider: Mock) -> None:
    """A reference seen twice is one distinct; a damaged one and none at all are unreferenced."""
    damaged = chat(None)
    damaged["messages"][1]["content"] = stamps.encode_reference(9).decode()[:-1] + "! hello"
    for document in (chat(1), chat(2), chat(1), chat(None), damaged):
        provider.call("POST", CHAT, document)
    counters = provider.counters()

    assert counters["request_count"] == 5
    assert counters["distinct_reference_count"] == 2
    assert counters["unreferenced_count"] == 2


def test_the_last_request_is_shown_as_it_came(provider: Mock) -> None:
    """What a lane changed on the way can be compared: path, headers and body are kept."""
    assert provider.call("GET", "/last", admin=True)[0] == 404
    document = chat(3, temperature=0.5)
    provider.call("POST", CHAT, document)
    last = provider.admin("/last")

    assert (last["method"], last["path"], last["headers"]["x-case"]) == ("POST", CHAT, "one")
    assert json.loads(last["body"]) == document


def test_records_come_in_pages(provider: Mock) -> None:
    """Pages put together are all records in order; nonsense is refused."""
    for number in range(5):
        provider.call("POST", CHAT, chat(number))
    pages = [provider.admin(f"/records?offset={offset}&limit=2") for offset in (0, 2, 4)]

    assert [row for page in pages for row in page["rows"]] == provider.admin("/records")["rows"]
    assert [page["row_count"] for page in pages] == [5, 5, 5]
    assert provider.call("GET", "/records?offset=-1", admin=True)[0] == 400
    assert provider.call("GET", "/records?limit=x", admin=True)[0] == 400


def test_a_reset_does_not_mix_old_requests_into_new_counts(provider: Mock) -> None:
    """A request at hand during a reset ends in the old book, by the old plan."""
    provider.admin("/reset", {"delay_s": 0.1}, method="POST")
    answers: list[tuple[int, bytes]] = []
    thread = threading.Thread(target=lambda: answers.append(provider.call("POST", CHAT, chat())))
    thread.start()
    provider.until(lambda counters: counters["request_count"] == 1)
    provider.admin("/reset", {"delay_s": 0}, method="POST")
    thread.join()

    assert answers[0][0] == 200
    stamp = stamps.find_stamp(answers[0][1])
    assert stamp.send_ns - stamp.recv_ns >= 100 * MS_NS
    counters = provider.counters()
    assert (counters["request_count"], counters["answered_count"], counters["due_count"]) == (0, 0, 0)
    assert counters["lateness_p99_s"] is None


@pytest.mark.parametrize(
    "document",
    [
        {"delay": 1},
        {"delay_s": -1},
        {"delay_s": "1"},
        {"gap_s": 1e9},
        {"chunk_count": 0},
        {"chunk_count": 1.5},
        {"chunk_count": 65536},
        [],
        b"{",
    ],
)
def test_an_impossible_plan_is_refused(provider: Mock, document: Any) -> None:
    """A reset with an unknown key or a value out of range changes nothing and says why."""
    provider.call("POST", CHAT, chat())
    status, body = provider.call("POST", "/reset", document, admin=True)

    assert status == 400
    assert json.loads(body)["error"]["message"]
    assert provider.counters()["request_count"] == 1


@pytest.mark.real
def test_counts_equal_those_of_wrk(provider: Mock, tool, tmp_path: Path) -> None:
    """The provider responds as many requests as wrk counts, but for at most one a connection in flight at its end."""
    provider.admin("/reset", {"delay_s": 0.002}, method="POST")
    script = tmp_path / "post.lua"
    script.write_text(f"wrk.method = 'POST'\nwrk.body = [[{json.dumps(chat())}]]\n")
    command = [str(tool("wrk")), "-t1", "-c4", "-d1s", "-s", str(script), f"http://127.0.0.1:{provider.port}{CHAT}"]
    report = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    counted = int(re.search(r"(\d+) requests in", report)[1])
    counters = provider.until(lambda counters: counters["in_flight_count"] == 0)

    assert counted > 0
    assert "Non-2xx" not in report
    assert 0 <= counters["request_count"] - counted <= 4
    assert counters["request_count"] == counters["answered_count"] + counters["aborted_count"]
    assert counters["connection_count"] >= 4
    assert counters["open_max_count"] >= 4
    assert counters["timer"] == ("timerfd" if sys.platform == "linux" else "call_later")


@pytest.mark.real
def test_curl_reads_the_stream(provider: Mock, tool) -> None:
    """A real client gets the whole stream, content type included."""
    command = [str(tool("curl")), "-sS", "-N", "-i", "--max-time", "10", "-d", json.dumps(chat(stream=True))]
    answer = subprocess.run([*command, f"http://127.0.0.1:{provider.port}{CHAT}"], capture_output=True, check=True)
    head, _, body = answer.stdout.partition(b"\r\n\r\n")

    assert b"content-type: text/event-stream" in head
    assert events(body)[-1] == b"[DONE]"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_stopping_answers_what_is_at_hand(number: int) -> None:
    """TERM and INT end the program with 0, after the response that was under way."""
    answers: list[tuple[int, bytes]] = []
    with started("--delay-s", "0.2") as mock:
        thread = threading.Thread(target=lambda: answers.append(mock.call("POST", CHAT, chat())))
        thread.start()
        mock.until(lambda counters: counters["request_count"] == 1)
        mock.process.send_signal(number)
        thread.join()
        assert mock.process.wait(DEADLINE_S) == 0
        assert mock.process.stderr.read() == ""

    assert answers[0][0] == 200


@pytest.mark.parametrize("case", ["taken port", "bad plan"])
def test_a_start_that_fails_says_why_in_one_sentence(program: Mock, case: str) -> None:
    """Exit 2 and one line on stderr, no traceback."""
    arguments = ["--port", str(program.port)] if case == "taken port" else ["--port", "0", "--chunks", "0"]
    command = [sys.executable, "-m", "mocks.provider", *arguments, "--admin-port", "0"]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=DEADLINE_S)

    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert "Traceback" not in ended.stderr
    assert (str(program.port) if case == "taken port" else "chunk_count") in ended.stderr
