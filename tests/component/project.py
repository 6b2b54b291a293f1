"""An empty foreign project in a temporary folder, whose command line is run as a real process.

The load generator is the stand-in of `tests/fakes`, first on PATH.
"""

from __future__ import annotations

import getpass
import io
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import yaml

CHECKOUT = Path(__file__).resolve().parents[2]
FAKES = CHECKOUT / "tests" / "fakes"
RECIPES = CHECKOUT / "tests" / "data" / "gateways"
TASKS = "from weighbridge.tasks import namespace\n\n__all__ = ['namespace']\n"
CODES = {"INT": 130, "TERM": 143, "HUP": 129}

# Small enough for a whole campaign in seconds; the provider's 10 ms are long beside what a busy machine adds.
MATRIX: Mapping[str, Any] = {
    "schema": "weighbridge.matrix/1",
    "title": "A small campaign",
    "seed": 7,
    "subject": "reference",
    "gateways": ["reference"],
    "chains": ["none"],
    "disks": {"work": {}},
    "modes": ["plain"],
    "payloads": {"small": {"system": "64B", "user": "128B"}},
    "answers": {"quick": {"delay": "10ms", "chunks": 6, "gap": "1ms"}},
    "loads": {
        "rate": {"per_second": [20], "duration": "2s", "warmup": 4, "timeout": "5s"},
        "clients": {"counts": [2], "requests": 20, "warmup": 4, "timeout": "5s"},
    },
    "runs": 1,
    "grade": "smoke",
    "accept": {"load_limit_per_cpu": None, "gate_wait": None, "attempts_per_run": 1},
    "idle": {"gateway": "200ms"},
    "warmup": {"requests": 10, "within": "1s"},
}


@dataclass(frozen=True)
class Ran:
    """How one command line ended."""

    code: int
    out: str
    err: str

    @property
    def sentences(self) -> list[str]:
        """Lines of stderr that say something."""
        return [line for line in self.err.splitlines() if line.strip()]

    def ends_with(self, code: int) -> None:
        """Fail unless it ended so, with all that it said."""
        assert self.code == code, f"ended with {self.code}, not {code}\n{self.out}\n{self.err}"
        assert "Traceback" not in self.err, self.err


