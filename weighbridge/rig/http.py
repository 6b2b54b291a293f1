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

BODY_LIMIT_BYTES = 4 * 1024 * 1024
_READ_BYTES = 64 * 1024
_BROKEN = (http.client.HTTPException, ValueError)


@dataclass(frozen=True)
class Chunk:
    """What one read gave, and when: `at_ns` is CLOCK_MONOTONIC, the clock of the provider's stamps."""

    at_ns: int
    data: bytes


@dataclass(frozen=True)
class HttpAnswer:
    """An answer with its body in the pieces in which it came.

    `headers` are pairs with lower-case names, in order. `fault` is empty when the body came whole, else one clause
    that says how it ended. Times are CLOCK_MONOTONIC nanoseconds: before the request was sent, after the headers
    were read, after the body ended.
    """

    status: int
    headers: tuple[tuple[str, str], ...]
    chunks: tuple[Chunk, ...]
    sent_ns: int
    headers_ns: int
    end_ns: int
    fault: str = ""

    @property
    def body(self) -> bytes:
        """The whole body."""
        return b"".join(chunk.data for chunk in self.chunks)

    def header(self, name: str) -> str | None:
        """First value of a header, whatever its case; None when it is not there."""
        return next((value for key, value in self.headers if key == name.lower()), None)


def call(
    method: str, url: str, *, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None, timeout_s: float
) -> HttpAnswer:
    """The answer to one request, whole; raises ConnectionError or TimeoutError when the body did not end well."""
    answer = stream(method, url, headers=headers, body=body, timeout_s=timeout_s)
    if answer.fault.startswith("timed out"):
        raise TimeoutError(f"{method} {url}: {answer.fault}")
    if answer.fault:
        raise ConnectionError(f"{method} {url}: {answer.fault}")
    return answer


def stream(
    method: str, url: str, *, headers: Iterable[tuple[str, str]] = (), body: bytes | None = None, timeout_s: float
) -> HttpAnswer:
    """The answer to one request, read by read; a body that breaks off is kept with the `fault` said.

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
        raise ConnectionError(f"{method} {url}: no proper HTTP answer ({_said(error)})") from error
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
    try:
        connection.putrequest(request.method, request.target, skip_accept_encoding=True)
        for name, value in request.headers:
            connection.putheader(name, value)
        if request.body is not None:
            connection.putheader("Content-Length", str(len(request.body)))
        connection.endheaders(request.body)
        response = connection.getresponse()
    except (OSError, *_BROKEN) as error:
        if is_over.is_set():
            raise TimeoutError(f"timed out: no answer within {timeout_s:g} s") from error
        raise
    headers_ns = time.monotonic_ns()
    chunks: list[Chunk] = []
    fault = _read(response, chunks)
    if fault and is_over.is_set():
        fault = f"timed out: the body did not end within {timeout_s:g} s"
    pairs = tuple((name.lower(), value) for name, value in response.getheaders())
    return HttpAnswer(response.status, pairs, tuple(chunks), sent_ns, headers_ns, time.monotonic_ns(), fault)


def _read(response: http.client.HTTPResponse, chunks: list[Chunk]) -> str:
    size_bytes = 0
    try:
        while data := response.read1(_READ_BYTES):
            chunks.append(Chunk(time.monotonic_ns(), data))
            size_bytes += len(data)
            if size_bytes > BODY_LIMIT_BYTES:
                return f"the body is larger than {BODY_LIMIT_BYTES} bytes"
    except http.client.IncompleteRead:
        return f"the body broke off after {size_bytes} bytes"
    except (OSError, *_BROKEN) as error:
        return f"the body broke off after {size_bytes} bytes ({_said(error)})"
    # read1 takes an early end of a body of known length for its end; what is still due tells.
    return f"the body broke off after {size_bytes} bytes, {response.length} short" if response.length else ""


@contextmanager
def _deadline(sock: socket.socket, left_s: float) -> Iterator[threading.Event]:
    # A socket's own time-out starts anew with every byte: a peer that drips would hold us for ever.
    is_over = threading.Event()

    def shut() -> None:
        is_over.set()
        try:
            sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            return  # closed in the same moment

    timer = threading.Timer(max(0.0, left_s), shut)
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


def _said(error: Exception) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
