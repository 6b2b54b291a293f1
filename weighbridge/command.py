"""A program that is to be found or run: what `load` asks for and `rig` does."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class Command:
    """One program to run to its end, without a shell.

    `env` is the whole environment besides the clean base (PATH, HOME, LANG). `files` are written before the
    start (path → bytes). After `cut_after_s` the program gets `stop_signal` once and is expected to write its
    report; after `deadline_s` its group is killed. `secrets` are texts that must not be kept.
    """

    argv: tuple[str, ...]
    cwd: Path
    deadline_s: float
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[Path, bytes] = field(default_factory=dict)
    cut_after_s: float | None = None
    stop_signal: signal.Signals = signal.SIGINT
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True)
class OnPath:
    """A program that is looked for on PATH: how it tells its version, the least that will do, how people get it.

    `version_pattern` finds the version as its first group where what it prints for `version_argv` begins. `script` is
    one of ours that it runs.
    """

    name: str
    version_argv: tuple[str, ...]
    version_pattern: str
    minimum: tuple[int, int]
    advice: str
    script: Path | None = None


@dataclass(frozen=True)
class Ended:
    """How a command ended: `exit_code` is negative for a death by signal; `cut` says that we interrupted it.

    `cpu_s` is what it and all it waited for used; None where nobody looked.
    """

    exit_code: int
    wall_s: float
    cut: bool = False
    killed: bool = False
    stdout: bytes = b""
    stderr: bytes = b""
    cpu_s: float | None = None
