"""Programs and a small client for the tests of the reference gateway: real processes, real sockets, loopback only.

The client is plain blocking sockets, so that nothing of the gateway's own client judges the gateway.
"""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
KEY = "vdt_client"
MACHINE_TOKEN = "vdt_machine"  # noqa: S105 - of a mock
LONGEST_WAIT_S = 20.0
WORDS = "please tell me about the river"


@dataclass(frozen=True)
class Answer:
    """A whole response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def document(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> Any:
        return self.document["error"]["code"]


class Program:
    """A mock that runs as a process; `ports` are those it named."""

    def __init__(self, module: str, arguments: list[str], log: Path) -> None:
        self.log = log
        with log.open("wb") as file:
            self.process = subprocess.Popen(
                [sys.executable, "-m", module, *arguments],
                cwd=ROOT,
                stdout=file,
                stderr=subprocess.STDOUT,
                env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
            )
        self.ports: list[int] = []

    def listening(self) -> Program:
        """Itself, once it has said where it listens."""

        def look() -> bool:
            assert self.process.poll() is None, self.stderr_text()
            self.ports = [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", self.stderr_text())]
            return bool(self.ports)

        wait_for(look)
        return self

    def stderr_text(self) -> str:
        return self.log.read_text()

    def ends(self, number: signal.Signals | None = None) -> int:
        """The exit code, after a signal if one is given."""
        if number is not None:
            self.process.send_signal(number)
        return self.process.wait(LONGEST_WAIT_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()


def wait_for(look: Callable[[], Any]) -> Any:
    """What `look` gives as soon as it gives something; fails when it never does."""
    end_s = time.monotonic() + LONGEST_WAIT_S
    while time.monotonic() < end_s:
        if found := look():
            return found
        time.sleep(0.01)
    raise AssertionError("what was waited for never came")


@contextmanager
def program(module: str, arguments: list[str], log: Path) -> Iterator[Program]:
    """A listening program that is gone afterwards."""
    running = Program(module, arguments, log)
    try:
        yield running.listening()
    finally:
        running.kill()


class Lane:
    """A provider, a control plane, and the settings of a gateway between them."""

    def __init__(self, provider: Program, control: Program, folder: Path) -> None:
        self.provider, self.control, self.folder = provider, control, folder
        self._count = 0

    def settings(self, **changes: Any) -> dict[str, Any]:
        self._count += 1
        return {
            "port": 0,
            "upstream_url": f"http://127.0.0.1:{self.provider.ports[0]}",
            "provider_key": "sk-mock",
            "control_plane_url": f"http://127.0.0.1:{self.control.ports[0]}",
            "machine_token": MACHINE_TOKEN,
            "client_keys": None,
            "policies": [],
            "state_dir": str(self.folder / f"state-{self._count}"),
            "audit": True,
            **changes,
        }

    @contextmanager
    def gateway(self, fault: str | None = None, **changes: Any) -> Iterator[Program]:
        """A gateway process that has pulled its configuration."""
        settings = self.settings(**changes)
        config = self.folder / f"gateway-{self._count}.json"
        config.write_text(json.dumps(settings))
        module = "mocks.gateway" if fault is None else "mocks.gateway.faulty"
        arguments = ["--config", str(config)] + ([] if fault is None else ["--fault", fault])
        with program(module, arguments, self.folder / f"gateway-{self._count}.log") as running:
            if fault != "never-ready" and self.control.process.poll() is None:
                wait_for(lambda: ask(running.ports[0], path="/readyz").status == 200)
            yield running

    def calls(self) -> dict[str, int]:
        """Calls at the control plane by kind."""
        calls: dict[str, int] = self.counters()["calls"]
        return {kind: count for kind, count in calls.items() if count}

    def counters(self) -> Any:
        return ask(self.control.ports[1], path="/counters").document

    def last(self) -> Any:
        """The last request that the provider got."""
        return ask(self.provider.ports[1], path="/last").document

    def reset(self, **plan: Any) -> None:
        """Start all counts anew; the provider responds fast unless told otherwise."""
        plan = {"delay_s": 0.001, "chunk_count": 6, "gap_s": 0.001} | plan
        for port, document in ((self.provider.ports[1], plan), (self.control.ports[1], {})):
            assert ask(port, path="/reset", document=document).status == 200


@contextmanager
def open_lane(folder: Path) -> Iterator[Lane]:
    """A provider and a control plane that run."""
    config = folder / "control.json"
    config.write_text(json.dumps({"machine_token": MACHINE_TOKEN, "client_keys": [KEY], "yaml": "policies: {}"}))
    ports = ["--port", "0", "--admin-port", "0"]
    with (
        program("mocks.provider", ports, folder / "provider.log") as provider,
        program("mocks.control_plane", [*ports, "--config", str(config)], folder / "control.log") as control,
    ):
        yield Lane(provider, control, folder)


def chat(text: str = WORDS, **more: Any) -> dict[str, Any]:
    """A chat request."""
    return {"model": "mock-model", "messages": [{"role": "user", "content": text}], **more}


def ask(
    port: int,
    document: Any = None,
    *,
    path: str = "/v1/chat/completions",
    key: str | None = KEY,
    headers: dict[str, str] | None = None,
) -> Answer:
    """The whole response on a connection of its own; without a document it is a GET."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LONGEST_WAIT_S)
    try:
        sent = dict(headers or {}) | ({"authorization": f"Bearer {key}"} if key else {})
        if document is None:
            connection.request("GET", path, headers=sent)
        else:
            body = document if isinstance(document, bytes) else json.dumps(document)
            connection.request("POST", path, body, sent | {"content-type": "application/json"})
        answer = connection.getresponse()
        return Answer(answer.status, {n.lower(): v for n, v in answer.getheaders()}, answer.read())
    finally:
        connection.close()


def reads(port: int, document: Any, *, silence_s: float = LONGEST_WAIT_S) -> list[tuple[int, bytes]]:
    """Time and bytes of each read of a response, until it is closed or silent for too long."""
    body = json.dumps(document).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\nconnection: close\r\n"
    found: list[tuple[int, bytes]] = []
    with socket.create_connection(("127.0.0.1", port), timeout=silence_s) as client:
        client.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        with suppress(TimeoutError):
            while data := client.recv(1 << 20):
                found.append((time.monotonic_ns(), data))
    return found


def drained(port: int) -> Any:
    """The readiness document once everything is delivered."""

    def look() -> Any:
        document = ask(port, path="/readyz").document
        return document if document["undelivered"] == 0 else None

    return wait_for(look)
