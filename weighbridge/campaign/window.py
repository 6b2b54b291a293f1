"""One measured window of one cell: bodies, warm-up, load, drain, counters. Its result is judged by `attempt`."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weighbridge.campaign.costs import begin_costs
from weighbridge.campaign.diary import utc_now
from weighbridge.campaign.driving import Driven, Party, drive, driver_cores, make_bodies, seed_of
from weighbridge.campaign.rider import Riding, alight, board, plan_ride
from weighbridge.campaign.stage import Stage
from weighbridge.command import Ended
from weighbridge.load.bodies import BodyFacts
from weighbridge.load.driver import LoadPlan
from weighbridge.load.reading import Reading
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.loads import ClientsLoad, Load
from weighbridge.record.host import LoadReading
from weighbridge.record.load_report import LoadReport
from weighbridge.record.run import Counts, DriverRecord, Resources
from weighbridge.rig.lane import Drained, Lane

_JSON = ("content-type", "application/json")
_WARMUP_CLIENTS = 10
_RECORDS_A_PAGE = 5_000
# The provider's own record of each request of a window, as it is kept.
PROVIDER_FILE = "provider.csv"


@dataclass(frozen=True)
class Client:
    """One client at its end: its part of the load, how it ended, and its reading or why there is none."""

    load: Load
    driver: DriverRecord
    ended: Ended
    reading: Reading | None
    unreadable: str | None


@dataclass(frozen=True)
class Window:
    """Everything that one window left; `load` is the whole as driven, `rider` the probe that rode along."""

    load: Load
    started_at: str
    window_s: float
    main: Client
    rider: Client | None
    counts: Counts
    provider: Mapping[str, Any]
    resources: Resources
    drained: Drained
    death: str | None
    load_before: LoadReading
    load_after: LoadReading
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class _Driven:
    """Both clients at their end, and the load as it was driven."""

    load: Load
    started_at: str
    window_s: float
    main: Driven
    rider: Driven | None

    @property
    def clients(self) -> tuple[Driven, ...]:
        return (self.main,) if self.rider is None else (self.main, self.rider)

    @property
    def ended(self) -> Ended:
        """The driver's end with the CPU of both."""
        used = [one.ended.cpu_s for one in self.clients if one.ended.cpu_s is not None]
        return replace(self.main.ended, cpu_s=sum(used) if used else None)


def run_window(stage: Stage, lane: Lane, cell: Cell, seed_text: str) -> Window:
    """Drive one window of a cell through a lane that is up; raises LaneFailed when a mock fails."""
    folder = stage.scratch / "window"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    plan = _plan(stage, lane, cell, folder, seed_text)
    facts = make_bodies(plan.bodies, cell, cell.load.window_count, seed_text)
    _warm(stage, plan, cell, seed_text)
    beside = plan_ride(cell, plan, seed_text)
    stage.mocks.reset(cell.window_answer)
    before = stage.reading()
    costs = begin_costs(stage, lane)
    driven = _drive(stage, lane, cell, plan, beside)
    after = stage.reading()
    death = lane.death()
    drained = lane.drain()
    provider = stage.mocks.provider.ask("GET", "/counters")
    resources = costs.end(driven.ended, driven.window_s)
    main = _client(driven.main)
    rider = None if driven.rider is None else _client(driven.rider)
    both = (main,) if rider is None else (main, rider)
    return Window(
        load=driven.load,
        started_at=driven.started_at,
        window_s=driven.window_s,
        main=main,
        rider=rider,
        counts=_counts(stage, lane, provider, both, _expected_repeats(stage, driven.load, facts)),
        provider=provider,
        resources=resources,
        drained=drained,
        death=death,
        load_before=before,
        load_after=after,
        files=_kept(stage, driven) | lane.kept_files() | dict(stage.witness(lane)),
    )


def _plan(stage: Stage, lane: Lane, cell: Cell, folder: Path, seed_text: str) -> LoadPlan:
    out = folder / "out"
    out.mkdir()
    return LoadPlan(
        program=stage.request.tool.path,
        url=lane.url,
        mode=cell.mode,
        load=cell.load.parts()[0].load,
        headers=(*lane.headers, _JSON),
        secrets=stage.keys.all,
        bodies=folder / "bodies.jsonl",
        out_dir=out,
        expected_s=cell.load.expected_s(cell.answer, cell.mode),
        seed=seed_of(seed_text),
    )


