"""What the supervisor is asked to start, and what it gives back.

These are values and read-only views: only the supervisor starts and stops.
"""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from weighbridge.command import Command
from weighbridge.rig.processes.logs import tail
from weighbridge.rig.tree import cpu_time, memory, process_tree
from weighbridge.rig.tree.cgroup import ControlGroup


@dataclass(frozen=True)
class Service:
    """A program that runs until it is stopped: a mock, a gateway, a database.

    `env` is the whole environment besides the clean base; output of both kinds goes to `log`; `ports` must be free
    before the start and after the stop; `stop_signal` goes to the program alone and has `grace_s` to work.
    `secrets` are texts that must not be kept. `cores` are the only logical CPUs it may run on; `counts_cpu` puts it
    into a control group of its own where one can be made.
    """

    name: str
    argv: tuple[str, ...]
    cwd: Path
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    ports: tuple[int, ...] = ()
    stop_signal: signal.Signals = signal.SIGTERM
    grace_s: float = 8.0
    secrets: tuple[str, ...] = ()
    cores: tuple[int, ...] | None = None
    counts_cpu: bool = False


@dataclass(frozen=True)
class StopReport:
    """How a child was stopped.

    `by` says what it took: `exited` (it was gone before), `signal` (its own), `term`, `kill`. `exit_code` is negative
    for a death by signal. `orphan_count` counts processes it had left behind outside its session.
    """

    name: str
    by: str
    exit_code: int | None
    wall_s: float
    orphan_count: int = 0
    survivors: tuple[int, ...] = ()
    busy_ports: tuple[str, ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether nothing is left: no process, no port."""
        return not self.survivors and not self.busy_ports

    def __str__(self) -> str:
        """One sentence for the event_log."""
        how = {
            "exited": "had ended by itself",
            "signal": "stopped on its own signal",
            "term": "had to be stopped by TERM",
            "kill": "had to be killed",
        }[self.by]
        text = f"{self.name} {how} ({describe_exit(self.exit_code)}, {self.wall_s:.1f} s)"
        if self.orphan_count:
            text += f"; it had left {self.orphan_count} processes outside its session"
        if self.survivors:
            text += f"; still there: pid {', '.join(map(str, self.survivors))}"
        return f"{text}; still taken: {'; '.join(self.busy_ports)}." if self.busy_ports else f"{text}."


class Child:
    """A started service: asked whether it lives and what it uses. Only the supervisor makes and stops one.

    `started_ns` is CLOCK_MONOTONIC right after the start. `group` is its own control group; where it should have one
    and has none, `why_no_group` says why.
    """

    def __init__(
        self, service: Service, process: subprocess.Popen[bytes], root: process_tree.Member, tag: str
    ) -> None:
        self.service = service
        self.process = process
        self.root = root
        self.tag = tag
        self.started_ns = time.monotonic_ns()
        self.group: ControlGroup | None = None
        self.why_no_group: str | None = None

    @property
    def pid(self) -> int:
        """Number of the program's first process."""
        return self.root.pid

    @property
    def exit_code(self) -> int | None:
        """Exit status of the first process, negative for a death by signal; None while it lives."""
        return self.process.poll()

    def alive(self) -> bool:
        """Whether the first process lives."""
        return self.process.poll() is None

    def death(self) -> str | None:
        """How the first process ended, as a clause; None while it lives. Fits `ready.wait_ready` and `watch`."""
        code = self.process.poll()
        return None if code is None else f"{self.service.name} {describe_exit(code)}"

    def members(self) -> tuple[process_tree.Member, ...]:
        """All living processes of the service, those that left its session included."""
        self.process.poll()
        return process_tree.find([self.root], self.tag)

    def cpu_s(self) -> float:
        """CPU seconds that the whole tree has used, with those of children that ended and were waited for."""
        return cpu_time.read(self.members()).total_s

    def rss_bytes(self) -> int:
        """Resident memory of the whole tree, pages that processes share counted in each."""
        return memory.read(self.members()).rss_bytes

    def log_tail(self) -> str:
        """End of the log, secrets masked."""
        return tail(self.service.log, self.service.secrets)


@dataclass(frozen=True)
class Running:
    """A command that was begun and not yet finished."""

    command: Command
    child: Child


def describe_exit(code: int | None) -> str:
    """Return a clause such as `ended with exit code 3` or `died of SIGKILL`."""
    if code is None:
        return "is still running"
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"
