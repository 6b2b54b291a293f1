"""The mocks' HTTP server and due times, met over real sockets."""

from __future__ import annotations

import asyncio
import gc
import re
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
import uvloop

from mocks.wire import DueTimes, HttpExchange, Server, serve
from mocks.wire.protocol import BODY_LIMIT_BYTES, HEAD_LIMIT_BYTES, PIPELINE_LIMIT_COUNT, HttpConnection

DEADLINE_S = 10.0


class Rig:
    """A server on a loop of its own thread."""

    def __init__(self) -> None:
        self.loop = uvloop.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.faults: list[dict[str, Any]] = []
        self.loop.set_exception_handler(lambda _, context: self.faults.append(context))
        self.servers: list[Server] = []
        self.due_times = self.call(self._due_times())

    async def _due_times(self) -> DueTimes:
        return DueTimes()

    def call(self, work):
        """The result of a coroutine on the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(DEADLINE_S)

    def serve(self, handler: Callable[[HttpExchange], None], host: str = "127.0.0.1") -> Server:
        """A server for `handler` on a free port."""
        server = self.call(serve(handler, 0, host))
        self.servers.append(server)
        return server

    def close(self) -> None:
        for server in self.servers:
            self.call(server.close(0.2))

        async def last() -> None:
            self.due_times.close()

        self.call(last())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(DEADLINE_S)
        self.loop.close()


@pytest.fixture
def rig() -> Iterator[Rig]:
    """A loop to serve on, closed afterwards."""
    rig = Rig()
    yield rig
    rig.close()


def connect(server: Server) -> socket.socket:
    """A connection that does not wait for ever."""
    return socket.create_connection(("127.0.0.1", server.port), DEADLINE_S)


def read_all(client: socket.socket) -> bytes:
    """Everything until the server closes."""
    parts = []
    while part := client.recv(65536):
        parts.append(part)
    return b"".join(parts)


def until(condition: Callable[[], bool]) -> None:
    """Waits for a condition, with a deadline."""
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "the condition never held"
        time.sleep(0.002)


def echo(exchange: HttpExchange) -> None:
    """Answers with what it got."""
    exchange.respond(200, (("x-path", exchange.path), ("x-query", exchange.query)), exchange.body)


def echo_later(rig: Rig, delay_ms: int) -> Callable[[HttpExchange], None]:
    """A handler that echoes when due."""

    def handle(exchange: HttpExchange) -> None:
        rig.due_times.at(exchange.received_ns + delay_ms * 1_000_000, lambda: echo(exchange))

    return handle


LAST = b"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def test_pipelined_answers_keep_the_order_of_their_requests(rig: Rig) -> None:
    """A slow first request holds back the responses of the later ones; none is lost or overtakes."""

    def handle(exchange: HttpExchange) -> None:
        if exchange.path == "/slow":
            rig.due_times.at(exchange.received_ns + 30_000_000, lambda: exchange.respond(200, (), b"[slow]"))
        elif exchange.path == "/stream":
            exchange.start_stream(200, ())
            exchange.send_chunk(b"[one]")
            rig.due_times.at(
                exchange.received_ns + 60_000_000, lambda: (exchange.send_chunk(b"[two]"), exchange.end_stream())
            )
        else:
            exchange.respond(200, (), b"[fast]")

    server = rig.serve(handle)
    requests = b"".join(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path for path in (b"/slow", b"/a", b"/stream", b"/b"))
    with closing(connect(server)) as client:
        client.sendall(requests + LAST)
        answer = read_all(client)

    assert re.findall(rb"\[\w+\]", answer) == [b"[slow]", b"[fast]", b"[one]", b"[two]", b"[fast]", b"[fast]"]
    assert answer.count(b"HTTP/1.1 200") == 5


def test_a_long_pipeline_is_answered_whole(rig: Rig) -> None:
    """More requests at once than may wait are all answered: reading pauses and goes on."""
    server = rig.serve(echo_later(rig, 1))
    count = 40 * PIPELINE_LIMIT_COUNT
    with closing(connect(server)) as client:
        sender = threading.Thread(
            target=client.sendall,
            args=(b"GET /x HTTP/1.1\r\nHost: x\r\nPad: %b\r\n\r\n" % (b"p" * 200) * count + LAST,),
        )
        sender.start()
        answer = read_all(client)
        sender.join()

    assert answer.count(b"HTTP/1.1 200") == count + 1


@pytest.mark.parametrize("framing", ["length", "chunked"])
def test_a_request_split_into_bytes_is_the_same_request(rig: Rig, framing: str) -> None:
    """However the network cuts a request, path, query, headers and body are the same."""
    seen: list[HttpExchange] = []
    last_read_bytes: list[int] = []

    def handle(exchange: HttpExchange) -> None:
        seen.append(exchange)
        last_read_bytes.extend(connection._read_bytes for connection in server._open)
        echo(exchange)

    server = rig.serve(handle)
    head = b"POST /some/path?a=1&b=%20 HTTP/1.1\r\nHOST: x\r\nX-Two: a\r\nx-two: b\r\nConnection: close\r\n"
    if framing == "length":
        request = head + b"Content-Length: 10\r\n\r\n0123456789"
    else:
        request = (
            head + b"Transfer-Encoding: chunked\r\n\r\n3\r\n012\r\n7;ext=1\r\n3456789\r\n0\r\nX-Trailer: t\r\n\r\n"
        )
    with closing(connect(server)) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for place in range(len(request)):
            client.sendall(request[place : place + 1])
            for _ in range(2):  # two turns of the loop: the byte is read before the next one is sent
                rig.call(asyncio.sleep(0))
        answer = read_all(client)

    exchange = seen[0]
    assert last_read_bytes == [1]
    assert answer.endswith(b"\r\n\r\n0123456789")
    assert (exchange.method, exchange.path, exchange.query) == ("POST", "/some/path", "a=1&b=%20")
    assert exchange.headers["host"] == "x"
    assert exchange.headers["x-two"] == "a, b"
    assert "x-trailer" not in exchange.headers


def test_received_is_the_read_that_completes_the_request(rig: Rig) -> None:
    """`received_ns` lies after the client sent the last byte, not at the first read of a slow request."""
    seen: list[int] = []
    server = rig.serve(lambda exchange: seen.append(exchange.received_ns) or echo(exchange))
    with closing(connect(server)) as client:
        client.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\na")
        until(lambda: server.connection_count == 1)
        before_ns = time.monotonic_ns()
        client.sendall(b"b")
        read_all(client)

    assert before_ns <= seen[0] <= time.monotonic_ns()


def test_a_connection_is_kept_alive_until_asked_to_close(rig: Rig) -> None:
    """Many requests take one connection; `Connection: close` and HTTP/1.0 end it after the response."""
    server = rig.serve(echo)
    with closing(connect(server)) as client:
        for _ in range(3):
            client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
            assert client.recv(4096).startswith(b"HTTP/1.1 200 OK\r\n")
        client.sendall(LAST + b"GET /never HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"/never" not in read_all(client)
    with closing(connect(server)) as client:
        client.sendall(b"GET /a HTTP/1.0\r\n\r\n")
        read_all(client)

    assert server.connection_count == 2
    until(lambda: server.open_count == 0)


def test_each_call_sends_one_http_chunk(rig: Rig) -> None:
    """Chunk framing shows the handler's calls one by one; an empty call sends no chunk, which would end the body."""

    def handle(exchange: HttpExchange) -> None:
        exchange.start_stream(200, (("content-type", "text/event-stream"),))
        for data in (b"ab", b"", b"c" * 17):
            exchange.send_chunk(data)
        exchange.end_stream()

    server = rig.serve(handle)
    with closing(connect(server)) as client:
        client.sendall(LAST)
        head, _, body = read_all(client).partition(b"\r\n\r\n")

    assert b"transfer-encoding: chunked" in head
    assert body == b"2\r\nab\r\n11\r\n" + b"c" * 17 + b"\r\n0\r\n\r\n"


