"""One measured window of one cell: bodies, warm-up, load, drain, counters. Its result is judged by `attempt`."""

from __future__ import annotations

import hashlib
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from weighbridge.campaign.costs import begin_costs
from weighbridge.campaign.diary import utc_now
from weighbridge.campaign.stage import Stage
from weighbridge.command import Ended
from weighbridge.errors import InputError
from weighbridge.load.bodies import BodyFacts, BodyPlan, write_bodies
from weighbridge.load.driver import LoadPlan, Reading
from weighbridge.matrix.cells import Cell, LoadSpec
from weighbridge.record.host import LoadReading
from weighbridge.record.run import Counts, DriverRecord, Resources
from weighbridge.rig.lane import MODEL, Drained, Lane
from weighbridge.rig.tail import clean

_JSON = ("content-type", "application/json")
_WARMUP_CLIENTS = 10
_RECORDS_A_PAGE = 5_000
# The provider's own record of each request of a window, as it is kept.
PROVIDER_FILE = "provider.csv"


@dataclass(frozen=True)
class Window:
    """Everything that one window left."""

    started_at: str
    window_s: float
    driver: DriverRecord
    ended: Ended
    reading: Reading | None
    unreadable: str | None
    counts: Counts
    provider: Mapping[str, Any]
    resources: Resources
    drained: Drained
    death: str | None
    load_before: LoadReading
    load_after: LoadReading
    files: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True)
class Driven:
    """How the load generator was run and what it left behind."""

    plan: LoadPlan
    argv: tuple[str, ...]
    secrets: tuple[str, ...]
    ended: Ended


def run_window(stage: Stage, lane: Lane, cell: Cell, seed_text: str) -> Window:
    """Drive one window of a cell through a lane that is up; raises LaneFailed when a mock fails."""
    folder = stage.scratch / "window"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    plan = _plan(stage, lane, cell, folder, seed_text)
    facts = _bodies(plan.bodies, cell, cell.load.window_count, seed_text)
    _warm(stage, plan, cell, seed_text)
    stage.mocks.reset(cell.answer)
    before = stage.reading()
    costs = begin_costs(stage, lane)
    started_at, begun = utc_now(), time.monotonic()
    driven = _drive(stage, plan, lane.death)
    window_s = time.monotonic() - begun
    after = stage.reading()
    death = lane.death()
    drained = lane.drain()
    provider = stage.mocks.provider.ask("GET", "/counters")
    resources = costs.end(driven.ended, window_s)
    reading, unreadable = _read(stage, driven)
    return Window(
        started_at=started_at,
        window_s=window_s,
        driver=_driver_record(stage, driven),
        ended=driven.ended,
        reading=reading,
        unreadable=unreadable,
        counts=_counts(stage, lane, provider, reading, _expected_repeats(stage, cell, facts)),
        provider=provider,
        resources=resources,
        drained=drained,
        death=death,
        load_before=before,
        load_after=after,
        files=_kept(stage, driven) | lane.kept_files() | dict(stage.witness(lane)),
    )


def _bodies(path: Path, cell: Cell, request_count: int, seed_text: str) -> BodyFacts:
    """Prompts that no other window has: the seed is made of the matrix's and of the attempt's own name."""
    return write_bodies(path, BodyPlan(cell.payload, cell.mode, MODEL, request_count, _seed(seed_text)))


def _seed(seed_text: str) -> int:
    """A seed of its own for each name."""
    return int.from_bytes(hashlib.sha256(seed_text.encode()).digest()[:8])


def _plan(stage: Stage, lane: Lane, cell: Cell, folder: Path, seed_text: str) -> LoadPlan:
    out = folder / "out"
    out.mkdir()
    return LoadPlan(
        program=stage.request.tool.path,
        url=lane.url,
        mode=cell.mode,
        load=cell.load,
        headers=(*lane.headers, _JSON),
        secrets=stage.keys.all,
        bodies=folder / "bodies.jsonl",
        out_dir=out,
        expected_s=cell.load.expected_s(cell.answer, cell.mode),
        seed=_seed(seed_text),
    )


def _warm(stage: Stage, plan: LoadPlan, cell: Cell, seed_text: str) -> None:
    """The cell's own warm-up, by the driver itself, with prompts of its own; its results are thrown away."""
    if plan.load.warmup_count < 1:
        return
    clients = max(1, min(plan.load.connections, plan.load.warmup_count, _WARMUP_CLIENTS))
    load = LoadSpec(
        kind="clients",
        rate_rps=None,
        clients=clients,
        duration_s=None,
        request_count=max(1, plan.load.warmup_count - clients),
        connections=clients,
        warmup_count=0,
        timeout_s=min(plan.load.timeout_s, 10.0),
    )
    out = plan.out_dir.parent / "warmup"
    out.mkdir()
    bodies = out / "bodies.jsonl"
    _bodies(bodies, cell, load.window_count, f"{seed_text} warm-up")
    warm = replace(plan, load=load, bodies=bodies, out_dir=out, expected_s=10.0)
    stage.supervisor.run(replace(stage.request.driver.command(warm), deadline_s=30.0), cores=_driver_cores(stage))


