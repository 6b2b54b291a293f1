"""An injected server and a way to drive the probe against it, for the tests of the probe.

The server is a thread with plain blocking sockets that plays a script for each request; the probe runs on a loop of
its own as it does in its program, or as the program itself where the test says so.
"""

from __future__ import annotations

import contextlib
import gc
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import uvloop

from weighbridge.load.probe.program.capture import Capture
from weighbridge.load.probe.program.engine import drive
from weighbridge.load.probe.program.plan import ProbeLane, ProbePlan, Timeouts
from weighbridge.load.probe.program.tables import Tables, make_tables
from weighbridge.record import stamps
from weighbridge.record.probe_tables import OUTCOMES

SECRET = "vdt-very-secret"  # noqa: S105 - of no service
PATIENCE = Timeouts(5.0, 5.0, 5.0, 5.0, 10.0)
LONGEST_WAIT_S = 20.0
JSON = "application/json"
SSE = "text/event-stream"


class Client:
    """One connection as the server sees it: whole requests in, raw bytes out. `number` counts requests from 0."""

    def __init__(self, sock: socket.socket) -> None:
        self.sock = sock
        self.number = -1
        self.body = b""
        self._buffer = b""

    def next_request(self) -> bool:
        """Whether another whole request came; its body is in `body`."""
        while b"\r\n\r\n" not in self._buffer:
            if not self._more():
                return False
        head, _, rest = self._buffer.partition(b"\r\n\r\n")
        length = next(
            int(line.split(b":")[1]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length")
        )
        self._buffer = rest
        while len(self._buffer) < length:
            if not self._more():
                return False
        self.body, self._buffer = self._buffer[:length], self._buffer[length:]
        return True

    def send(self, data: bytes) -> None:
        self.sock.sendall(data)

    def answer(self, body: bytes, *, status: int = 200, kind: str = JSON, length: int | None = None) -> None:
        size = len(body) if length is None else length
        self.send(f"HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\ncontent-length: {size}\r\n\r\n".encode() + body)

    def begin_stream(self, kind: str = SSE) -> None:
        self.send(f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ntransfer-encoding: chunked\r\n\r\n".encode())

    def chunk(self, data: bytes) -> None:
        self.send(b"%x\r\n%b\r\n" % (len(data), data))

    def end_stream(self) -> None:
        self.send(b"0\r\n\r\n")

    def reset(self) -> None:
        """Break the connection with a RST."""
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.sock.close()

    def stay(self) -> None:
        """Say nothing until the client goes."""
        with contextlib.suppress(OSError):
            while self.sock.recv(1 << 16):
                pass

    def _more(self) -> bool:
        data = self.sock.recv(1 << 16)
        self._buffer += data
        return bool(data)


Script = Callable[[Client], None]


class Injected:
    """The server: `url`, and the most connections that were open at a time."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._lock = threading.Lock()
        self._count = 0
        self._socks: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self.open_count = self.open_max_count = 0
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1/chat/completions"

    def serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                sock, _ = self._listener.accept()
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                with self._lock:
                    self._socks.append(sock)
                thread = threading.Thread(target=self._speak, args=(sock,))
                thread.start()  # before it is listed: a thread that was not started cannot be joined
                self._threads.append(thread)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for sock in self._socks:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join(LONGEST_WAIT_S)

    def _speak(self, sock: socket.socket) -> None:
        client = Client(sock)
        with self._lock:
            self.open_count += 1
            self.open_max_count = max(self.open_max_count, self.open_count)
        with contextlib.suppress(OSError), sock:
            while client.next_request():
                with self._lock:
                    client.number = self._count
                    self._count += 1
                self._script(client)
        with self._lock:
            self.open_count -= 1


@contextlib.contextmanager
def injected(script: Script) -> Iterator[Injected]:
    """A server that plays `script` for each request."""
    server = Injected(script)
    thread = threading.Thread(target=server.serve)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(LONGEST_WAIT_S)


@dataclass(frozen=True)
class Driven:
    """What a window left."""

    capture: Capture
    tables: Tables

    @property
    def outcomes(self) -> list[str]:
        return [OUTCOMES[code] if code >= 0 else "none" for code in self.tables.requests.outcome]


def plan(folder: Path, url: str, **changes: Any) -> ProbePlan:
    """A small plan: a closed loop of one client and one plain request, unless told otherwise."""
    headers = (("authorization", f"Bearer {SECRET}"), ("content-type", JSON))
    base = ProbePlan(
        lanes=(ProbeLane(url, headers),),
        mode="plain",
        rate_rps=None,
        clients=1,
        count=1,
        connections=None,
        seed=11,
        bodies=folder / "bodies.jsonl",
        out_dir=folder,
        timeouts=PATIENCE,
    )
    if "rate_rps" in changes:
        changes.setdefault("clients", None)
    return replace(base, **changes)


def bodies(made: ProbePlan) -> list[bytes]:
    """The bodies of a plan, each with a reference of its own that fills all 64 bits."""
    head = {"model": "mock-model", "stream": made.mode == "stream"}
    prompts = (stamps.reference((made.seed + number) * 0x9E3779B97F4A7C15 % 2**64) for number in range(made.count))
    return [json.dumps({**head, "messages": [{"role": "user", "content": one}]}).encode() for one in prompts]


def run(made: ProbePlan, lines: Sequence[bytes] | None = None) -> Driven:
    """The window of a plan, on a loop in this process."""
    gc.freeze()  # a window begins with a full collection, and in a process of many tests that takes longer than it
    capture = uvloop.run(drive(made, lines if lines is not None else bodies(made)))
    return Driven(capture, make_tables(capture, made.lanes, is_stream=made.mode == "stream"))


def start_program(made: ProbePlan) -> subprocess.Popen[str]:
    """The probe as its own program."""
    made.bodies.write_bytes(b"\n".join(bodies(made)) + b"\n")
    place = made.out_dir / "plan.json"
    place.write_bytes(made.to_json())
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "weighbridge.load.probe.program", "--plan", str(place)],
        cwd=made.out_dir,
        env={"PATH": "/usr/bin:/bin"},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def stamped(recv_ns: int | None = None) -> bytes:
    """A non-streaming response with the provider's stamp, of now or of a given time."""
    ns = time.monotonic_ns() if recv_ns is None else recv_ns
    return completion(f"the river {stamp(ns, ns)} runs")


def stamp(recv_ns: int, send_ns: int) -> str:
    """The provider's stamp."""
    mark = stamps.STAMP_WORD + stamps.letters(recv_ns) + stamps.letters(send_ns)
    return mark + stamps.check_letter(mark)


def chunk_stamp(send_ns: int, sequence: int) -> str:
    """The stamp of a chunk."""
    mark = stamps.CHUNK_WORD + stamps.letters(send_ns) + stamps.letters(sequence, 4)
    return mark + stamps.check_letter(mark)


def completion(text: str) -> bytes:
    """A non-streaming response."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    return json.dumps({"object": "chat.completion", "choices": [choice]}).encode()


def event(text: str = "", *, finish: str | None = None) -> bytes:
    """A content event of a stream, or its last one."""
    delta = {"content": text} if text else {}
    document = {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(document).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"
