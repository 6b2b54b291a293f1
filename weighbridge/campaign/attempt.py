"""One attempt at one window: driven, judged, made into a record and committed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from weighbridge.campaign.event_log import EventLog, utc_now
from weighbridge.campaign.plan import fingerprint
from weighbridge.campaign.programs import Programs, clients_of, pass_of
from weighbridge.campaign.request import CampaignRequest
from weighbridge.campaign.schedule import WindowSpec
from weighbridge.campaign.window.clients import seed_of
from weighbridge.campaign.window.ground_truth import Truth
from weighbridge.campaign.window.window import Measured, WindowPlan, run_window
from weighbridge.errors import InputError, LaneFailed
from weighbridge.judge.figures.histograms import HISTOGRAMS_FILE, run_histograms
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.figures.self_report import self_reported
from weighbridge.judge.inputs import Attempted, Judgement
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.window import Client, Window
from weighbridge.matrix.axes import window_of
from weighbridge.matrix.cells import Cell
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Absent, TimingOrAbsent
from weighbridge.record.run import ClientRecord, Evidence, Resources, RunRecord
from weighbridge.record.store import CampaignStore
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.rig import Rig
from weighbridge.rig.processes.signals import deferred

# One more window with so many times the connections decides whose limit a missed rate is (METHOD section 2).
_MORE_CONNECTIONS = 2


@dataclass(frozen=True)
class Attempt:
    """Which attempt it is: the window, its block, its number over the campaign, and why the machine was not idle.

    `evidence` is what the preflight showed of the lane in this mode, `expected_bytes` the size of its response,
    `visit` is the start of the lane; `is_unsteady` says that its times were still moving when the warm-up was over.
    """

    window: WindowSpec
    block: int
    number: int
    gate_text: str | None = None
    evidence: tuple[Evidence, ...] = ()
    expected_bytes: int | None = None
    visit: str | None = None
    is_unsteady: bool = False

    @property
    def cell(self) -> Cell:
        """Its cell."""
        return self.window.cell

    @property
    def name(self) -> str:
        """A name that no other attempt of the campaign has."""
        return f"{self.cell.id} {self.block} {self.number}"

    @property
    def asked(self) -> str:
        """What is asked in the window, the same for all lanes of a block: prompts and starts are drawn from it."""
        return " ".join((f"block {self.block}", *window_of(self.cell)))


@dataclass(frozen=True)
class AttemptMaker:
    """Makes attempts on a rig and commits each to the store that it is told."""

    request: CampaignRequest
    rig: Rig
    programs: Programs
    truth: Truth
    event_log: EventLog
    cpu_count: int

    def make(self, lanes: Sequence[Lane], attempt: Attempt, store: CampaignStore) -> RunRecord:
        """Run the window of an attempt and commit its record; a mock that fails becomes a record too."""
        try:
            measured = self._measure(lanes, attempt.window, attempt)
        except LaneFailed as error:
            return self.fail(attempt, error, store, lanes[0].files_to_store())
        goodput = self.request.loaded.matrix.goodput
        window = replace(
            measured.window,
            expected_bytes=attempt.expected_bytes,
            goodput_bounds=None if goodput is None else goodput.bounds,
        )
        attempted = self._attempted(attempt, window)
        judgement = attempt.window.judge(attempted)
        if judgement.needs_more_connections:
            more = self._with_more_connections(lanes, attempt)
            attempted = replace(attempted, doubled_achieved_rps=more)
            judgement = attempt.window.judge(attempted)
        record = self._record(attempt, judgement, attempted)
        self._commit(store, record, measured)
        return record

    def fail(
        self, attempt: Attempt, error: LaneFailed, store: CampaignStore, files: Mapping[str, bytes] | None = None
    ) -> RunRecord:
        """Commit the record of an attempt whose window was never opened, with what the lane said."""
        attempted = replace(
            self._attempted(attempt, None), failure=Reason.of(error.reason, self.rig.without_folders(str(error)))
        )
        record = self._record(attempt, judge_run(attempted), attempted)
        kept = dict(files or {})
        if error.log_tail:
            kept["gateway-log-tail.txt"] = error.log_tail.encode()
        with deferred():
            store.commit(record, self._fit_to_store(kept), None)
        return record

    def _measure(self, lanes: Sequence[Lane], window: WindowSpec, attempt: Attempt, *, suffix: str = "") -> Measured:
        """Drive a window; one more through the same gateway has a suffix, and with it other prompts."""
        root = self.request.loaded.matrix.seed
        seed, seed_text = seed_of(f"{root} {attempt.name}{suffix}") >> 16, f"{root} {attempt.asked}{suffix}"
        manner = {**window.manner, "jitter_seed": seed} if "jitter_s" in window.manner else window.manner
        clients = clients_of(self.rig, self.programs, lanes, window, seed)
        after = pass_of(self.programs, window.cell)
        plan = WindowPlan(window.cell, clients, seed_text, manner, after)
        return run_window(self.rig, lanes, plan, self.truth)

    def _attempted(self, attempt: Attempt, window: Window | None) -> Attempted:
        share = self.request.loaded.matrix.accept.load_limit_per_cpu
        return Attempted(
            load=attempt.cell.load,
            mode=attempt.cell.mode,
            is_baseline=attempt.cell.is_baseline,
            window=window,
            figures=None if window is None else run_figures(window),
            load_limit=None if share is None else share * self.cpu_count,
            evidence=attempt.evidence,
            is_unsteady=attempt.is_unsteady,
            gate_text=attempt.gate_text,
        )

    def _with_more_connections(self, lanes: Sequence[Lane], attempt: Attempt) -> float | None:
        """Return the rate that one more window with twice the connections achieved, None when it left no report."""
        load = attempt.cell.load.with_connections(_MORE_CONNECTIONS)
        if load is None:
            return None
        self.event_log.write("more_connections", cell=attempt.cell.id, connections=load.connections)
        window = replace(attempt.window, cell=replace(attempt.cell, load=load))
        try:
            measured = self._measure(lanes, window, attempt, suffix=" twice the connections")
        except (LaneFailed, InputError):  # a driver may not go so high
            return None
        figures = run_figures(measured.window)
        return None if figures is None else figures.known("achieved_rps")

    def _record(self, attempt: Attempt, judgement: Judgement, attempted: Attempted) -> RunRecord:
        window, cell = attempted.window, attempt.cell
        return RunRecord(
            cell=cell.id,
            block=attempt.block,
            attempt=attempt.number,
            visit=attempt.visit,
            fingerprint=fingerprint(self.request, self.programs, cell, self.rig.cpus),
            accepted=judgement.accepted,
            verdict=judgement.verdict,
            reason=judgement.reason,
            flags=judgement.flags,
            started_at=utc_now() if window is None else window.started_at,
            window_s=0.0 if window is None else window.window_s,
            clients=() if window is None else tuple(map(_client_record, window.every_client)),
            no_companion=None if window is None else window.load.no_companion,
            counts=None if window is None else window.counts,
            figures=attempted.figures,
            open_streams=None if window is None else window.streams,
            self_reported_ms=self._self_reported(cell, window),
            drain_s=None if window is None else window.drain_s,
            undelivered_at_end_count=None if window is None else window.undelivered_at_end_count,
            load_before=None if window is None else window.load_before,
            load_after=None if window is None else window.load_after,
            resources=Resources() if window is None else window.resources,
            evidence=attempt.evidence,
        )

    def _self_reported(self, cell: Cell, window: Window | None) -> TimingOrAbsent:
        recipe = self.request.catalogue.get(cell.lane.gateway)
        if recipe is None or recipe.overhead_header is None:
            return Absent(absent="not_self_reported")
        return self_reported(window)

    def _commit(self, store: CampaignStore, record: RunRecord, measured: Measured) -> None:
        kept = self._fit_to_store(measured.files)
        histograms = run_histograms(measured.window)
        if histograms is not None:
            kept[HISTOGRAMS_FILE] = histograms.to_json().encode()
        with deferred():
            store.commit(record, kept, measured.samples)

    def _fit_to_store(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """Return configuration and logs without this machine's folders; what a client wrote stays byte for byte."""
        return {
            name: self.rig.without_folders(data.decode(errors="replace")).encode() if _is_ours(name) else data
            for name, data in files.items()
        }


def _is_ours(name: str) -> bool:
    place = PurePosixPath(name)
    return place.parts[0] == "config" or place.suffix == ".txt"


def _client_record(client: Client) -> ClientRecord:
    return ClientRecord(
        role=client.role,
        load=client.load,
        driver=client.record,
        load_report=client.report,
        prompts_sha256=client.prompts_sha256,
    )
