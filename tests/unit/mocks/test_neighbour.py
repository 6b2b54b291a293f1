"""The noisy neighbour: it takes the share it says, in bursts, and is gone when it should be."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

ROOT = Path(__file__).resolve().parents[3]
DEADLINE_S = 10.0


@contextmanager
def neighbour(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    """The program, once it has said that it is at work."""
    command = [sys.executable, "-m", "mocks.neighbour", *arguments]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().startswith("mocks.neighbour: takes")
        yield process
    finally:
        process.kill()
        process.communicate()


def reported(process: subprocess.Popen[str]) -> dict[str, Any]:
    """What it says at its end."""
    out, err = process.communicate(timeout=DEADLINE_S)
    assert (process.returncode, err) == (0, "")
    return json.loads(out)


def workers(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """The processes that do the work."""
    return psutil.Process(process.pid).children()


def sample(pid: int) -> tuple[int, int, int]:
    """Wall time, CPU time and time spent waiting for a core, of a process with one thread, by the kernel."""
    cpu_ns, waited_ns = map(int, Path(f"/proc/{pid}/schedstat").read_text().split()[:2])
    return time.monotonic_ns(), cpu_ns, waited_ns


def gone(processes: list[psutil.Process]) -> bool:
    """Whether all have ended by the deadline."""
    end_s = time.monotonic() + DEADLINE_S
    while any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes):
        if time.monotonic() > end_s:
            return False
        time.sleep(0.01)
    return True


@pytest.mark.parametrize("share", [0.1, 0.5])
def test_it_takes_its_share_of_the_wall(share: float) -> None:
    """CPU per wall time is the share, as told and as seen; less only where the kernel let it wait all the time."""
    with neighbour("--cores", "1", "--share", str(share), "--seconds", "2") as process:
        (worker,) = workers(process)
        before = sample(worker.pid)
        time.sleep(1.4)
        wall_ns, cpu_ns, waited_ns = (b - a for a, b in zip(before, sample(worker.pid), strict=True))
        ended = reported(process)
    starved = (cpu_ns + waited_ns) / wall_ns > 0.9
    assert ended["cpu_ratio"] / share < 1.15
    assert ended["cpu_ratio"] / share > 0.8 or starved
    assert cpu_ns / wall_ns / share > 0.8 or starved
    assert cpu_ns / 1e9 < ended["cpu_s"]
    assert ended["wall_s"] / 2 == pytest.approx(1, rel=0.2)


def test_bursts_are_short() -> None:
    """A worker of a half share switches between work and sleep many times per second, not once."""
    with neighbour("--cores", "1", "--share", "0.5", "--seconds", "5") as process:
        (worker,) = workers(process)
        slept_before, before_ns = worker.num_ctx_switches().voluntary, time.monotonic_ns()
        time.sleep(0.5)
        naps = worker.num_ctx_switches().voluntary - slept_before
        span_s = (time.monotonic_ns() - before_ns) / 1e9
    assert naps / span_s > 20


def test_each_core_has_a_worker() -> None:
    """Two cores are two processes, each with its share, and the sum is told."""
    with neighbour("--cores", "2", "--share", "0.1", "--seconds", "1") as process:
        assert len(workers(process)) == 2
        ended = reported(process)
    assert ended["cpu_s"] / ended["wall_s"] == pytest.approx(0.2, rel=0.3)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_when_asked(number: signal.Signals) -> None:
    """Long before its time, with 0, its workers with it."""
    with neighbour("--cores", "2", "--share", "0.2", "--seconds", "600") as process:
        found = workers(process)
        process.send_signal(number)
        assert reported(process)["wall_s"] < 60
        assert gone(found)


def test_workers_do_not_outlive_a_killed_parent() -> None:
    """After KILL of the parent the workers end by themselves."""
    with neighbour("--cores", "2", "--share", "0.2", "--seconds", "600") as process:
        found = workers(process)
        os.kill(process.pid, signal.SIGKILL)
        assert gone(found)


@pytest.mark.parametrize("arguments", [["--share", "0"], ["--share", "1.1"], ["--cores", "0"], ["--cores", "1.5"]])
def test_a_share_that_cannot_be_is_refused(arguments: list[str]) -> None:
    """Exit 2 and a sentence that says what was expected."""
    command = [sys.executable, "-m", "mocks.neighbour", "--seconds", "1", *arguments]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=DEADLINE_S)
    assert ended.returncode == 2
    assert "must be a number above 0" in ended.stderr
    assert "Traceback" not in ended.stderr
