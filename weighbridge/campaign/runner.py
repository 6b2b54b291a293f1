"""Makes the visits of a schedule, whatever it is of: idle gate, progress, event log; `visit` makes each of them.

A lane that fails is recorded and the schedule goes on; only a signal, a full disk or a bug ends it early.
"""

from __future__ import annotations

from weighbridge.campaign.attempt import AttemptMaker
from weighbridge.campaign.schedule import Result, Schedule, Visit, VisitOutcome
from weighbridge.campaign.visit import Tally, VisitRun
from weighbridge.matrix.estimate import Estimate, estimate
from weighbridge.record.progress import Listener
from weighbridge.record.store import CampaignStore
from weighbridge.rig.machine.idle_gate import Limits, wait_idle


class VisitRunner:
    """Makes the visits of a campaign one after the other."""

    def __init__(self, attempts: AttemptMaker, store: CampaignStore, listener: Listener, planned: Estimate) -> None:
        self._attempts = attempts
        self._store = store
        self._listener = listener
        self._tally = Tally(planned.window_count, planned.seconds)

    def run(self, schedule: Schedule[Result]) -> Result:
        """Make every visit that the schedule yields, tell it how each ended, and return what it returns."""
        self._listener.started(self._store.folder.name, self._tally.progress())
        outcome: VisitOutcome | None = None
        while True:
            try:
                visit = next(schedule) if outcome is None else schedule.send(outcome)
            except StopIteration as end:
                result: Result = end.value
                return result
            outcome = self._made(visit)

    def _made(self, visit: Visit) -> VisitOutcome:
        cells = [window.cell for window in visit.windows]
        if not visit.is_planned:
            self._tally.total_count += len(cells)
            self._tally.planned_s += estimate(cells, 1, self._attempts.request.loaded.waits).seconds
        if visit.waits_idle:
            self._tally.gate_text = self._wait_idle()
            self._attempts.event_log.write("round_began", block=visit.block, round=visit.round, shelf=visit.shelf)
        shelf = self._store.shelf(visit.shelf)
        return VisitRun(self._attempts, shelf, self._listener, self._tally, visit).run()

    def _wait_idle(self) -> str | None:
        matrix = self._attempts.request.loaded.matrix
        within_s = matrix.accept.gate_wait_s
        if within_s is None:
            return None
        rig = self._attempts.rig
        self._listener.phase("waiting for an idle machine")
        limits = Limits(quiet_s=matrix.idle.quiet_s)
        text = wait_idle(rig.meter, rig.supervisor.pids(), within_s=within_s, limits=limits)
        if text:
            self._attempts.event_log.write("not_idle", text=text)
            self._listener.warning(f"the machine did not get idle: {text}")
        return text
