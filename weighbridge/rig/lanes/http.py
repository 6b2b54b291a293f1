"""A small HTTP client for readiness, preflight and counters; it speaks to the loopback interface only.

Called outside measured windows. It never follows a redirect, never uses a proxy, never retries, and raises OSError
and its kinds only (TimeoutError among them).
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

import httptools

RESPONSE_LIMIT_BYTES = 4 * 1024 * 1024
_READ_BYTES = 64 * 1024
_BROKEN = (http.client.HTTPException, ValueError)


@dataclass(frozen=True)
class Chunk:
    """What one read gave, and when: `at_ns` is CLOCK_MONOTONIC, the clock of the provider's stamps."""

    at_ns: int
    data: bytes


@dataclass(frozen=True)
class HttpAnswer:
    """A response with its body in the pieces in which it came.

    `headers` are pairs with lower-case names, in order. `fault` is empty when the body came whole, else one clause
    that says how it ended; `has_more` says that bytes came behind its end. Times are CLOCK_MONOTONIC nanoseconds:
    before the request was sent, after the headers were read, after the body ended.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    chunks: tuple[Chunk, ...]
    sent_ns: int
    headers_ns: int
    end_ns: int
    fault: str = ""
    has_more: bool = False

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(chunk.data for chunk in self.chunks)

    def header(self, name: str) -> str | None:
        """Return the last value of a header, whatever its case; None when it is not there."""
        return next((value for key, value in reversed(self.headers) if key == name.lower()), None)


def call(
    method: str, url: str, *, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None, timeout_s: float
) -> HttpAnswer:
    """Return one request's whole response; raises ConnectionError or TimeoutError when the body did not end well."""
    answer = stream(method, url, headers=headers, body=body, timeout_s=timeout_s)
    if answer.fault.startswith("timed out"):
        raise TimeoutError(f"{method} {url}: {answer.fault}")
    if answer.fault:
        raise ConnectionError(f"{method} {url}: {answer.fault}")
    return answer


def stream(
    method: str, url: str, *, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None, timeout_s: float
) -> HttpAnswer:
    """Return the response to one request, read by read; a body that breaks off is kept with the `fault` said.

    `timeout_s` is for the whole call. Raises OSError kinds when no headers came, PermissionError for an address
    that is not of this machine's loopback interface.
    """
    parts = _split(url)
    began = time.monotonic()
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=timeout_s)
    try:
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with _deadline(connection.sock, timeout_s - (time.monotonic() - began)) as is_over:
            return _exchange(connection, _Request(method, _target(parts), tuple(headers), body), is_over, timeout_s)
    except OSError as error:
        raise type(error)(f"{method} {url}: {error.strerror or error}") from error
    except _BROKEN as error:
        raise ConnectionError(f"{method} {url}: no proper HTTP response ({_error_text(error)})") from error
    finally:
        connection.close()


@dataclass(frozen=True)
class _Request:
    method: str
    target: str
    headers: tuple[tuple[str, str], ...]
    body: bytes | None


def _exchange(
    connection: http.client.HTTPConnection, request: _Request, is_over: threading.Event, timeout_s: float
) -> HttpAnswer:
    sent_ns = time.monotonic_ns()
    reader = _ResponseReader()
    fault = ""
    try:
        connection.putrequest(request.method, request.target, skip_accept_encoding=True)
        for name, value in request.headers:
            connection.putheader(name, value)
        if request.body is not None:
            connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body)
        fault = _read(connection.sock, reader)
    except (OSError, *_BROKEN) as error:
        if isinstance(error, TimeoutError):
            is_over.set()  # the socket may notice before the watch does
        if not reader.headers_ns and not is_over.is_set():
            raise
        fault = f"the body broke off after {reader.size_bytes} bytes ({_error_text(error)})"
    if not reader.headers_ns:
        if is_over.is_set():
            raise TimeoutError(f"timed out: no response within {timeout_s:g} s")
        raise ConnectionError(f"no proper HTTP response ({fault or 'it ended before its headers did'})")
    if fault and is_over.is_set():
        fault = f"timed out: the body did not end within {timeout_s:g} s"
    headers, chunks = tuple(reader.headers), tuple(reader.chunks)
    end_ns = time.monotonic_ns()
    return HttpAnswer(reader.status, headers, chunks, sent_ns, reader.headers_ns, end_ns, fault, reader.has_more)


