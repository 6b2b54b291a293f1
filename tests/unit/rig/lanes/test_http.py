"""The small client against scripted servers that response badly."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from weighbridge.rig.lanes import http

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
Serve = Callable[..., str]


@pytest.fixture
def serve() -> Iterator[Serve]:
    """A function that makes a server which sends the given pieces to one client, and gives its address.

    A number among the pieces is a pause in seconds; with `hold` the connection stays open after the last piece.
    """
    end = threading.Event()
    threads = []
    servers = []

    def begin(*pieces: bytes | float, hold: bool = False) -> str:
        server = socket.create_server(("127.0.0.1", 0))
        servers.append(server)

        def answer() -> None:
            client, _ = server.accept()
            with client:
                client.recv(65536)
                for piece in pieces:
                    if isinstance(piece, bytes):
                        try:
                            client.sendall(piece)
                        except OSError:
                            return
                    elif end.wait(piece):
                        return
                if hold:
                    end.wait(30)

        thread = threading.Thread(target=answer)
        thread.start()
        threads.append(thread)
        return f"http://127.0.0.1:{server.getsockname()[1]}/path?query=1"

    yield begin
    end.set()
    for thread in threads:
        thread.join()
    for server in servers:
        server.close()


def test_an_answer_is_read_whole(serve: Serve) -> None:
    """Status, headers whatever their case, and body arrive; times are in order."""
    answer = http.call("POST", serve(OK), headers=[("X-A", "b")], body=b"{}", timeout_s=5)
    assert (answer.status, answer.body, answer.header("CONTENT-length"), answer.fault) == (200, b"ok", "2", "")
    assert answer.sent_ns <= answer.headers_ns <= answer.chunks[0].at_ns <= answer.end_ns


def test_an_error_status_is_an_answer(serve: Serve) -> None:
    """A 500 with HTML is given back, not raised."""
    answer = http.call("GET", serve(b"HTTP/1.0 500 No\r\n\r\n<html>"), timeout_s=5)
    assert (answer.status, answer.body) == (500, b"<html>")


def test_a_stream_keeps_the_time_of_each_piece(serve: Serve) -> None:
    """Pieces that were sent apart are apart in the response, by at least the pause between them."""
    answer = http.stream("GET", serve(CHUNKED, b"1\r\na\r\n", 0.2, b"1\r\nb\r\n0\r\n\r\n"), timeout_s=5)
    assert [chunk.data for chunk in answer.chunks] == [b"a", b"b"]
    assert answer.chunks[1].at_ns - answer.chunks[0].at_ns > 100_000_000
    assert answer.fault == ""


@pytest.mark.parametrize(
    "pieces",
    [(CHUNKED, b"1\r\na\r\n"), (CHUNKED, b"5\r\na"), (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\na",)],
    ids=["no last chunk", "in a chunk", "length"],
)
def test_a_broken_off_body_is_kept_by_stream_and_raised_by_call(serve: Serve, pieces: tuple[bytes, ...]) -> None:
    """A body without its end has a fault that says so; who asked for a whole response gets a ConnectionError."""
    answer = http.stream("GET", serve(*pieces), timeout_s=5)
    assert answer.body in (b"a", b"")
    assert "broke off" in answer.fault
    with pytest.raises(ConnectionError, match="broke off"):
        http.call("GET", serve(*pieces), timeout_s=5)


def test_a_stream_without_an_end_times_out_with_what_came(serve: Serve) -> None:
    """The pieces before the silence are kept, and the fault names the time-out."""
    answer = http.stream("GET", serve(CHUNKED, b"1\r\na\r\n", hold=True), timeout_s=0.3)
    assert answer.body == b"a"
    assert answer.fault == "timed out: the body did not end within 0.3 s"


def test_a_dripping_server_cannot_outlast_the_deadline(serve: Serve) -> None:
    """One byte every now and then does not restart the clock: the limit is for the whole call."""
    drip = [piece for byte in OK for piece in (bytes([byte]), 0.15)]
    began = time.monotonic()
    with pytest.raises(TimeoutError, match="no response within"):
        http.call("GET", serve(*drip), timeout_s=0.4)
    assert time.monotonic() - began < 0.15 * len(OK) / 2


@pytest.mark.parametrize("message", [b"", b"SSH-2.0-nope\r\n", b"HTTP/1.1 abc\r\n\r\n", b"\x00" * 70_000])
def test_no_http_is_a_connection_error(serve: Serve, message: bytes) -> None:
    """A peer that speaks something else, or nothing, raises ConnectionError and nothing outside OSError."""
    with pytest.raises(ConnectionError, match="GET http://127"):
        http.call("GET", serve(message), timeout_s=5)


def test_nobody_there_is_connection_refused() -> None:
    """The kind of the OSError is kept, and its text has the address."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
        with pytest.raises(ConnectionRefusedError, match=f"GET http://127.0.0.1:{port}/: Connection refused"):
            http.call("GET", f"http://127.0.0.1:{port}/", timeout_s=5)


