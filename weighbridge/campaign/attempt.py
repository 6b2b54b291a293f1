"""One attempt at one cell: its window, judged, made into a record and committed. Called by the walk for each cell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from weighbridge.campaign.diary import utc_now
from weighbridge.campaign.facts import rider_record, window_facts
from weighbridge.campaign.stage import Stage
from weighbridge.campaign.window import Client, Window, run_window
from weighbridge.errors import InputError, LaneFailed
from weighbridge.judge.acceptance import judge_run
from weighbridge.judge.figures import run_figures
from weighbridge.judge.histograms import HISTOGRAMS_FILE, run_histograms
from weighbridge.judge.inputs import (
    DriverEnd,
    Judgement,
    ProviderHealth,
    RunInputs,
    WindowFacts,
)
from weighbridge.judge.timing import timing
from weighbridge.matrix.cells import Cell
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Absent
from weighbridge.record.run import Evidence, RunRecord
from weighbridge.rig.lane import Lane
from weighbridge.rig.signals import deferred

# One more window with so many times the connections decides whose limit a missed rate is (METHOD section 2).
_MORE_CONNECTIONS = 2
_CPU_WINDOW_S = 5.0


@dataclass(frozen=True)
class Attempt:
    """Which attempt it is: the cell, the block, its number over the campaign, and why the machine was not idle.

    `claims_s` is what the gateway said of its own overhead in the warm-up, `judge` says by which rules it counts.
    """

    cell: Cell
    block: int
    number: int
    gate_text: str | None = None
    claims_s: tuple[float, ...] = ()
    judge: Callable[[RunInputs], Judgement] = judge_run

    @property
    def seed_text(self) -> str:
        """Name that no other attempt of the campaign has."""
        return f"{self.cell.id} {self.block} {self.number}"


def make_attempt(stage: Stage, lane: Lane, attempt: Attempt, evidence: tuple[Evidence, ...]) -> RunRecord:
    """Run the window of one attempt and commit its record; a mock that fails becomes a record too."""
    seed_text = f"{stage.request.loaded.matrix.seed} {attempt.seed_text}"
    try:
        window = run_window(stage, lane, attempt.cell, seed_text)
    except LaneFailed as error:
        return fail_attempt(stage, attempt, error, evidence, lane.kept_files())
    inputs = _inputs(stage, attempt, window, evidence)
    judgement = attempt.judge(inputs)
    if judgement.needs_more_connections:
        inputs = replace(inputs, doubled_achieved_rps=_with_more_connections(stage, lane, attempt))
        judgement = attempt.judge(inputs)
    record = _record(stage, attempt, judgement, evidence).changed(**_measured(window, inputs))
    _commit(stage, record, window, inputs.window)
    return record


def fail_attempt(
    stage: Stage,
    attempt: Attempt,
    error: LaneFailed,
    evidence: tuple[Evidence, ...] = (),
    files: Mapping[str, bytes] | None = None,
) -> RunRecord:
    """Commit the record of an attempt whose window was never opened, with what the lane said."""
    inputs = RunInputs(
        load=attempt.cell.load,
        mode=attempt.cell.mode,
        is_floor=attempt.cell.is_floor,
        failure=Reason.of(error.reason, stage.without_folders(str(error))),
        evidence=evidence,
        gate_text=attempt.gate_text,
    )
    record = _record(stage, attempt, judge_run(inputs), evidence)
    kept = dict(files or {})
    if error.log_tail:
        kept["gateway-log-tail.txt"] = error.log_tail.encode()
    with deferred():
        stage.store.commit(record, _fit_to_keep(stage, kept), None)
    return record


def _inputs(stage: Stage, attempt: Attempt, window: Window, evidence: tuple[Evidence, ...]) -> RunInputs:
    facts = window_facts(window, attempt.cell)
    figures = None if facts is None else run_figures(facts)
    return RunInputs(
        load=attempt.cell.load,
        mode=attempt.cell.mode,
        is_floor=attempt.cell.is_floor,
        window=facts,
        figures=figures,
        counts=window.counts,
        held=window.main.reading.held if window.main.reading else None,
        driver=_end_of(stage, window.main),
        rider=None if window.rider is None else _end_of(stage, window.rider),
        gateway_died=window.death,
        load_before=window.load_before,
        load_after=window.load_after,
        load_limit=stage.load_limit(),
        provider=ProviderHealth(
            lateness_p50_s=window.provider.get("lateness_p50_s"),
            lateness_p99_s=window.provider.get("lateness_p99_s"),
            cpu_cores=window.resources.mock_cpu_cores,
        ),
        evidence=evidence,
        undelivered_at_end_count=window.drained.undelivered_at_end_count,
        gate_text=attempt.gate_text,
        provider_time_s=attempt.cell.answer.provider_time_s(attempt.cell.mode),
    )


def _end_of(stage: Stage, client: Client) -> DriverEnd:
    ended = client.ended
    # Of a shorter window the program's own start is too large a part.
    cores = ended.cpu_s / ended.wall_s if ended.cpu_s is not None and ended.wall_s >= _CPU_WINDOW_S else None
    return DriverEnd(ended.exit_code, ended.killed, stage.without_folders(client.unreadable or ""), cores)


def _with_more_connections(stage: Stage, lane: Lane, attempt: Attempt) -> float | None:
    """Rate that one more window with twice the connections achieved, None when it left no report."""
    load = attempt.cell.load.with_connections(_MORE_CONNECTIONS)
    if load is None:
        return None
    cell = replace(attempt.cell, load=load)
    stage.diary.write("more_connections", cell=attempt.cell.id, connections=load.connections)
    try:
        window = run_window(stage, lane, cell, f"{attempt.seed_text} twice the connections")
    except (LaneFailed, InputError):  # a driver may not go so high
        return None
    facts = window_facts(window, cell)
    return None if facts is None else run_figures(facts).known("achieved_rps")


def _record(stage: Stage, attempt: Attempt, judgement: Judgement, evidence: tuple[Evidence, ...]) -> RunRecord:
    recipe = stage.request.catalogue.get(attempt.cell.lane.gateway)
    claims = recipe is not None and recipe.overhead_header is not None
    not_told = Absent(absent="not_told" if claims else "not_claimed")
    return RunRecord(
        cell=attempt.cell.id,
        block=attempt.block,
        attempt=attempt.number,
        fingerprint=stage.fingerprint(attempt.cell),
        accepted=judgement.accepted,
        verdict=judgement.verdict,
        reason=judgement.reason,
        flags=judgement.flags,
        started_at=utc_now(),
        window_s=0.0,
        claimed_overhead_ms=timing(np.array(attempt.claims_s)) if attempt.claims_s else not_told,
        evidence=evidence,
    )


def _measured(window: Window, inputs: RunInputs) -> dict[str, object]:
    return {
        "started_at": window.started_at,
        "window_s": window.window_s,
        "driver": window.main.driver,
        "rider": rider_record(window),
        "load_report": window.main.reading.report if window.main.reading else None,
        "counts": window.counts,
        "figures": inputs.figures,
        "held": inputs.held,
        "drain_s": window.drained.drain_s,
        "undelivered_at_end_count": window.drained.undelivered_at_end_count,
        "load_before": window.load_before,
        "load_after": window.load_after,
        "resources": window.resources,
    }


def _commit(stage: Stage, record: RunRecord, window: Window, facts: WindowFacts | None) -> None:
    samples = window.main.reading.samples if window.main.reading else None
    kept = _fit_to_keep(stage, window.files)
    histograms = run_histograms(facts) if facts else None
    if histograms is not None:
        kept[HISTOGRAMS_FILE] = histograms.to_json().encode()
    with deferred():
        stage.store.commit(record, kept, samples)


def _fit_to_keep(stage: Stage, files: Mapping[str, bytes]) -> dict[str, bytes]:
    """Configuration and logs without the folders of this machine; what the driver wrote stays byte for byte."""
    return {
        name: stage.without_folders(data.decode(errors="replace")).encode()
        if name.startswith("config/") or name.endswith(".txt")
        else data
        for name, data in files.items()
    }