class _ResponseReader:
    """Takes what the parser finds in one answer: the probe's parser, so that both read through the same HTTP."""

    def __init__(self) -> None:
        self.status = self.headers_ns = self.size_bytes = 0
        self.headers: list[tuple[str, str]] = []
        self.chunks: list[Chunk] = []
        self.is_complete = self.has_more = False
        self._pieces: list[bytes] = []
        self._parser = httptools.HttpResponseParser(self)

    @property
    def is_framed(self) -> bool:
        """Return whether the headers say where the body ends; if not, it ends with the connection."""
        return any(name in ("content-length", "transfer-encoding") for name, _ in self.headers)

    def feed(self, data: bytes) -> None:
        """Take one read; raises what the parser raises."""
        now = time.monotonic_ns()
        try:
            self._parser.feed_data(data)
        finally:
            if self.status and not self.headers_ns:
                self.headers_ns = now
            if self._pieces:
                self.chunks.append(Chunk(now, b"".join(self._pieces)))
                self.size_bytes += len(self.chunks[-1].data)
                self._pieces.clear()

    # httptools
    def on_header(self, name: bytes, value: bytes) -> None:
        """Keep a header; those behind the body are not kept."""
        if not self.status:
            self.headers.append((name.decode("latin-1").lower(), value.decode("latin-1")))

    def on_headers_complete(self) -> None:
        """Keep the status; an interim response and its headers are dropped."""
        status = self._parser.get_status_code()
        if status < 200:
            self.headers.clear()
        elif self.is_complete:
            self.has_more = True
        else:
            self.status = status

    def on_body(self, data: bytes) -> None:
        """Keep a piece of the body."""
        if not self.is_complete:
            self._pieces.append(data)

    def on_message_complete(self) -> None:
        """Note that the response is whole."""
        self.is_complete = self.is_complete or self.status > 0


def _read(sock: socket.socket, reader: _ResponseReader) -> str:
    """Feed the reader until its response is whole, and return what is wrong with its body; empty for nothing."""
    while not reader.is_complete:
        data = sock.recv(_READ_BYTES)
        if not data:
            return f"the body broke off after {reader.size_bytes} bytes" if reader.status and reader.is_framed else ""
        try:
            reader.feed(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade) as error:
            if reader.is_complete:
                reader.has_more = True
                break
            return (
                f"the body broke off after {reader.size_bytes} bytes ({_error_text(error)})"
                if reader.status
                else _error_text(error)
            )
        if reader.size_bytes > RESPONSE_LIMIT_BYTES:
            return f"the body is larger than {RESPONSE_LIMIT_BYTES} bytes"
    return ""


@contextmanager
def _deadline(sock: socket.socket, remaining_s: float) -> Iterator[threading.Event]:
    # A socket's own time-out starts anew with every byte: a peer that drips would hold us for ever.
    is_over = threading.Event()

    def shut() -> None:
        is_over.set()
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # closed in the same moment

    timer = threading.Timer(max(0.0, remaining_s), shut)
    timer.daemon = True
    timer.start()
    try:
        yield is_over
    finally:
        timer.cancel()
        timer.join()


def _split(url: str) -> SplitResult:
    try:
        parts = urlsplit(url)
        known = parts.scheme == "http" and parts.port != 0
    except ValueError:
        known = False
    if not known:
        raise OSError(f"{url!r} is no http:// address")
    host = parts.hostname or ""
    try:
        is_loopback = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        is_loopback = False
    if not is_loopback:
        raise PermissionError(f"{url!r} does not lie on the loopback interface")
    return parts


def _target(parts: SplitResult) -> str:
    return (parts.path or "/") + (f"?{parts.query}" if parts.query else "")


def _error_text(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
