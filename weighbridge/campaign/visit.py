"""One visit: its lanes are up together while its windows are measured, one record each, whatever happens."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from weighbridge.campaign.attempt import Attempt, AttemptMaker
from weighbridge.campaign.lanes import lane_setup
from weighbridge.campaign.schedule import Visit, VisitOutcome, WindowSpec
from weighbridge.campaign.window import early_ready
from weighbridge.campaign.window.clients import death_of
from weighbridge.campaign.window.neighbour import beside
from weighbridge.campaign.window.warmup import Rounds, Warmed, warm_up
from weighbridge.errors import LaneFailed
from weighbridge.load.drivers import STAMP_READER
from weighbridge.matrix.cells import BASELINE, Cell
from weighbridge.matrix.estimate import start_s, window_s
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.record.progress import Listener, Progress
from weighbridge.record.run import Evidence, RunRecord
from weighbridge.record.store import CampaignStore
from weighbridge.record.visit import VisitRecord, with_visit
from weighbridge.rig.lanes.lane import Lane, lane_up
from weighbridge.rig.processes.child import StopReport


@dataclass
class Tally:
    """What was done so far; the only thing that changes while a schedule goes on."""

    total_count: int
    planned_s: float
    done_count: int = 0
    done_s: float = 0.0
    begun: float = field(default_factory=time.monotonic)
    attempts: Counter[tuple[str, str]] = field(default_factory=Counter)
    gate_text: str | None = None

    def progress(self) -> Progress:
        """Return how far the schedule is; the time left follows the pace so far."""
        remaining_s = max(0.0, self.planned_s - self.done_s)
        if self.done_s > 0:
            remaining_s *= (time.monotonic() - self.begun) / self.done_s
        return Progress(self.done_count, max(self.total_count, self.done_count), remaining_s)


@dataclass(frozen=True)
class Prepared:
    """What preflight and warm-up of a mode showed; `start` names the start of the lane, None where it never came up.

    `is_unsteady`: the times were still moving when the warm-up was over. `answer` is what the provider was told to
    give.
    """

    evidence: tuple[Evidence, ...] = ()
    is_unsteady: bool = False
    start: str | None = None
    answer: AnswerSpec | None = None

    def body_bytes(self, cell: Cell) -> int | None:
        """Return the size of a response to this cell; None where another answer was tried."""
        return self.evidence[0].body_bytes if self.evidence and cell.answer == self.answer else None

    @property
    def problem(self) -> str | None:
        """What was wrong with the lane's response; None where nothing was or nothing was tried."""
        return next((seen.problem or "not the provider's answer" for seen in self.evidence if not seen.ok), None)


