"""Bench `mock`: how many non-streaming responses per second the mock provider gives, beside uvicorn and aiohttp.

All three give the same response by the same code; each stands alone on one CPU with wrk on another, windows are
interleaved and shuffled.
"""

from __future__ import annotations

import importlib.util
import json
import os
import random
import shutil
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.equivalents.chat import Chat
from benchmarks.place import Place, Standing, ask, first_body, pinned, shape, stand, stand_provider
from benchmarks.results import Outcome, Table, Target
from weighbridge.command import Command
from weighbridge.errors import LaneFailed, ToolMissing
from weighbridge.rig.processes.ports import choose

CONNECTION_COUNTS = (1, 32)
LEAST_RATIO = 2.0
MOCK = "mock provider"
_ALONE_COUNT = 5_000
_SCRIPT = Path(__file__).with_name("post.lua")


@dataclass(frozen=True)
class Shot:
    """One wrk window: requests per second, CPU per request of the server."""

    rps: float
    cpu_us: float


@dataclass(frozen=True)
class Size:
    """How often and how long."""

    repetition_count: int
    window_s: int

    @classmethod
    def of(cls, place: Place) -> Size:
        """Three windows of three seconds each; one second in all when quick."""
        return cls(1, 1) if place.quick else cls(3, 3)


def run(place: Place) -> Outcome:
    """Measure requests/s and CPU per request of each server at 1 and 32 connections, with ratios to the mock's."""
    wrk = shutil.which("wrk", path=place.search_path)
    if wrk is None:
        raise ToolMissing("wrk is not on PATH: the mock's ceiling is measured with it")
    servers, missing = _servers(place)
    _require_same_answers(servers, first_body(place))
    body = place.folder / "wrk-body.json"
    body.write_bytes(first_body(place))
    size = Size.of(place)
    shots: dict[tuple[str, int], list[Shot]] = {}
    draw = random.Random(1)  # noqa: S311 - an order that can be repeated
    try:
        for _ in range(size.repetition_count):
            windows = [(server, count) for server in servers for count in CONNECTION_COUNTS]
            for server, count in draw.sample(windows, len(windows)):
                shot = _shoot(place, server, (wrk, "-t1", f"-c{count}", f"-d{size.window_s}s"), body)
                shots.setdefault((server.name, count), []).append(shot)
    finally:
        for server in servers:
            place.supervisor.stop(server.child)
    return _outcome(shots, (*missing, _answer_alone(first_body(place))), judged=not place.quick)


def _answer_alone(body: bytes) -> str:
    """Return what reading, recording and writing one response costs, which all servers have in common."""
    chat = Chat()
    began_s = time.process_time()
    for _ in range(_ALONE_COUNT):
        chat.answer(body, time.monotonic_ns())
    cost_us = (time.process_time() - began_s) / _ALONE_COUNT * 1e6
    return f"Of each request {cost_us:.1f} µs of CPU are the response itself, the same code in all servers."


def _servers(place: Place) -> tuple[list[Standing], tuple[str, ...]]:
    cpus = _cpus()
    cpu = cpus[0] if len(cpus) > 1 else None
    servers, missing = [stand_provider(place, 0.0, cpu)], []
    for library in ("uvicorn", "aiohttp"):
        if importlib.util.find_spec(library) is None:
            missing.append(f"{library} is not installed: its equivalent was left out (dependency group `bench`).")
            continue
        (port,) = choose(1, None)
        argv = place.python(f"benchmarks.equivalents.{library}_server", "--port", str(port))
        servers.append(stand(place, library, pinned(argv, cpu), port))
    return servers, tuple(missing)


def _cpus() -> list[int]:
    return sorted(os.sched_getaffinity(0))


def _require_same_answers(servers: list[Standing], body: bytes) -> None:
    shapes = {server.name: shape(ask(server.url, body)) for server in servers}
    for name, found in shapes.items():
        if found != shapes[MOCK]:
            raise LaneFailed(f"{name} does not give the mock's answer", reason="not_served", phase="preflight")


def _shoot(place: Place, server: Standing, wrk: tuple[str, ...], body: Path) -> Shot:
    argv = (*wrk, "-s", str(_SCRIPT), server.url, "--", str(body))
    cpus = _cpus()
    before_s = server.cpu_s()
    ended = place.supervisor.run(
        Command(pinned(argv, cpus[-1] if len(cpus) > 1 else None), cwd=place.folder, deadline_s=30.0)
    )
    cpu_s = server.cpu_s() - before_s
    lines = [line for line in ended.stdout.decode().splitlines() if line.startswith("{")]
    if ended.exit_code or not lines:
        raise LaneFailed(f"wrk failed: {ended.stderr.decode().strip()}", reason="generator_failed", phase="window")
    document = json.loads(lines[-1])
    if document["error_count"] or not document["request_count"]:
        raise LaneFailed(
            f"{server.name} did not respond to every request: {document}", reason="errors", phase="window"
        )
    return Shot(document["request_count"] / document["wall_us"] * 1e6, cpu_s / document["request_count"] * 1e6)


def _outcome(shots: dict[tuple[str, int], list[Shot]], missing: tuple[str, ...], *, judged: bool) -> Outcome:
    rows, numbers = [], []
    for (name, count), found in sorted(shots.items(), key=lambda item: (item[0][1], item[0][0] != MOCK, item[0][0])):
        rps, cpu_us = _median(found, lambda one: one.rps), _median(found, lambda one: one.cpu_us)
        mock = shots[MOCK, count]
        ratio = _median(mock, lambda one: one.rps) / rps
        cpu_ratio = cpu_us / _median(mock, lambda one: one.cpu_us)
        spread = f"{min(one.rps for one in found):,.0f}–{max(one.rps for one in found):,.0f}"
        rows.append((name, count, round(rps), spread, cpu_us, ratio, cpu_ratio))
        numbers.append(
            {
                "server": name,
                "connection_count": count,
                "rps": [one.rps for one in found],
                "cpu_us_per_request": [one.cpu_us for one in found],
                "mock_over_this_ratio": ratio,
                "cpu_this_over_mock_ratio": cpu_ratio,
            }
        )
    columns = ("server", "connections", "requests/s", "range", "CPU µs/request", "mock ÷ this", "CPU this ÷ mock")
    return Outcome(
        "mock",
        (Table("non-streaming responses without delay, wrk, medians", columns, rows),),
        _targets(shots, judged=judged),
        {"windows": numbers},
        missing,
    )


def _targets(shots: dict[tuple[str, int], list[Shot]], *, judged: bool) -> tuple[Target, ...]:
    most = CONNECTION_COUNTS[-1]
    if ("uvicorn", most) not in shots:
        return ()
    mock, other = (_median(shots[name, most], lambda one: one.rps) for name in (MOCK, "uvicorn"))
    ratio = mock / other
    return (
        Target(
            f"mock ÷ uvicorn at {most} connections",
            f"≥ {LEAST_RATIO:g}",
            f"{ratio:.2f}",
            ratio >= LEAST_RATIO if judged else None,
        ),
    )


def _median(shots: list[Shot], value_of: Callable[[Shot], float]) -> float:
    return statistics.median(map(value_of, shots))