def test_an_old_client_gets_a_stream_without_chunks(rig: Rig) -> None:
    """HTTP/1.0 knows no chunks: the bare bytes come, and the close ends them."""

    def handle(exchange: HttpExchange) -> None:
        exchange.start_stream(200, ())
        exchange.send_chunk(b"bare")
        exchange.end_stream()

    server = rig.serve(handle)
    with closing(connect(server)) as client:
        client.sendall(b"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        head, _, body = read_all(client).partition(b"\r\n\r\n")

    assert b"chunked" not in head
    assert body == b"bare"


def test_a_client_that_asks_first_is_told_to_go_on(rig: Rig) -> None:
    """`Expect: 100-continue` gets its 100 before the body is sent, and then the response."""
    server = rig.serve(echo)
    with closing(connect(server)) as client:
        client.sendall(
            b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        )
        first = client.recv(4096)
        client.sendall(b"abc")
        rest = read_all(client)

    assert first == b"HTTP/1.1 100 Continue\r\n\r\n"
    assert rest.startswith(b"HTTP/1.1 200")
    assert rest.endswith(b"abc")


TOO_LONG = BODY_LIMIT_BYTES + 1
REFUSED = {
    "no HTTP": (b"hello there\r\n\r\n", b"400"),
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"400"),
    "two framings": (
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"400",
    ),
    "bad length": (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: three\r\n\r\nabc", b"400"),
    "bad chunk": (b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", b"400"),
    "endless header": (b"GET / HTTP/1.1\r\nX: " + b"x" * (8 * HEAD_LIMIT_BYTES), b"431"),
    "many headers": (b"GET / HTTP/1.1\r\n" + b"X: 0123456789\r\n" * HEAD_LIMIT_BYTES + b"\r\n", b"431"),
    "long target": (b"GET /" + b"x" * (HEAD_LIMIT_BYTES + 1) + b" HTTP/1.1\r\nHost: x\r\n\r\n", b"431"),
    "announced too long": (
        b"POST / HTTP/1.1\r\nHost: x\r\nExpect: 100-continue\r\nContent-Length: %d\r\n\r\n" % TOO_LONG,
        b"413",
    ),
    "body too long": (
        b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % TOO_LONG + b"b" * TOO_LONG,
        b"413",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_bad_requests_are_refused_and_the_connection_ends(rig: Rig, case: str) -> None:
    """What cannot be served gets its status and a close; the good request before it is answered first."""
    request, status = REFUSED[case]
    handled: list[str] = []
    server = rig.serve(lambda exchange: handled.append(exchange.path) or echo(exchange))
    with closing(connect(server)) as client:
        sender = threading.Thread(target=client.sendall, args=(b"GET /good HTTP/1.1\r\nHost: x\r\n\r\n" + request,))
        sender.start()
        answer = read_all(client)
        sender.join()

    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"200", status]
    assert answer.count(b"connection: close") == 1
    assert handled == ["/good"]


def test_a_handler_bug_costs_one_answer(rig: Rig) -> None:
    """An exception out of a handler is a 500 and is reported; the connection goes on."""

    def handle(exchange: HttpExchange) -> None:
        if exchange.path == "/bug":
            raise RuntimeError("injected")
        echo(exchange)

    server = rig.serve(handle)
    with closing(connect(server)) as client:
        client.sendall(b"GET /bug HTTP/1.1\r\nHost: x\r\n\r\n" + LAST)
        answer = read_all(client)

    assert re.findall(rb"HTTP/1.1 (\d+)", answer) == [b"500", b"200"]
    assert [str(fault["exception"]) for fault in rig.faults] == ["injected"]


def test_an_answer_is_given_once(rig: Rig) -> None:
    """A second response to one request is a bug that is reported, not bytes on the wire."""
    server = rig.serve(lambda exchange: echo(exchange) or echo(exchange))
    with closing(connect(server)) as client:
        client.sendall(LAST)
        answer = read_all(client)

    assert answer.count(b"HTTP/1.1") == 1
    assert ["answered twice" in str(fault["exception"]) for fault in rig.faults] == [True]


def test_a_client_that_goes_is_noticed_once(rig: Rig) -> None:
    """`on_gone` is called once, in mid-stream, and what is sent afterwards is silently dropped."""
    gone: list[str] = []
    held: list[HttpExchange] = []

    def handle(exchange: HttpExchange) -> None:
        exchange.on_gone(lambda: gone.append(exchange.path))
        exchange.start_stream(200, ())
        exchange.send_chunk(b"x")
        held.append(exchange)

    server = rig.serve(handle)
    with closing(connect(server)) as client:
        client.sendall(b"GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
        client.recv(4096)
    until(lambda: bool(gone))

    async def late() -> None:
        held[0].send_chunk(b"y")
        held[0].end_stream()
        held[0].on_gone(lambda: gone.append("late"))

    rig.call(late())
    assert gone == ["/stream", "late"]


def test_an_answered_or_cut_request_has_no_gone_client(rig: Rig) -> None:
    """Neither the close after a whole response nor our own abort counts as a client that went."""
    gone: list[str] = []

    def handle(exchange: HttpExchange) -> None:
        exchange.on_gone(lambda: gone.append(exchange.path))
        if exchange.path == "/cut":
            exchange.start_stream(200, ())
            rig.loop.call_later(0.01, exchange.abort)
        else:
            echo(exchange)

    server = rig.serve(handle)
    for path in (b"/whole", b"/cut"):
        with closing(connect(server)) as client:
            client.sendall(b"GET %b HTTP/1.1\r\nHost: x\r\n\r\n" % path)
            answer = client.recv(4096)
            if path == b"/cut":
                assert b"\r\n\r\n0\r\n" not in answer + read_all(client)
    until(lambda: server.open_count == 0)

    assert gone == []


def test_small_answers_leave_at_once(rig: Rig) -> None:
    """TCP_NODELAY is set on accepted connections."""
    server = rig.serve(echo)
    with closing(connect(server)):
        until(lambda: server.open_count == 1)
        (connection,) = server._open
        accepted = connection._transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_no_garbage_is_left_for_a_collector_that_is_off(rig: Rig) -> None:
    """Ended connections and exchanges vanish without a collection: mocks run with the collector off."""
    server = rig.serve(echo_later(rig, 0))
    gc.collect()
    gc.disable()
    try:
        for _ in range(20):
            with closing(connect(server)) as client:
                client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n" + LAST)
                read_all(client)
        until(lambda: server.open_count == 0)
        left = [kind.__name__ for kind in map(type, gc.get_objects()) if kind in (HttpExchange, HttpConnection)]
    finally:
        gc.enable()

    assert len(left) <= 2, left


def test_only_loopback_is_served(rig: Rig) -> None:
    """An address that other machines reach is refused."""
    with pytest.raises(ValueError, match="loopback"):
        rig.serve(echo, "0.0.0.0")


def test_closing_answers_what_is_at_hand(rig: Rig) -> None:
    """A request at hand is answered, idle connections end, new ones are refused."""
    server = rig.serve(echo_later(rig, 50))
    with closing(connect(server)) as idle, closing(connect(server)) as busy:
        busy.sendall(b"GET /busy HTTP/1.1\r\nHost: x\r\n\r\n")
        until(lambda: server.open_count == 2 and any(connection._queue for connection in server._open))
        rig.call(server.close())
        assert read_all(idle) == b""
        assert b"200 OK" in read_all(busy)
    with pytest.raises(ConnectionRefusedError):
        connect(server)


@pytest.mark.real
def test_curl_agrees(rig: Rig, tool, tmp_path: Path) -> None:
    """A real client's chunked upload comes back unchanged, and a body over the limit is its 413."""
    server = rig.serve(echo)
    body = bytes(range(256)) * 4096
    (tmp_path / "body").write_bytes(body)
    (tmp_path / "long").write_bytes(b"x" * TOO_LONG)
    curl = [str(tool("curl")), "-s", "-S", "--max-time", "10"]
    url = f"http://127.0.0.1:{server.port}/"
    chunked = subprocess.run(
        [*curl, "-H", "Transfer-Encoding: chunked", "--data-binary", f"@{tmp_path}/body", url],
        capture_output=True,
        check=True,
    )
    long = subprocess.run(
        [*curl, "-o", "/dev/null", "-w", "%{http_code}", "--data-binary", f"@{tmp_path}/long", url],
        capture_output=True,
        check=False,
    )

    assert chunked.stdout == body
    assert long.stdout == b"413"


@pytest.mark.real
def test_wrk_counts_what_was_served(rig: Rig, tool) -> None:
    """Requests handled are those that wrk counts, but for at most one a connection in flight at its end."""
    handled = [0]

    def handle(exchange: HttpExchange) -> None:
        handled[0] += 1
        exchange.respond(200, (), b"ok")

    server = rig.serve(handle)
    command = [str(tool("wrk")), "-t1", "-c8", "-d1s", f"http://127.0.0.1:{server.port}/"]
    report = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    counted = int(re.search(r"(\d+) requests in", report)[1])

    assert 0 <= handled[0] - counted <= 8
    assert "Non-2xx" not in report
    assert "Socket errors" not in report


async def _fired(*, timerfd: bool, offsets_ms: list[int]) -> list[tuple[int, int]]:
    """(offset, how early or late in ns) in the order of firing."""
    due_times = DueTimes(timerfd=timerfd)
    start_ns = time.monotonic_ns()
    fired: list[tuple[int, int]] = []
    done = asyncio.Event()

    def fire(offset: int) -> None:
        fired.append((offset, time.monotonic_ns() - start_ns - offset * 1_000_000))
        if len(fired) == len(offsets_ms):
            done.set()

    for offset in offsets_ms:
        due_times.at(start_ns + offset * 1_000_000, lambda offset=offset: fire(offset))
    assert not fired, "a due time in the past fired inside the call"
    await asyncio.wait_for(done.wait(), DEADLINE_S)
    due_times.close()
    return fired


@pytest.mark.parametrize("timerfd", [True, False])
def test_due_times_fire_in_order_and_never_early(timerfd: bool) -> None:
    """Whatever the order of asking, callbacks come by due time, none before it; passed ones come at once."""
    fired = uvloop.run(_fired(timerfd=timerfd, offsets_ms=[30, 5, -10, 20, 6, 5, 0, 12]))

    assert [offset for offset, _ in fired] == [-10, 0, 5, 5, 6, 12, 20, 30]
    assert all(late_ns >= 0 for _, late_ns in fired)


@pytest.mark.parametrize("timerfd", [True, False])
def test_due_times_survive_cancels_and_faults(timerfd: bool) -> None:
    """A cancelled callback is not called, a failing one is reported, and the others still come."""

    async def play() -> tuple[list[str], int, str]:
        due_times = DueTimes(timerfd=timerfd)
        loop, now_ns, seen, faults = asyncio.get_running_loop(), time.monotonic_ns(), [], []
        loop.set_exception_handler(lambda _, context: faults.append(context))
        due_times.at(now_ns + 1_000_000, lambda: seen.append("cancelled")).cancel()
        due_times.at(now_ns + 2_000_000, lambda: seen.remove("nothing"))
        due_times.at(now_ns + 3_000_000, lambda: seen.append("kept"))
        await due_times.sleep_until(now_ns + 5_000_000)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(due_times.sleep_until(now_ns + 10**12), 0.01)
        due_times.close()
        return seen, len(faults), due_times.kind

    seen, fault_count, kind = uvloop.run(play())

    assert seen == ["kept"]
    assert fault_count == 1
    assert kind == ("timerfd" if timerfd else "call_later")
