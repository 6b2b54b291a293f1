"""The walk through the blocks: lanes in the planned order, every cell once, rejected ones once more.

Called by `campaign.run`. A lane that fails is recorded and the walk goes on; only a signal, a full disk or a bug
ends it early.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from weighbridge.campaign.attempt import Attempt, fail_attempt, make_attempt
from weighbridge.campaign.holding import with_holder
from weighbridge.campaign.listener import Progress
from weighbridge.campaign.preflight import preflight
from weighbridge.campaign.stage import Stage
from weighbridge.campaign.warmup import Warmed, warm_up
from weighbridge.errors import LaneFailed
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.matrix.estimate import estimate, window_s
from weighbridge.matrix.requests import Mode
from weighbridge.record.run import Evidence, RunRecord
from weighbridge.rig.gate import wait_idle
from weighbridge.rig.lane import Lane, lane_up
from weighbridge.rig.services import StopReport


@dataclass
class Tally:
    """What was done so far; the only thing that changes while the walk goes on."""

    total_count: int
    planned_s: float
    done_count: int = 0
    done_s: float = 0.0
    begun: float = field(default_factory=time.monotonic)
    attempts: Counter[str] = field(default_factory=Counter)
    accepted_count: int = 0
    rejected_count: int = 0

    def progress(self) -> Progress:
        """How far the walk is; the time left follows the pace so far."""
        left_s = max(0.0, self.planned_s - self.done_s)
        if self.done_s > 0:
            left_s *= (time.monotonic() - self.begun) / self.done_s
        return Progress(self.done_count, self.total_count, left_s)


def walk(stage: Stage, order: Sequence[Sequence[Cell]]) -> Tally:
    """Every block in turn; the records are in the store."""
    cells = [cell for block in order for cell in block]
    tally = Tally(total_count=len(cells), planned_s=sum(estimate(block, 1).seconds for block in order))
    stage.listener.started(stage.store.folder.name, tally.progress())
    for number, block in enumerate(order, 1):
        _walk_block(stage, tally, number, block)
    return tally


def _walk_block(stage: Stage, tally: Tally, number: int, block: Sequence[Cell]) -> None:
    """One block: its cells in order, then once more those whose run was rejected, up to the attempts allowed."""
    accept = stage.request.loaded.matrix.accept
    pending = list(block)
    for round_number in range(accept.attempts_per_run):
        if not pending:
            return
        gate_text = _gate(stage, accept.gate_wait_s)
        stage.diary.write("round_began", block=number, round=round_number + 1, cells=len(pending))
        again: list[Cell] = []
        if round_number:
            tally.total_count += len(pending)
            tally.planned_s += estimate(pending, 1).seconds
        for lane, group in groupby(pending, key=lambda cell: cell.lane):
            visit = _Visit(stage, tally, number, lane, gate_text)
            again += visit.run(list(group))
        pending = again


def _gate(stage: Stage, wait_s: float | None) -> str | None:
    if wait_s is None:
        return None
    stage.listener.phase("waiting for an idle machine")
    text = wait_idle(stage.meter, stage.supervisor.pids(), within_s=wait_s)
    if text:
        stage.diary.write("not_idle", text=text)
        stage.listener.warning(f"the machine did not get idle: {text}")
    return text


def _is_worth_retrying(record: RunRecord) -> bool:
    """Whether another attempt could end differently; a mode that the lane does not serve stays unserved."""
    return record.reason is not None and record.reason.code != "not_served"


@dataclass(frozen=True)
class Prepared:
    """What preflight and warm-up of a mode showed: the evidence, and the gateway's own claims of its overhead."""

    evidence: Evidence
    claims_s: tuple[float, ...]