@dataclass(frozen=True)
class Began:
    """A command line that runs, in a session of its own."""

    process: subprocess.Popen[bytes]
    out: Path
    err: Path

    def ended(self, within_s: float = 60) -> Ran:
        """How it ended, once it has."""
        code = self.process.wait(within_s)
        return Ran(code, self.out.read_text(), self.err.read_text())

    def kill(self) -> None:
        """End it if a failed test left it; its guardian cleans up behind it."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


class Project:
    """A folder with a two-line tasks.py, a matrix and a stand-in oha; what is said goes to `told`."""

    def __init__(self, folder: Path, reported: Path | None = None) -> None:
        self.folder = folder
        self.reported = reported or folder
        self.bin = folder / "bin"
        self.bin.mkdir(parents=True)
        (folder / "tasks.py").write_text(TASKS)
        self.add_program("oha", (FAKES / "oha").read_text())
        self.python = sys.executable
        self._count = 0

    # What it is made of

    def add_program(self, name: str, text: str) -> Path:
        """A Python program on the project's PATH, run by this very Python whatever PATH holds."""
        program = self.bin / name
        program.write_text(f"#!{sys.executable}\n" + text.partition("\n")[2])
        program.chmod(0o755)
        return program

    def script(self, **scenario: Any) -> None:
        """Tell the stand-in oha what to do."""
        (self.bin / "scenario.json").write_text(json.dumps(scenario))

    def matrix(self, **changes: Any) -> Path:
        """The small matrix with some of its top keys replaced."""
        path = self.folder / "matrix.yaml"
        path.write_text(yaml.safe_dump({**MATRIX, **changes}, sort_keys=False))
        return path

    def faulty(self, *faults: str) -> list[Any]:
        """Entries of the faulty gateway for a matrix; its recipe folder is put beside the matrix."""
        target = self.folder / "recipes" / "faulty"
        if not target.exists():
            shutil.copytree(RECIPES / "faulty", target)
        return [{"id": "faulty", "settings": {"fault": fault}} for fault in faults]

    # How it is run

    def begin(self, *words: str, path: str | None = None) -> Began:
        """`invoke …` in the project's folder, started."""
        self._count += 1
        out, err = (self.reported / f"{self._count}.{kind}.txt" for kind in ("out", "err"))
        search = f"{self.bin}{os.pathsep}{os.environ['PATH']}" if path is None else path
        ours = ("PYTEST", "COV") if self.python == sys.executable else ("PYTEST", "COV", "PYTHON")
        environ = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                [self.python, "-m", "invoke", *words],
                cwd=self.folder,
                env={**environ, "PATH": search},
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        return Began(process, out, err)

    def invoke(self, *words: str, path: str | None = None, within_s: float = 150) -> Ran:
        """`invoke …` in the project's folder, run to its end."""
        began = self.begin(*words, path=path)
        try:
            return began.ended(within_s)
        finally:
            began.kill()

    # What it left

    @property
    def results(self) -> Path:
        return self.folder / "results"

    def campaigns(self) -> list[Path]:
        """Folders of all campaigns, oldest first."""
        return sorted((self.results / "campaigns").glob("*")) if self.results.exists() else []

    @property
    def campaign(self) -> Path:
        """Folder of the only campaign."""
        found = self.campaigns()
        assert len(found) == 1, found
        return found[0]

    def summary(self, campaign: Path | None = None) -> dict[str, Any]:
        return json.loads(((campaign or self.campaign) / "summary.json").read_text())

    def cells(self, campaign: Path | None = None) -> dict[str, dict[str, Any]]:
        """Cells of the summary by id."""
        return {cell["cell"]: cell for cell in self.summary(campaign)["cells"]}

    def runs(self, cell: str, campaign: Path | None = None) -> dict[str, dict[str, Any]]:
        """Records of a cell's attempts by folder name, such as b01.rejected-1."""
        folder = (campaign or self.campaign) / "cells" / cell
        return {path.parent.name: json.loads(path.read_text()) for path in sorted(folder.glob("*/run.json"))}

    def events(self, kind: str | None = None, campaign: Path | None = None) -> list[dict[str, Any]]:
        """Lines of the event_log."""
        lines = ((campaign or self.campaign) / "events.jsonl").read_text().splitlines()
        return [event for event in map(json.loads, lines) if kind in (None, event["event"])]

    def spoilt(self, campaign: Path | None = None) -> set[str]:
        """Cells without an accepted run for the rig's doing alone, which on a busy machine may be any of them."""
        cells = self.cells(campaign)
        found = {name: [run["reason"] for run in self.runs(name, campaign).values()] for name in cells}
        return {
            name
            for name, reasons in found.items()
            if reasons and all(reason is not None and reason["class"] == "rig" for reason in reasons)
        }

    def ends_well(self, ran: Ran, campaign: Path | None = None) -> None:
        """Fail unless all cells are valid and the exit code is 0, or the rig alone spoilt some and it is 3."""
        spoilt = self.spoilt(campaign)
        ran.ends_with(3 if spoilt else 0)
        others = {name: cell for name, cell in self.cells(campaign).items() if name not in spoilt}
        assert {cell["verdict"] for cell in others.values()} <= {"valid"}
        assert {cell["runs_accepted"] for cell in others.values()} <= {
            cell["runs_wanted"] for cell in others.values()
        }

    def attempt(self, cell: str, campaign: Path | None = None) -> Path:
        """Folder of a cell's first accepted run, or of its last attempt where the rig spoilt all of them."""
        folder = (campaign or self.campaign) / "cells" / cell
        names = list(self.runs(cell, campaign))
        accepted = [name for name in names if "rejected" not in name]
        assert accepted or cell in self.spoilt(campaign), names
        return folder / (accepted or names[-1:])[0]

    def record(self, cell: str, campaign: Path | None = None) -> dict[str, Any]:
        """Record of `attempt`."""
        return self.runs(cell, campaign)[self.attempt(cell, campaign).name]

    def finished(self, campaign: Path | None = None) -> dict[str, Any]:
        return json.loads(((campaign or self.campaign) / "finished.json").read_text())

    def survivors(self) -> list[str]:
        """Living processes that have to do with this project: by environment, arguments or working folder."""
        return [f"{pid}: {words}" for pid, words in self._living()]

    def end_survivors(self) -> None:
        """Kill what a failed test left, so that it disturbs no other."""
        for pid, _ in self._living():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _living(self) -> list[tuple[int, str]]:
        needle = str(self.folder)
        return [(pid, words) for pid, words, reported in _processes() if needle in reported]

    def assert_nothing_left(self, within_s: float = 0) -> None:
        """No process of the project lives, its ports are free, and no throw-away folder or lane state is left."""
        wait_for(lambda: not self.survivors(), within_s, lambda: f"left running: {self.survivors()}")
        for campaign in self.campaigns():
            began = self.events("began", campaign) if (campaign / "events.jsonl").exists() else []
            for port in began[0]["ports"] if began else ():
                assert is_free(port), f"port {port} is still taken"
        home = self.folder / ".weighbridge"
        left = [str(path) for name in ("state", "work", "run/scratch") for path in (home / name).glob("*")]
        assert not left


def _processes() -> Iterator[tuple[int, str, str]]:
    """Pid, arguments and all that is told by each living process, but not by this one and its parents."""
    ourselves = {os.getpid(), *(parent.pid for parent in psutil.Process().parents())}
    for process in psutil.process_iter():
        try:
            if process.pid in ourselves or process.status() == psutil.STATUS_ZOMBIE:
                continue
            words = " ".join(process.cmdline())
            yield process.pid, words, " ".join([words, process.cwd(), *process.environ().values()])
        except psutil.Error:
            continue


def wait_for(happened: Callable[[], bool], within_s: float, otherwise: Callable[[], str]) -> None:
    """Return as soon as it has happened; fail with a sentence when it has not in time."""
    deadline = time.monotonic() + within_s
    while not happened():
        assert time.monotonic() < deadline, otherwise()
        time.sleep(0.02)


def is_free(port: int) -> bool:
    """Whether a server could take the port now."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


@contextmanager
def listening() -> Iterator[int]:
    """A port that this process holds."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        server.listen()
        yield server.getsockname()[1]


def stored_bytes(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file below a folder, and the parts of every compressed one."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file():
            continue
        name, data = str(path.relative_to(folder)), path.read_bytes()
        yield name, data
        if zipfile.is_zipfile(io.BytesIO(data)):
            with zipfile.ZipFile(io.BytesIO(data)) as parts:
                for part in parts.namelist():
                    yield f"{name}/{part}", parts.read(part)


def names_of_this_machine() -> list[str]:
    """Names that must not be kept; names too plain to tell anything are left out."""
    names = {socket.gethostname(), socket.getfqdn(), getpass.getuser(), str(Path.home())}
    return sorted(name for name in names if len(name) > 4 and name != "localhost")