def _drive(stage: Stage, plan: LoadPlan, watch: Callable[[], str | None]) -> Driven:
    command = stage.request.driver.command(plan)
    ended = stage.supervisor.run(command, watch=watch, cores=_driver_cores(stage))
    return Driven(plan=plan, argv=command.argv, secrets=(*command.secrets, *stage.keys.all), ended=ended)


def _driver_cores(stage: Stage) -> tuple[int, ...] | None:
    return stage.cpus.driver if stage.cpus else None


def _read(stage: Stage, driven: Driven) -> tuple[Reading | None, str | None]:
    """The load report of the window, or the sentence why there is none."""
    driver = stage.request.driver
    left = driver.outputs(driven.plan, driven.ended.exit_code, driven.ended.stderr)
    outputs = replace(left, tool_version=stage.request.tool.facts.version)
    try:
        return driver.read(outputs), None
    except InputError as error:
        return None, _with_last_words(error.problem, clean(driven.ended.stderr, driven.secrets))


def _with_last_words(problem: str, said: str) -> str:
    """Why there is no report, with the generator's own first error where the problem does not tell it yet."""
    errors = [line.strip() for line in said.splitlines() if line.strip().lower().startswith("error")]
    return f"{problem}; it said: {errors[0][:200]}" if errors and errors[0] not in problem else problem


def _driver_record(stage: Stage, driven: Driven) -> DriverRecord:
    return DriverRecord(
        tool=stage.request.tool.facts,
        argv=_masked(driven),
        exit_code=driven.ended.exit_code,
        cut=driven.ended.cut,
    )


def _masked(driven: Driven) -> tuple[str, ...]:
    """Arguments without secrets and without the folders of this machine."""
    folder = str(driven.plan.out_dir)
    shown = (clean(argument.encode(), driven.secrets).strip("\n") for argument in driven.argv[1:])
    shortened = (text.replace(folder, "OUT").replace(str(driven.plan.out_dir.parent), "WINDOW") for text in shown)
    return (Path(driven.argv[0]).name, *shortened)


def _expected_repeats(stage: Stage, cell: Cell, facts: BodyFacts) -> float:
    """Share of prompts that repeat an earlier one by the driver's way of taking lines."""
    if stage.request.driver.capabilities.unique_prompts:
        return 0.0
    return facts.expected_repeat_ratio(cell.load.window_count)


def _counts(
    stage: Stage, lane: Lane, provider: Mapping[str, Any], reading: Reading | None, expected_repeat: float
) -> Counts:
    control = stage.mocks.control_plane.ask("GET", "/counters")
    calls = {kind: int(count) for kind, count in control["calls"].items()}
    needs_control_plane = lane.setup.recipe.needs.control_plane
    report = reading.report if reading else None
    success = None
    if report is not None and report.answered_by_status is not None:
        success = sum(count for status, count in report.answered_by_status.items() if status.startswith("2"))
    requests = int(provider["request_count"])
    distinct = int(provider["distinct_reference_count"])
    referenced = requests - int(provider["unreferenced_count"])
    return Counts(
        client_sent_count=report.sent_count if report else None,
        client_answered_count=report.answered_count if report else None,
        client_success_count=success,
        provider_request_count=requests,
        provider_distinct_count=distinct,
        provider_aborted_count=int(provider["aborted_count"]),
        repeat_share_ratio=1 - distinct / referenced if referenced else 0.0,
        expected_repeat_ratio=expected_repeat,
        control_plane_calls=calls if needs_control_plane else {},
        admission_call_count=int(control["admission_call_count"]),
        background_call_count=int(control["background_call_count"]),
    )


def _kept(stage: Stage, driven: Driven) -> dict[str, bytes]:
    """The driver's own files and arguments, and the provider's record of each request."""
    kept = {
        f"driver/{path.name}": path.read_bytes() for path in sorted(driven.plan.out_dir.iterdir()) if path.is_file()
    }
    kept["driver/argv.txt"] = ("\n".join(_masked(driven)) + "\n").encode()
    if driven.ended.stderr:
        kept["driver/stderr.txt"] = clean(driven.ended.stderr, driven.secrets).encode()
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
