"""Where a bench runs: a supervisor for its processes, a scratch folder, the size of the run.

Every process is on the loopback interface and ends with the supervisor.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from weighbridge import resources
from weighbridge.errors import LaneFailed
from weighbridge.load.contract.bodies import BodyPlan, write_bodies
from weighbridge.matrix.requests import PayloadSpec
from weighbridge.rig.lanes import http
from weighbridge.rig.lanes.readiness import Watched, wait_ready
from weighbridge.rig.processes.child import Child, Service
from weighbridge.rig.processes.ports import choose
from weighbridge.rig.processes.supervisor import Supervisor

PAYLOAD = PayloadSpec("1k", 0, 1024)
_PIN = "import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])}); os.execvp(sys.argv[2], sys.argv[2:])"


@dataclass(frozen=True)
class Place:
    """One run of the benches. `quick` is for trying that they work: its numbers are not judged."""

    supervisor: Supervisor
    folder: Path
    search_path: str
    home: Path
    quick: bool
    environment: dict[str, str] = field(default_factory=lambda: {"PYTHONPATH": str(resources.root())})

    def python(self, module: str, *arguments: str) -> tuple[str, ...]:
        """Arguments of a Python program of the checkout."""
        return (sys.executable, "-m", module, *arguments)

    def bodies(self, count: int) -> Path:
        """Return a file of so many different chat requests or more, one per line."""
        path = self.folder / f"bodies-{count}.jsonl"
        if not path.exists():
            write_bodies(path, BodyPlan(PAYLOAD, "plain", "mock-model", max(1, count // 10), seed=7))
        return path


@dataclass(frozen=True)
class Standing:
    """A server that is ready: its process and the address of its chat endpoint."""

    name: str
    child: Child
    url: str

    def cpu_s(self) -> float:
        """CPU seconds of its process so far, by the process clock where the system has one."""
        try:
            return time.clock_gettime((~self.child.pid << 3) | 2)
        except OSError:
            times = psutil.Process(self.child.pid).cpu_times()
            return float(times.user + times.system)


def pinned(argv: tuple[str, ...], cpu: int | None) -> tuple[str, ...]:
    """`argv` so that it runs on that one CPU; None leaves it as it is."""
    return argv if cpu is None else (sys.executable, "-S", "-c", _PIN, str(cpu), *argv)


def stand(place: Place, name: str, argv: tuple[str, ...], port: int) -> Standing:
    """Start the server and return it ready for chat requests on `port`. Raises LaneFailed when it does not."""
    service = Service(
        name=name,
        argv=argv,
        cwd=place.folder,
        log=place.folder / f"{name.replace(' ', '-')}.log",
        env=place.environment,
        ports=(port,),
    )
    child = place.supervisor.start(service)
    url = f"http://127.0.0.1:{port}/v1/chat/completions"
    body = first_body(place)
    wait_ready(
        lambda: None if (status := ask(url, body).status) == 200 else f"status {status}",
        alive=child.death,
        within_s=30.0,
        hold_s=0.2,
        watched=Watched(name, child.log_tail),
    )
    return Standing(name, child, url)


@contextmanager
def provider_of(place: Place, delay_s: float) -> Iterator[Standing]:
    """Run the mock provider for the length of a `with` block."""
    provider = stand_provider(place, delay_s)
    try:
        yield provider
    finally:
        place.supervisor.stop(provider.child)


def stand_provider(place: Place, delay_s: float, cpu: int | None = None) -> Standing:
    """Start the mock provider and return it ready."""
    port, admin_port = choose(2, None)
    argv = place.python("mocks.provider", "--port", str(port), "--admin-port", str(admin_port))
    return stand(place, "mock provider", pinned((*argv, "--delay-s", f"{delay_s:g}"), cpu), port)


def first_body(place: Place) -> bytes:
    """One chat request."""
    return place.bodies(2_000).read_bytes().split(b"\n", 1)[0]


def ask(url: str, body: bytes) -> http.HttpAnswer:
    """Send one chat request and return the response."""
    return http.call("POST", url, headers=(("content-type", "application/json"),), body=body, timeout_s=5.0)


def shape(answer: http.HttpAnswer) -> object:
    """Strip a response of what differs from request to request; equal shapes mean the same response."""
    document = json.loads(answer.body)
    try:
        content = document["choices"][0]["message"].pop("content")
        return {**document, "id": len(document["id"]), "created": 0}, content.partition("weighstamp")[0], len(content)
    except (KeyError, IndexError, TypeError) as error:
        sentence = f"a response has not the form of a chat completion ({error})"
        raise LaneFailed(sentence, reason="not_served", phase="preflight") from error
