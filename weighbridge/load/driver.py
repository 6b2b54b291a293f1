"""What a driver is: two pure functions. `command(plan)` says what to run, `read(outputs)` makes one load report.

`rig` runs the command, `campaign` joins them. A driver starts nothing and touches no file but those it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from weighbridge.command import Command
from weighbridge.matrix.loads import Load
from weighbridge.matrix.requests import Mode
from weighbridge.record.held import HeldStreams
from weighbridge.record.inband import EventTable, RequestTable
from weighbridge.record.load_report import LoadReport
from weighbridge.record.samples import SampleTable


@dataclass(frozen=True)
class Capabilities:
    """What a driver can support; a figure it cannot support is absent with a reason."""

    loads: frozenset[str]
    first_byte: frozenset[str]
    unique_prompts: bool
    gaps: bool
    inband: bool = False


@dataclass(frozen=True)
class LoadPlan:
    """One window to drive: `url` is the full address of the chat-completions endpoint of the lane.

    `bodies` is a file with one JSON request body a line, made by `load.bodies`; `out_dir` exists and is empty.
    `ready` is a file that a driver which starts slowly makes right before its first request.
    """

    program: Path
    url: str
    mode: Mode
    load: Load
    headers: tuple[tuple[str, str], ...]
    secrets: tuple[str, ...]
    bodies: Path
    out_dir: Path
    expected_s: float
    seed: int
    ready: Path | None = None


@dataclass(frozen=True)
class LoadOutputs:
    """What a driver left: its files, its arguments (None when not kept), and how it ended (None when unknown)."""

    report: Path | None
    samples: Path | None
    argv: Sequence[str] | None
    tool_version: str | None
    exit_code: int | None = None
    stderr: bytes = b""


@dataclass(frozen=True)
class Reading:
    """A load report and, where the driver kept them, its samples; the probe also has what it saw in band.

    `held` is what holding streams open showed, where a load does that.
    """

    report: LoadReport
    samples: SampleTable | None
    inband: RequestTable | None = None
    events: EventTable | None = None
    held: HeldStreams | None = None


class Driver(Protocol):
    """One load generator."""

    name: str
    capabilities: Capabilities

    def command(self, plan: LoadPlan) -> Command:
        """Program, arguments and files for one window."""
        ...

    def outputs(self, plan: LoadPlan, exit_code: int, stderr: bytes) -> LoadOutputs:
        """Where that window's results lie."""
        ...

    def read(self, outputs: LoadOutputs) -> Reading:
        """Load report of what was left; InputError when it is no report."""
        ...
