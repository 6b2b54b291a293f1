"""What a driver is: two pure functions. `command(plan)` says what to run, `read(outputs)` makes one load report.

`rig` runs the command, `campaign` joins them. A driver starts nothing and touches no file but those it reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from weighbridge.command import Command, OnPath
from weighbridge.load.contract.formats import Formats
from weighbridge.load.contract.reading import ReportReading
from weighbridge.matrix.arrivals import Arrivals
from weighbridge.matrix.loads import Load
from weighbridge.matrix.recipe import OverheadHeader
from weighbridge.matrix.requests import Mode


@dataclass(frozen=True)
class Capabilities:
    """What a driver can support; a figure it cannot support is absent with a reason.

    `arrivals` are the ways in which it spaces the requests of a rate. `ceiling_count` is how many requests it gets to
    see how many per second the mock provider can serve.
    """

    loads: frozenset[str]
    first_byte: frozenset[str]
    unique_prompts: bool
    gaps: bool
    sees_stamps: bool = False
    arrivals: tuple[Arrivals, ...] = ("even",)
    ceiling_count: int = 1_000


@dataclass(frozen=True)
class LoadPlan:
    """One window to drive: `url` is the full address of the chat-completions endpoint of the lane.

    `bodies` is a file with one JSON request body a line, made by `load.bodies`; `out_dir` exists and is empty.
    `ready` is a file that a driver which starts slowly makes right before its first request. `overhead_header` is
    where the lane's gateway reports its own overhead; a driver that reads no headers leaves it.
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
    overhead_header: OverheadHeader | None = None


@dataclass(frozen=True)
class LoadOutputs:
    """What a driver left: its files, its arguments (None when not kept), and how it ended (None when unknown)."""

    report: Path | None
    samples: Path | None
    argv: Sequence[str] | None
    tool_version: str | None
    exit_code: int | None = None
    stderr: bytes = b""


class Driver(Protocol):
    """One load generator.

    `program` is the folder of one that comes with us, or how it is known on PATH; None: `rig` has a way of its own.
    """

    name: str
    capabilities: Capabilities
    program: Path | OnPath | None
    formats: Formats

    def command(self, plan: LoadPlan) -> Command:
        """Program, arguments and files for one window."""
        ...

    def outputs(self, plan: LoadPlan, exit_code: int, stderr: bytes) -> LoadOutputs:
        """Where that window's results lie."""
        ...

    def read(self, outputs: LoadOutputs) -> ReportReading:
        """Load report of what was left; InputError when it is no report."""
        ...
