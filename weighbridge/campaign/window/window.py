"""One measured window: prompts, warm-up, load by all clients, drain, counters. The attempt has it judged."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from weighbridge.campaign.window.clients import (
    ClientPlan,
    ClientSpec,
    Driven,
    DrivenWindow,
    death_of,
    drive,
    make_bodies,
    plan_client,
)
from weighbridge.campaign.window.costs import begin_costs
from weighbridge.campaign.window.ground_truth import Truth
from weighbridge.campaign.window.pages import csv_of_pages
from weighbridge.campaign.window.probe_pass import make_pass
from weighbridge.judge.window import Client, ProviderHealth, Trace, Window
from weighbridge.load.contract.reading import ReportReading
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.loads import ClientsLoad, Load
from weighbridge.record.load_report import LoadReport
from weighbridge.record.provider_rows import ProviderRows, read_provider_rows
from weighbridge.record.run import Counts
from weighbridge.record.samples import SampleTable
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.rig import Rig

# The provider's own record of each request of a window, as it is kept.
PROVIDER_FILE = "provider.csv"
_WARMUP_CLIENTS = 10
_WARMUP_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class WindowPlan:
    """A window to be driven through lanes that are up: its clients, the first leading.

    Prompts and intended starts are drawn from `seed_text`, which lanes of a block share and windows of one lane do
    not. `manner` is what the provider is told beside its response. A
    `probe_pass` follows when all else is read.
    """

    cell: Cell
    clients: tuple[ClientSpec, ...]
    seed_text: str
    manner: Mapping[str, Any] = field(default_factory=dict)
    probe_pass: ClientSpec | None = None


@dataclass(frozen=True)
class Measured:
    """A window with what is kept of it: files by their names, and the leading client's samples."""

    window: Window
    files: Mapping[str, bytes] = field(default_factory=dict)
    samples: SampleTable | None = None


def run_window(rig: Rig, lanes: Sequence[Lane], plan: WindowPlan, truth: Truth) -> Measured:
    """Drive one window; the first lane is the one whose cost is read. Raises LaneFailed when a mock fails."""
    measured = _measured(rig, lanes, plan, truth)
    spec = plan.probe_pass
    return measured if spec is None or measured.window.death else _with_pass(rig, lanes, plan, spec, measured)


def _measured(rig: Rig, lanes: Sequence[Lane], plan: WindowPlan, truth: Truth) -> Measured:
    shutil.rmtree(rig.scratch / "window", ignore_errors=True)
    lane, cell = lanes[0], plan.cell
    clients = [_planned(rig, lane, plan, number) for number in range(len(plan.clients))]
    _warm_up(rig, clients[0], plan)
    rig.mocks.reset(cell.load.window_answer(cell.answer), plan.manner)
    truth.forget(lanes)
    before = rig.reading()
    costs = begin_costs(rig, lane)
    driven = drive(rig, lanes, cell, clients)
    after = rig.reading()
    death = death_of(lanes)
    drained = lane.drain()
    provider = rig.mocks.provider.ask("GET", "/counters")
    records = csv_of_pages(lambda page: rig.mocks.provider.ask("GET", f"/records?{page}"))
    late_s: float | None = provider.get("lateness_p99_s")
    resources = costs.end(driven.ended, driven.window_s).changed(mock_lateness_p99_s=late_s)
    rows = read_provider_rows(records, origin=PROVIDER_FILE)
    readings = [one.read() for one in driven.clients]
    ended = tuple(
        _client(rig, one, reading, cell, rows) for one, reading in zip(driven.clients, readings, strict=True)
    )
    lead = readings[0][0]
    return Measured(
        Window(
            load=driven.load,
            mode=cell.mode,
            answer=cell.answer,
            clients=ended,
            started_at=driven.started_at,
            window_s=driven.window_s,
            counts=_counts(rig, lane, provider, ended, _expected_repeats(driven)),
            resources=resources,
            provider=ProviderHealth(provider.get("lateness_p50_s"), resources.mock_cpu_cores),
            drain_s=drained.drain_s,
            undelivered_at_end_count=drained.undelivered_at_end_count,
            death=death,
            load_before=before,
            load_after=after,
        ),
        _kept(driven, records) | lane.files_to_store() | truth.files_to_store(lanes),
        lead.samples if lead else None,
    )


def _with_pass(rig: Rig, lanes: Sequence[Lane], plan: WindowPlan, spec: ClientSpec, measured: Measured) -> Measured:
    """Return the window with a pass of the probe behind it, or as it is where the probe could not begin."""
    text, count = f"{plan.seed_text} {spec.role}", spec.load.window_count
    client = plan_client(rig, lanes[0], plan.cell, spec, seed_text=text, line_count=count)
    passed = make_pass(rig, lanes, plan.cell, client, plan.manner)
    if passed is None:
        return measured
    probe = _client(rig, passed.driven, passed.driven.read(), plan.cell, passed.rows)
    window = replace(measured.window, probe_pass=probe)
    return replace(measured, window=window, files={**measured.files, **passed.files})