@dataclass(frozen=True)
class VisitRun:
    """A visit that is made: attempts on a rig, kept in `store`, told to `listener` and counted in `tally`."""

    attempts: AttemptMaker
    store: CampaignStore
    listener: Listener
    tally: Tally
    visit: Visit

    @property
    def name(self) -> str:
        """Names of its lanes."""
        return " + ".join(lane.name for lane in self.visit.lanes)

    def run(self) -> VisitOutcome:
        """Make a record of every window of the visit.

        A gateway that dies takes one window with it: the others go on with a fresh start.
        """
        records: list[RunRecord] = []
        ends: dict[str, VisitRecord] = {}
        windows = self.visit.windows
        while len(records) < len(windows):
            left = windows[len(records) :]
            self.listener.phase(f"starting {self.name}")
            try:
                with ExitStack() as stack:
                    lanes = [stack.enter_context(self._lane_up(number)) for number in range(len(self.visit.lanes))]
                    start = _start_name()
                    for record in self._windows(lanes, left, start):
                        records.append(record)  # noqa: PERF402 - each counts even if the next one fails
                    ends[start] = self._ended(lanes[0], start)
            except LaneFailed as error:
                records += [self._failed(window, error) for window in windows[len(records) :]]
        waits, cells = self.attempts.request.loaded.waits, [window.cell for window in windows]
        self.tally.done_s += sum(start_s(lane, cells, waits) for lane in self.visit.lanes)
        return VisitOutcome(tuple(with_visit(record, ends) for record in records))

    def _lane_up(self, number: int) -> AbstractContextManager[Lane]:
        key, attempts = self.visit.lanes[number], self.attempts
        count = len(list((attempts.rig.scratch / "lanes").glob("*")))
        gateways = sum(lane.gateway != BASELINE for lane in self.visit.lanes[:number])
        setup = lane_setup(attempts.request, attempts.rig, key, name=f"{count}-{key.name}", number=gateways)
        return lane_up(attempts.rig.supervisor, setup, lambda report: self._stopped(key.name, report))

    def _stopped(self, lane: str, report: StopReport) -> None:
        """Note that a gateway does not go on its own signal: it is part of what was seen of it."""
        self.attempts.event_log.write("stopped", lane=lane, by=report.by, exit_code=report.exit_code)
        if report.by in ("term", "kill") or report.orphan_count or not report.is_clean:
            self.listener.warning(f"{lane}: {report}")

    def _windows(self, lanes: Sequence[Lane], windows: Sequence[WindowSpec], start: str) -> Iterator[RunRecord]:
        """Yield the record of each window, until a gateway is dead."""
        seen: dict[Mode, Prepared] = {}
        up_at = time.monotonic()
        for window in windows:
            mode = window.cell.mode
            if mode not in seen:
                seen[mode] = self._prepare(lanes, window.cell, up_at)
            yield self._window(lanes, window, replace(seen[mode], start=start))
            if death_of(lanes):
                return

    def _prepare(self, lanes: Sequence[Lane], cell: Cell, up_at: float) -> Prepared:
        """Try each lane, which is up since an instant, and warm it up, as far as the visit asks for it."""
        if self.visit.preparation == "bare":
            return Prepared()
        evidence: list[Evidence] = []
        is_unsteady = False
        self.listener.phase(f"trying {self.name}, {cell.mode}")
        for lane in lanes:
            if self.visit.preparation == "tried":
                evidence.append(self._tried(lane, cell, up_at))
            is_ok = all(seen.ok for seen in evidence)
            warmed = self._warmed(lane, cell) if is_ok else Warmed(None)
            is_unsteady = is_unsteady or warmed.is_steady is False
            if is_ok and lane is lanes[0]:
                self._look_before(lane)
            self.attempts.event_log.write(
                "prepared",
                lane=lane.setup.key.name,
                mode=cell.mode,
                ok=is_ok,
                problem=evidence[-1].problem if evidence else None,
                steady=warmed.is_steady,
                warm_up_count=warmed.request_count,
            )
        return Prepared(tuple(evidence), is_unsteady=is_unsteady, answer=cell.answer)

    def _warmed(self, lane: Lane, cell: Cell) -> Warmed:
        attempts = self.attempts
        matrix, tool = attempts.request.loaded.matrix, attempts.programs.tool_of(STAMP_READER)
        seed_text = f"{matrix.seed} warm-up {lane.setup.key.name} {cell.mode} {self.visit.block} {self.visit.round}"
        return warm_up(Rounds(attempts.rig, lane, cell, tool, seed_text), matrix.warmup)

    def _tried(self, lane: Lane, cell: Cell, up_at: float) -> Evidence:
        ready = lane.setup.recipe.ready
        until = up_at if ready is None else up_at + ready.within_s
        seen = early_ready.first_served(lane, self.attempts.rig.mocks, cell.mode, cell.answer, until=until)
        remark = early_ready.remark(seen, lane.setup.key.name)
        if remark is not None:
            self.listener.warning(remark)
        return seen

    @property
    def _look_s(self) -> float:
        return self.attempts.request.loaded.idle_look_s

    def _look_before(self, lane: Lane) -> None:
        """Look once a start at what the warm lane, whose cost is read, uses without a request."""
        if lane.usage is not None and lane.usage.idle is None:
            lane.drain()  # what the warm-up left behind is not idleness
            self.listener.phase(f"looking at the idle use of {self.name}")
            lane.usage.look_before(self._look_s)

    def _ended(self, lane: Lane, start: str) -> VisitRecord:
        """Look at idle use once more, if the lane lives, and keep what was seen."""
        look = None
        if lane.usage is not None and lane.usage.idle is not None and lane.death() is None:
            self.listener.phase(f"looking at the idle use of {self.name}")
            look = lane.usage.look_after(self._look_s)
        ended = VisitRecord(visit=start, lane=lane.setup.key.name, block=self.visit.block, idle_after=look)
        if look is not None:
            self.store.keep_visit(ended)
        return ended

    def _window(self, lanes: Sequence[Lane], window: WindowSpec, prepared: Prepared) -> RunRecord:
        attempt = self._next(window, prepared)
        if prepared.problem is not None:
            death, lane = death_of(lanes), lanes[0]
            error = LaneFailed(
                death or f"{lane.setup.recipe.name} does not serve {window.cell.mode}: {prepared.problem}",
                reason="crashed" if death else "not_served",
                phase="preflight",
                log_tail=lane.log_tail(),
            )
            return self._noted(window, self.attempts.fail(attempt, error, self.store))
        cell = window.cell
        expected_s = cell.load.expected_s(cell.answer, cell.mode)
        self.listener.window_opened(cell.id, self.visit.block, expected_s, self.tally.progress())
        with beside(self.attempts.rig, window.neighbour, expected_s):
            return self._noted(window, self.attempts.make(lanes, attempt, self.store))

    def _failed(self, window: WindowSpec, error: LaneFailed) -> RunRecord:
        return self._noted(window, self.attempts.fail(self._next(window, Prepared()), error, self.store))

    def _next(self, window: WindowSpec, prepared: Prepared) -> Attempt:
        key = (self.visit.shelf, window.cell.id)
        self.tally.attempts[key] += 1
        return Attempt(
            window,
            self.visit.block,
            self.tally.attempts[key],
            self.tally.gate_text,
            evidence=prepared.evidence,
            expected_bytes=prepared.body_bytes(window.cell),
            visit=prepared.start,
            is_unsteady=prepared.is_unsteady,
        )

    def _noted(self, window: WindowSpec, record: RunRecord) -> RunRecord:
        self.tally.done_count += 1
        self.tally.done_s += window_s(window.cell)
        reason = record.reason
        outcome = record.verdict if reason is None else f"rejected: {reason.code}: {reason.detail}"
        self.attempts.event_log.write(
            "run",
            cell=record.cell,
            shelf=self.visit.shelf,
            block=record.block,
            attempt=record.attempt,
            accepted=record.accepted,
            outcome=outcome,
        )
        self.listener.window_closed(record.cell, record.block, outcome, self.tally.progress())
        return record


def _start_name() -> str:
    """Return the name of a start of a lane: when it was, to the microsecond, so that no two of a campaign agree."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%fZ")
