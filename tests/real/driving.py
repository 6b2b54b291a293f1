"""One window by a real load generator, run by the real supervisor as a campaign runs it.

The servers are the mock provider or a test's own.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.examples.gateway_lane import ask, program
from weighbridge.command import Command, Ended
from weighbridge.load.contract.bodies import BodyPlan, write_bodies
from weighbridge.load.contract.driver import Driver, LoadPlan
from weighbridge.load.contract.reading import ReportReading
from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad
from weighbridge.matrix.requests import Mode, PayloadSpec
from weighbridge.record.samples import SampleTable
from weighbridge.rig.processes.supervisor import Supervisor

KEY = "key-that-nobody-may-see"


def rate(rate_rps: float, request_count: int, connections: int, timeout_s: float = 5.0) -> Load:
    """An arrival rate."""
    duration_s = request_count / rate_rps
    return RateLoad(rate_rps, duration_s, request_count, connections, 0, timeout_s)


def clients(count: int, request_count: int) -> Load:
    """A closed loop."""
    return ClientsLoad(count, request_count, count, 0, 5.0)


@dataclass(frozen=True)
class Driven:
    """A window as it was driven."""

    driver: Driver
    plan: LoadPlan
    command: Command
    ended: Ended

    @property
    def reading(self) -> ReportReading:
        return self.driver.read(self.driver.outputs(self.plan, self.ended.exit_code, self.ended.stderr))

    @property
    def samples(self) -> SampleTable:
        samples = self.reading.samples
        assert samples is not None
        return samples


class Windows:
    """Drives windows one after the other, each in a folder of its own."""

    def __init__(self, folder: Path, supervisor: Supervisor) -> None:
        self.folder = folder
        self.supervisor = supervisor
        self._count = 0

    def plan(self, program_path: Path, port: int, load: Load, mode: Mode = "plain") -> LoadPlan:
        """A window against a port; its bodies are written."""
        self._count += 1
        folder = self.folder / f"window-{self._count}"
        out_dir = folder / "out"
        out_dir.mkdir(parents=True)
        bodies = folder / "bodies.jsonl"
        payload = PayloadSpec("small", 64, 256)
        write_bodies(bodies, BodyPlan(payload, mode, "mock-model", load.window_count, self._count))
        return LoadPlan(
            program=program_path,
            url=f"http://127.0.0.1:{port}/v1/chat/completions",
            mode=mode,
            load=load,
            headers=(("authorization", f"Bearer {KEY}"), ("content-type", "application/json")),
            secrets=(KEY,),
            bodies=bodies,
            out_dir=out_dir,
            expected_s=load.window_count / (load.offered_rps or 50),
            seed=1,
        )

    def drive(self, driver: Driver, plan: LoadPlan, command: Command | None = None) -> Driven:
        """That window, by the driver's own command unless another one is given."""
        command = command or driver.command(plan)
        return Driven(driver, plan, command, self.supervisor.run(command))


@contextmanager
def windows(folder: Path) -> Iterator[Windows]:
    """Windows under a supervisor that leaves nothing running."""
    with Supervisor(folder / "state", search_path=os.environ["PATH"]) as supervisor:
        yield Windows(folder, supervisor)


class Provider:
    """The mock provider as a process: its port, and what it counted."""

    def __init__(self, ports: list[int]) -> None:
        self.port, self._admin_port = ports

    def counters(self) -> dict[str, Any]:
        found: dict[str, Any] = ask(self._admin_port, path="/counters").document
        return found

    def last(self) -> Any:
        return ask(self._admin_port, path="/last").document

    def column(self, name: str) -> list[Any]:
        """One column of its record of each request."""
        page = ask(self._admin_port, path="/records").document
        at = page["columns"].index(name)
        return [row[at] for row in page["rows"]]

    def reset(self, **plan: Any) -> None:
        assert ask(self._admin_port, path="/reset", document=plan).status == 200


@contextmanager
def mock_provider(folder: Path, **plan: Any) -> Iterator[Provider]:
    """A provider that responds after 5 ms, or as it is told."""
    with program("mocks.provider", ["--port", "0", "--admin-port", "0"], folder / "provider.log") as running:
        provider = Provider(running.ports)
        provider.reset(**({"delay_s": 0.005, "chunk_count": 6, "gap_s": 0.002} | plan))
        yield provider