def _planned(rig: Rig, lane: Lane, plan: WindowPlan, number: int) -> ClientPlan:
    """Plan a client; the leading one has prompts for the whole load, should it be left with it."""
    spec, cell = plan.clients[number], plan.cell
    seed_text = " ".join([plan.seed_text, *([spec.role] if number else [])])
    line_count = spec.load.window_count if number else cell.load.window_count
    return plan_client(rig, lane, cell, spec, seed_text=seed_text, line_count=line_count)


def _warm_up(rig: Rig, lead: ClientPlan, plan: WindowPlan) -> None:
    """Run the warm-up that stands before a window by the leading client, with prompts of its own.

    Its results are thrown away. That of a rate runs into the window and is a part of its schedule.
    """
    if not lead.plan.load.warmup_before_count:
        return
    load = _warm_up_load(lead.plan.load)
    out = rig.scratch / "window" / "warmup"
    out.mkdir()
    bodies = out / "bodies.jsonl"
    make_bodies(bodies, plan.cell, load.window_count, f"{plan.seed_text} warm-up")
    warm = replace(lead.plan, load=load, bodies=bodies, out_dir=out, expected_s=10.0, ready=None)
    rig.supervisor.run(replace(lead.spec.driver.command(warm), deadline_s=30.0), cores=rig.driver_cores)


def _warm_up_load(load: Load) -> ClientsLoad:
    clients = max(1, min(load.connections, load.warmup_before_count, _WARMUP_CLIENTS))
    return ClientsLoad(
        clients=clients,
        request_count=max(1, load.warmup_before_count - clients),
        connections=clients,
        warmup_count=0,
        timeout_s=min(load.timeout_s, _WARMUP_TIMEOUT_S),
    )


def _client(
    rig: Rig, driven: Driven, found: tuple[ReportReading | None, str], cell: Cell, rows: ProviderRows
) -> Client:
    reading, problem = found
    spec = driven.client.spec
    return Client(
        role=spec.role,
        load=spec.load,
        record=driven.record(),
        killed=driven.ended.killed,
        wall_s=driven.ended.wall_s,
        cpu_cores=driven.cpu_cores,
        report=reading.report if reading else None,
        samples=reading.samples if reading else None,
        trace=_trace(reading, spec.load.left_out_count, cell, rows),
        streams=reading.open_streams if reading else None,
        sees_stamps=spec.driver.capabilities.sees_stamps,
        prompts_sha256=driven.client.bodies.sha256,
        problem=rig.without_folders(problem),
    )


def _trace(reading: ReportReading | None, trim_count: int, cell: Cell, rows: ProviderRows) -> Trace | None:
    if reading is None or reading.requests is None:
        return None
    return Trace(cell.mode, cell.answer, reading.requests, trim_count, reading.events, rows, reading.late_turns)


def _expected_repeats(driven: DrivenWindow) -> float:
    """Return the share of prompts that repeat an earlier one by the drivers' way of taking lines."""
    repeats = 0.0
    for one in driven.clients:
        if not one.client.spec.driver.capabilities.unique_prompts:
            drawn = one.client.plan.load.window_count
            repeats += one.client.bodies.expected_repeat_ratio(drawn) * drawn
    return repeats / driven.load.window_count


def _counts(
    rig: Rig, lane: Lane, provider: Mapping[str, Any], clients: Sequence[Client], expected_repeat: float
) -> Counts:
    control = rig.mocks.control_plane.ask("GET", "/counters")
    calls = {kind: int(count) for kind, count in control["calls"].items()}
    needs_control_plane = lane.setup.recipe.needs.control_plane
    reports = [client.report for client in clients]
    requests = int(provider["request_count"])
    distinct = int(provider["distinct_reference_count"])
    sent = _sum([report.sent_count if report else None for report in reports])
    referenced = requests - int(provider["unreferenced_count"])
    return Counts(
        client_sent_count=sent,
        client_answered_count=_sum([report.answered_count if report else None for report in reports]),
        client_success_count=_sum([_success_count(report) for report in reports]),
        provider_request_count=requests,
        provider_distinct_count=distinct,
        provider_aborted_count=int(provider["aborted_count"]),
        repeat_share_ratio=repeat_share(referenced, distinct, sent),
        expected_repeat_ratio=expected_repeat,
        control_plane_calls=calls if needs_control_plane else {},
        admission_call_count=int(control["admission_call_count"]),
        background_call_count=int(control["background_call_count"]),
    )


def repeat_share(referenced_count: int, distinct_count: int, sent_count: int | None) -> float:
    """Return the share of the prompts sent that repeat an earlier one, by what the provider received.

    What a gateway sent again is its own doing: of more received than sent only so many are prompts of ours.
    """
    ours = referenced_count if sent_count is None else min(referenced_count, sent_count)
    return max(0.0, 1 - distinct_count / ours) if ours else 0.0


def _success_count(report: LoadReport | None) -> int | None:
    return None if report is None else report.success_count


def _sum(counts: Sequence[int | None]) -> int | None:
    """Sum over the clients; None where one of them does not tell."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _kept(driven: DrivenWindow, records: bytes) -> dict[str, bytes]:
    """Return the clients' own files and arguments, and the provider's record of each request."""
    kept = {name: data for one in driven.clients for name, data in one.kept().items()}
    kept[PROVIDER_FILE] = records
    return kept
