"""How things get onto the machine: built in a temporary sibling, marked last, renamed; or not at all.

`installed.json` is the commit: a folder without it does not exist for us, so an install that was cut anywhere starts
clean the next time, and a second install is a look at one file.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field

from weighbridge.command import Command, Ended
from weighbridge.errors import StoreError, ToolMissing
from weighbridge.record.base import Versioned
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.identity import FileIdentity
from weighbridge.rig.install.installer_environment import for_installers, secrets_of

MARKER = "installed.json"
Report = Callable[[str], None]


class CommandRunner(Protocol):
    """Who runs a command to its end and owns its processes."""

    def run(self, command: Command, *, watch: Callable[[], str | None] | None = None) -> Ended:
        """How the command ended, its secrets masked in the output; `watch` is called a few times per second."""
        ...


@dataclass(frozen=True)
class Workshop:
    """What an installer works with.

    `environ` is the caller's environment, of which installers see what `installer_environment` lets through. `uv`
    stands for the uv program; None takes the one that comes with Weighbridge. `mends` asks for
    a new copy where files of an installed gateway were changed; else such a gateway is unavailable.
    """

    runner: CommandRunner
    report: Report
    environ: Mapping[str, str]
    uv: Path | None = None
    mends: bool = False

    @property
    def path_env(self) -> str:
        """The caller's PATH."""
        return self.environ.get("PATH", os.defpath)


class InstallMarker(Versioned):
    """`installed.json`: what lies in this folder. Written last."""

    schema_: Literal["weighbridge.installed/1"] = Field(
        default="weighbridge.installed/1", alias="schema", description="Kind and version of this document."
    )
    tool: ToolFacts = Field(description="What was installed.")
    program: str | None = Field(description="Its executable, relative to this folder.")
    python: str | None = Field(default=None, description="Its Python, relative to this folder.")
    files: dict[str, str] = Field(default={}, description="SHA-256 of each installed file, by relative path.")


@dataclass(frozen=True)
class Tool:
    """A program that is ready to be run."""

    path: Path
    facts: ToolFacts


@dataclass(frozen=True)
class Search:
    """What was found: the tool to use, and a remark when one was passed over."""

    tool: Tool | None
    remark: str | None = None


@dataclass(frozen=True)
class Installed:
    """A gateway that is ready to be started: its program, its Python, what it needs in its environment.

    `identity` is what runs under its name; None where nothing is started.
    """

    program: Path | None
    python: Path
    facts: ToolFacts
    env: Mapping[str, str] = field(default_factory=dict)
    identity: FileIdentity | None = field(default=None, compare=False)


class FilesChanged(ToolMissing):
    """Files of an installed gateway are no longer those that were installed."""


def read_marker(folder: Path) -> InstallMarker | None:
    """Return what is installed in `folder`, None when nothing is, or nothing whole."""
    try:
        marker = InstallMarker.from_json((folder / MARKER).read_bytes(), origin=MARKER)
    except (OSError, StoreError):
        return None
    parts = [part for part in (marker.program, marker.python) if part is not None]
    return marker if all((folder / part).exists() for part in parts) else None


@contextmanager
def being_built(folder: Path) -> Iterator[Path]:
    """Yield an empty sibling to build in; it becomes `folder` when the block ends with a marker in it.

    Remains of earlier tries are removed first, its own are removed when the block fails.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    for remains in folder.parent.glob(f".{folder.name}.*.part"):
        shutil.rmtree(remains, ignore_errors=True)
    part = folder.parent / f".{folder.name}.{secrets.token_hex(4)}.part"
    part.mkdir()
    try:
        yield part
        if read_marker(part) is None:
            raise ToolMissing(f"{folder.name} was not installed whole: run the same command again")
        if folder.exists():
            shutil.rmtree(folder)
        part.rename(folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)


def write_marker(folder: Path, marker: InstallMarker) -> None:
    """Put the marker into `folder`, flushed, as the last file."""
    with (folder / MARKER).open("w", encoding="utf-8") as file:
        file.write(marker.to_json())
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def exclusive(home: Path, report: Report) -> Iterator[None]:
    """Hold the right to install into `home`, one process at a time; the kernel takes it back at our end."""
    home.mkdir(parents=True, exist_ok=True)
    with (home / "install.lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            report(f"another Weighbridge installs into {home.name}/ at this moment: waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True)
class Step:
    """One program of an install: `what` names it in messages, `env` is added to the installer's environment."""

    what: str
    argv: tuple[str, ...]
    cwd: Path
    deadline_s: float
    env: Mapping[str, str] = field(default_factory=dict)


def run_step(workshop: Workshop, step: Step, log: Path, *, watch: Callable[[], str | None] | None = None) -> None:
    """Run one step and append its output to `log`.

    Raises ToolMissing when it fails. The sentence names the log; the program's own words go to `tell` only,
    because they may hold addresses of a private index and the sentence is kept in records.
    """
    command = Command(
        argv=step.argv,
        cwd=step.cwd,
        deadline_s=step.deadline_s,
        env={**for_installers(workshop.environ), **step.env},
        secrets=secrets_of(workshop.environ),
    )
    ended = workshop.runner.run(command, watch=watch)
    text = (ended.stdout + ended.stderr).decode("utf-8", "replace")
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("a", encoding="utf-8") as file:
        file.write(f"$ {' '.join(step.argv)}\n{text}\n")
    if ended.exit_code == 0 and not ended.killed:
        return
    for line in text.strip().splitlines()[-6:]:
        workshop.report(f"  {line}")
    how = f"took longer than {step.deadline_s:.0f} s" if ended.killed else f"ended with exit code {ended.exit_code}"
    raise ToolMissing(f"{step.what} {how}; its output is in {log.parent.parent.name}/{log.parent.name}/{log.name}")


def sha256_of(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
