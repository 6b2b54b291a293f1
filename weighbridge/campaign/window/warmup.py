"""Warm-up of a lane in a mode: rounds of the first cell's load, driven by the probe, until the times are steady.

Each mode apart: the first stream of a process can cost a quarter of a second after any number of plain requests. The
probe drives whatever drives the cells, for it alone sees the provider's stamps.
"""

from __future__ import annotations

import itertools
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from weighbridge.campaign.window.clients import make_bodies, seed_of
from weighbridge.errors import InputError
from weighbridge.judge.figures.steadiness import added_of_warm_up, is_steady, may_still_move
from weighbridge.judge.stats.drift import Times
from weighbridge.load.contract.driver import LoadPlan
from weighbridge.load.drivers import DRIVERS, STAMP_READER
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.loads import Load
from weighbridge.matrix.loads.clients import warm_up_by_clients
from weighbridge.matrix.warmup import MOST_ROUNDS, LaneWarmup, expected_rps
from weighbridge.rig.install.atomic_install import Tool
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.rig import Rig

_JSON_BODY = ("content-type", "application/json")
# A round of fewer requests shows nothing that those before it did not.
_LEAST_COUNT = 8
# Where the probe cannot drive the cell's own load, so many clients warm the lane up.
_FALLBACK_CLIENTS = 10
_TIMEOUT_S = 10.0
# A lane that does not keep the rate answers late: a round that is cut leaves requests to the first window.
_ROUND_PATIENCE_S = 20.0

# Drives a round of so many requests and returns their added times in ms; None where the probe left nothing.
Drive = Callable[[int], Times | None]


@dataclass(frozen=True)
class Warmed:
    """Whether the times became steady, None where that cannot be told, and how many requests it took."""

    is_steady: bool | None
    request_count: int = 0


def warm_up(rounds: Rounds, asked: LaneWarmup) -> Warmed:
    """Warm a lane up at the load of its first cell, as long as the matrix asks for it."""
    rounds.rig.mocks.reset(rounds.cell.answer)
    numbers = itertools.count()
    return until_steady(lambda count: rounds.drive(count, next(numbers)), rounds.cell, asked)


def until_steady(drive: Drive, cell: Cell, asked: LaneWarmup, now: Callable[[], float] = time.monotonic) -> Warmed:
    """Drive rounds until times no longer move: each doubles what was sent, four at most, in the time asked for."""
    begun, sent, seen = now(), 0, np.empty(0)
    count = asked.first_count(cell)
    for _ in range(MOST_ROUNDS):
        times = drive(count)
        if times is None:
            return Warmed(None, sent)
        sent, seen = sent + count, np.concatenate([seen, times])
        left = int((asked.within_s - (now() - begun)) * expected_rps(cell))
        count = min(sent, left)
        if not may_still_move(seen) or count < max(_LEAST_COUNT, cell.load.concurrency):
            break
    return Warmed(is_steady(seen), sent)


@dataclass(frozen=True)
class Rounds:
    """Drives rounds by the probe, each with files that are thrown away and prompts of its own.

    `tool` is the probe, `seed_text` names the warm-up among all of the campaign.
    """

    rig: Rig
    lane: Lane
    cell: Cell
    tool: Tool
    seed_text: str

    def drive(self, count: int, number: int) -> Times | None:
        """Send so many requests and return the added time of each in ms; None where the probe left nothing."""
        folder = self.rig.scratch / "warm-up"
        shutil.rmtree(folder, ignore_errors=True)
        (folder / "out").mkdir(parents=True)
        driver, load = DRIVERS[STAMP_READER], self.cell.load
        seed_text = f"{self.seed_text} {number}"
        plan = self._plan(load.warm_up(count), seed_text)
        try:
            command = driver.command(plan)
        except InputError:  # above what the probe can drive
            plan = self._plan(warm_up_by_clients(_FALLBACK_CLIENTS, count, _TIMEOUT_S), seed_text)
            command = driver.command(plan)
        ended = self.rig.supervisor.run(command, watch=self.lane.death, cores=self.rig.driver_cores)
        try:
            read = driver.read(driver.outputs(plan, ended.exit_code, ended.stderr))
        except InputError:
            return None
        return None if read.requests is None else added_of_warm_up(read.requests, self.cell.mode, self.cell.answer)

    def _plan(self, load: Load, seed_text: str) -> LoadPlan:
        folder, cell = self.rig.scratch / "warm-up", self.cell
        bodies = folder / "bodies.jsonl"
        make_bodies(bodies, cell, load.window_count, seed_text)
        return LoadPlan(
            program=self.tool.path,
            url=self.lane.url,
            mode=cell.mode,
            load=load,
            headers=(*self.lane.headers, _JSON_BODY),
            secrets=self.rig.keys.all,
            bodies=bodies,
            out_dir=folder / "out",
            expected_s=load.expected_s(cell.answer, cell.mode) + _ROUND_PATIENCE_S,
            seed=seed_of(seed_text),
        )
