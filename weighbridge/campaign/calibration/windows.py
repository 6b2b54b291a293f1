"""Windows of a calibration: cells that no matrix lists, run by the walk's own attempt and kept apart from its runs.

Called by the parts of a calibration. They lie in `calibration/cells` of the campaign, in the same form as all runs.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from weighbridge.campaign.attempt import Attempt, make_attempt
from weighbridge.campaign.calibration.lanes import first_answer
from weighbridge.campaign.listener import Progress
from weighbridge.campaign.stage import Stage
from weighbridge.judge.acceptance import judge_run
from weighbridge.judge.inputs import Judgement, RunInputs
from weighbridge.load.drivers import STAMP_READER
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad
from weighbridge.matrix.requests import AnswerSpec, Mode, PayloadSpec
from weighbridge.record.run import RunRecord
from weighbridge.record.store import CampaignStore
from weighbridge.rig.lane import Lane

FOLDER = "calibration"
_TIMEOUT_S = 10.0
# Start of the generator, its warm-up, and the writing of what it left.
_AROUND_S = 4.0


@dataclass(frozen=True)
class CellSpec:
    """A window that is no cell of the matrix; what is not given is the matrix's first payload and answer."""

    id: str
    mode: Mode
    load: Load
    driver: str = STAMP_READER
    payload: PayloadSpec | None = None
    answer: AnswerSpec | None = None


@dataclass(frozen=True)
class Manner:
    """Which attempt it is and by which rules it counts."""

    block: int = 1
    number: int = 1
    judge: Callable[[RunInputs], Judgement] = judge_run


@dataclass
class Steps:
    """Tells the listener of each window of a calibration and how much is left of it."""

    planned_s: float
    total_count: int
    done_count: int = 0
    done_s: float = 0.0
    begun_s: float = field(default_factory=time.monotonic)

    def add(self, count: int, expected_s: float) -> None:
        """Nothing; so many windows more than were planned are to come."""
        self.total_count += count
        self.planned_s += count * (expected_s + _AROUND_S)

    def progress(self) -> Progress:
        """How far the calibration is; what takes more than was planned makes it longer."""
        left_s = max(0.0, self.planned_s - self.done_s)
        if self.done_s:
            left_s *= (time.monotonic() - self.begun_s) / self.done_s
        return Progress(self.done_count, max(self.total_count, self.done_count), left_s)


_PLAIN = Manner()


def kept_apart(stage: Stage) -> Stage:
    """The stage with a store of its own for what the matrix does not list."""
    return replace(stage, store=CampaignStore(stage.store.folder / FOLDER))


def run_cell(stage: Stage, steps: Steps, lane: Lane, spec: CellSpec, manner: Manner = _PLAIN) -> RunRecord:
    """One committed attempt at a window."""
    payloads = stage.request.loaded.matrix.payloads
    name, payload = next(iter(payloads.items()))
    cell = Cell(
        id=spec.id,
        lane=lane.setup.key,
        mode=spec.mode,
        payload=spec.payload or payload.spec(name),
        answer=spec.answer or first_answer(stage),
        load=spec.load,
        driver=spec.driver,
        baseline=spec.id,
    )
    expected_s = cell.load.expected_s(cell.answer, cell.mode)
    if manner.number > 1:
        steps.add(1, expected_s)
    stage.listener.window_opened(cell.id, manner.block, expected_s, steps.progress())
    record = make_attempt(stage, lane, Attempt(cell, manner.block, manner.number, judge=manner.judge), ())
    steps.done_count += 1
    steps.done_s += expected_s + _AROUND_S
    outcome = "accepted" if record.accepted else f"rejected: {record.reason}: {record.reason_text}"
    stage.diary.write(
        "calibration_run", cell=cell.id, block=manner.block, attempt=manner.number, accepted=record.accepted,
        outcome=outcome,
    )  # fmt: skip
    stage.listener.window_closed(cell.id, manner.block, outcome, steps.progress())
    return record


def folder_of(store: CampaignStore, record: RunRecord) -> Path:
    """Where an accepted attempt lies."""
    return store.folder / "cells" / record.cell / f"b{record.block:02d}"


def rate_load(rate_rps: float, request_count: int, connections: int, warmup_count: int = 25) -> RateLoad:
    """An open loop of so many measured requests."""
    return RateLoad(
        rate_rps=rate_rps,
        duration_s=request_count / rate_rps,
        request_count=request_count,
        connections=connections,
        warmup_count=warmup_count,
        timeout_s=_TIMEOUT_S,
    )


def clients_load(clients: int, request_count: int) -> ClientsLoad:
    """A closed loop of so many measured requests."""
    return ClientsLoad(
        clients=clients,
        request_count=request_count,
        connections=clients,
        warmup_count=25,
        timeout_s=_TIMEOUT_S,
    )