@dataclass(frozen=True)
class _Visit:
    """One visit to a lane in one block."""

    stage: Stage
    tally: Tally
    block: int
    lane: LaneKey
    gate_text: str | None

    def run(self, cells: list[Cell]) -> list[Cell]:
        """Every cell of the visit has a record afterwards; gives those that should be tried again.

        A gateway that dies takes one cell with it: the others go on with a fresh start.
        """
        again: list[Cell] = []
        left = cells
        while left:
            name = f"{self.lane.name}-{self.block}-{sum(self.tally.attempts.values())}"
            setup = self.stage.lane_setup(self.lane, name)
            self.stage.listener.phase(f"starting {self.lane.name}")
            try:
                with lane_up(self.stage.supervisor, setup, self._stopped) as lane:
                    for cell, record in self._windows(lane, left):
                        again += [cell] if _is_worth_retrying(record) else []
                        left = left[left.index(cell) + 1 :]
            except LaneFailed as error:
                for cell in left:
                    record = self._failed(cell, error)
                    again += [cell] if _is_worth_retrying(record) else []
                left = []
        return again

    def _stopped(self, report: StopReport) -> None:
        """A gateway that does not go on its own signal is part of what was seen of it."""
        self.stage.diary.write("stopped", lane=self.lane.name, by=report.by, exit_code=report.exit_code)
        if report.by in ("term", "kill") or report.stray_count or not report.is_clean:
            self.stage.listener.warning(f"{self.lane.name}: {report}")

    def _windows(self, lane: Lane, cells: Sequence[Cell]) -> Iterator[tuple[Cell, RunRecord]]:
        """Cells with their records, until the gateway is dead."""
        seen: dict[Mode, Prepared] = {}
        for cell in cells:
            if cell.mode not in seen:
                seen[cell.mode] = self._prepare(lane, cell)
            yield cell, self._window(lane, cell, seen[cell.mode])
            if lane.death():
                return

    def _prepare(self, lane: Lane, cell: Cell) -> Prepared:
        self.stage.listener.phase(f"trying {self.lane.name}, {cell.mode}")
        evidence = preflight(lane, self.stage.mocks, cell.mode, cell.answer)
        warmed = warm_up(lane, cell.mode, cell.answer) if evidence.ok else Warmed(is_steady=False)
        if evidence.ok and lane.usage is not None and lane.usage.idle is None:
            lane.drain()  # what the warm-up left behind is not idleness
            lane.usage.measure_idle()
        self.stage.diary.write(
            "prepared",
            lane=self.lane.name,
            mode=cell.mode,
            ok=evidence.ok,
            problem=evidence.problem,
            steady=warmed.is_steady,
        )
        return Prepared(evidence, warmed.claims_s)

    def _window(self, lane: Lane, cell: Cell, prepared: Prepared) -> RunRecord:
        attempt = self._next(cell, prepared.claims_s)
        evidence = prepared.evidence
        if not evidence.ok:
            sentence = f"{lane.setup.recipe.name} does not serve {cell.mode}: {evidence.problem}"
            death = lane.death()
            error = LaneFailed(
                death or sentence,
                reason="crashed" if death else "not_served",
                phase="preflight",
                log_tail=lane.log_tail(),
            )
            return self._note(cell, fail_attempt(self._stage_of(cell), attempt, error, (evidence,)))
        expected_s = cell.load.expected_s(cell.answer, cell.mode)
        self.stage.listener.window_opened(cell.id, self.block, expected_s, self.tally.progress())
        return self._note(cell, make_attempt(self._stage_of(cell), lane, attempt, (evidence,)))

    def _failed(self, cell: Cell, error: LaneFailed) -> RunRecord:
        return self._note(cell, fail_attempt(self._stage_of(cell), self._next(cell), error))

    def _stage_of(self, cell: Cell) -> Stage:
        return self.stage if cell.load.measures_times else with_holder(self.stage)

    def _next(self, cell: Cell, claims_s: tuple[float, ...] = ()) -> Attempt:
        self.tally.attempts[cell.id] += 1
        return Attempt(cell, self.block, self.tally.attempts[cell.id], self.gate_text, claims_s=claims_s)

    def _note(self, cell: Cell, record: RunRecord) -> RunRecord:
        self.tally.done_count += 1
        self.tally.done_s += window_s(cell)
        if record.accepted:
            self.tally.accepted_count += 1
        else:
            self.tally.rejected_count += 1
        reason = record.reason
        outcome = record.verdict if reason is None else f"rejected: {reason.code}: {reason.detail}"
        self.stage.diary.write(
            "run", cell=cell.id, block=self.block, attempt=record.attempt, accepted=record.accepted, outcome=outcome
        )
        self.stage.listener.window_closed(cell.id, self.block, outcome, self.tally.progress())
        return record