def _warm(stage: Stage, plan: LoadPlan, cell: Cell, seed_text: str) -> None:
    """The cell's own warm-up, by the driver itself, with prompts of its own; its results are thrown away."""
    if plan.load.warmup_count < 1:
        return
    clients = max(1, min(plan.load.connections, plan.load.warmup_count, _WARMUP_CLIENTS))
    load = ClientsLoad(
        clients=clients,
        request_count=max(1, plan.load.warmup_count - clients),
        connections=clients,
        warmup_count=0,
        timeout_s=min(plan.load.timeout_s, 10.0),
    )
    out = plan.out_dir.parent / "warmup"
    out.mkdir()
    bodies = out / "bodies.jsonl"
    make_bodies(bodies, cell, load.window_count, f"{seed_text} warm-up")
    warm = replace(plan, load=load, bodies=bodies, out_dir=out, expected_s=10.0)
    stage.supervisor.run(replace(stage.request.driver.command(warm), deadline_s=30.0), cores=driver_cores(stage))


def _drive(stage: Stage, lane: Lane, cell: Cell, plan: LoadPlan, beside: LoadPlan | None) -> _Driven:
    """The probe's window first, where one rides along; without it the driver has the whole load."""
    riding = cell.load.no_companion if beside is None else board(stage, lane, beside)
    load = cell.load if isinstance(riding, Riding) else cell.load.without_companion(riding)
    main = load.parts()[0].load
    part = replace(plan, load=main, expected_s=main.expected_s(cell.answer, cell.mode))
    started_at, begun = utc_now(), time.monotonic()
    try:
        driven = drive(
            stage, Party(stage.request.driver, stage.request.tool.facts, part), lambda: stage.watch(lane, part)
        )
    except BaseException:
        if isinstance(riding, Riding):
            stage.supervisor.stop(riding.running.child)
        raise
    window_s = time.monotonic() - begun
    rider = alight(stage, riding, driven.ended) if isinstance(riding, Riding) else None
    return _Driven(load, started_at, window_s, driven, rider)


def _client(driven: Driven) -> Client:
    reading, unreadable = driven.read()
    return Client(driven.party.plan.load, driven.record(), driven.ended, reading, unreadable)


def _expected_repeats(stage: Stage, load: Load, facts: BodyFacts) -> float:
    """Share of prompts that repeat an earlier one by the drivers' way of taking lines; the probe repeats none."""
    if stage.request.driver.capabilities.unique_prompts:
        return 0.0
    drawn = load.parts()[0].load.window_count
    return facts.expected_repeat_ratio(drawn) * drawn / load.window_count


def _counts(
    stage: Stage, lane: Lane, provider: Mapping[str, Any], clients: Sequence[Client], expected_repeat: float
) -> Counts:
    control = stage.mocks.control_plane.ask("GET", "/counters")
    calls = {kind: int(count) for kind, count in control["calls"].items()}
    needs_control_plane = lane.setup.recipe.needs.control_plane
    reports = [None if one.reading is None else one.reading.report for one in clients]
    requests = int(provider["request_count"])
    distinct = int(provider["distinct_reference_count"])
    referenced = requests - int(provider["unreferenced_count"])
    return Counts(
        client_sent_count=_sum([report.sent_count if report else None for report in reports]),
        client_answered_count=_sum([report.answered_count if report else None for report in reports]),
        client_success_count=_sum([_success_count(report) for report in reports]),
        provider_request_count=requests,
        provider_distinct_count=distinct,
        provider_aborted_count=int(provider["aborted_count"]),
        repeat_share_ratio=1 - distinct / referenced if referenced else 0.0,
        expected_repeat_ratio=expected_repeat,
        control_plane_calls=calls if needs_control_plane else {},
        admission_call_count=int(control["admission_call_count"]),
        background_call_count=int(control["background_call_count"]),
    )


def _success_count(report: LoadReport | None) -> int | None:
    if report is None or report.answered_by_status is None:
        return None
    return sum(count for status, count in report.answered_by_status.items() if status.startswith("2"))


def _sum(counts: Sequence[int | None]) -> int | None:
    """Sum over the clients; None where one of them does not tell."""
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def _kept(stage: Stage, driven: _Driven) -> dict[str, bytes]:
    """The clients' own files and arguments, and the provider's record of each request."""
    kept = driven.main.kept("driver")
    if driven.rider is not None:
        kept |= driven.rider.kept("rider")
    kept[PROVIDER_FILE] = _records(stage)
    return kept


def _records(stage: Stage) -> bytes:
    """The provider's record of each request as CSV, asked for page by page."""
    lines: list[str] = []
    while True:
        page = stage.mocks.provider.ask("GET", f"/records?offset={max(0, len(lines) - 1)}&limit={_RECORDS_A_PAGE}")
        if not lines:
            lines.append(",".join(page["columns"]))
        lines += [",".join("" if value is None else str(value) for value in row) for row in page["rows"]]
        if len(lines) - 1 >= page["row_count"] or not page["rows"]:
            return ("\n".join(lines) + "\n").encode()