def test_a_huge_body_is_cut(serve: Serve) -> None:
    """More than the cap is not read into memory."""
    size = http.RESPONSE_LIMIT_BYTES + 1_000_000
    head = f"HTTP/1.1 200 OK\r\nContent-Length: {size}\r\n\r\n".encode()
    with pytest.raises(ConnectionError, match="larger than"):
        http.call("GET", serve(head, b"x" * size), timeout_s=20)


@pytest.mark.parametrize(
    "url",
    ["http://192.0.2.1/", "http://example.org/", "http://127.0.0.1.example.org/", "http://localhost@192.0.2.1/"],
)
def test_other_machines_are_refused(url: str) -> None:
    """An address that is not loopback is refused before any packet or look-up."""
    with pytest.raises(PermissionError, match="loopback"):
        http.call("GET", url, timeout_s=1)


@pytest.mark.parametrize("url", ["https://127.0.0.1/", "ftp://127.0.0.1/", "127.0.0.1:80", "http://127.0.0.1:99999/"])
def test_other_addresses_are_an_oserror(url: str) -> None:
    """What is no http address raises OSError too, never ValueError."""
    with pytest.raises(OSError, match="is no http:// address"):
        http.call("GET", url, timeout_s=1)


def test_a_header_with_a_line_end_is_not_sent(serve: Serve) -> None:
    """A value cannot smuggle a second header in."""
    with pytest.raises(OSError, match="Invalid header value"):
        http.call("GET", serve(OK), headers=[("a", "b\r\nc: d")], timeout_s=5)


def test_interim_answers_are_passed_over(serve: Serve) -> None:
    """Early hints and their headers are no response; the one behind them is, with its own headers only."""
    hints = b"HTTP/1.1 103 Early Hints\r\nX-A: early\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"
    answer = http.call("GET", serve(hints, 0.05, OK), timeout_s=5)
    assert (answer.status, answer.body, answer.header("x-a")) == (200, b"ok", None)


def test_trailers_are_no_headers_and_the_last_of_two_counts(serve: Serve) -> None:
    """What stands behind a chunked body is dropped; a header that was sent twice has its last value."""
    head = b"HTTP/1.1 200 OK\r\nX-A: 1\r\nx-a: 2\r\nTransfer-Encoding: chunked\r\n\r\n"
    answer = http.call("GET", serve(head + b"2\r\nok\r\n0\r\nX-A: 3\r\n\r\n"), timeout_s=5)
    assert (answer.body, answer.header("X-a")) == (b"ok", "2")


@pytest.mark.parametrize("behind", [OK, b"rest"])
def test_bytes_behind_an_answer_are_noted(serve: Serve, behind: bytes) -> None:
    """The response is whole and good; that more came behind it is a fact of its own."""
    answer = http.call("GET", serve(OK + behind), timeout_s=5)
    assert (answer.body, answer.fault, answer.has_more) == (b"ok", "", True)
    assert not http.call("GET", serve(OK), timeout_s=5).has_more
