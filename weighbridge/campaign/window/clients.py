"""The clients of a window: planned, begun beside each other, and followed to their ends.

The first client leads: the others are begun before it and are ready when its window opens, and its end ends the
window. One that cannot begin leaves its part to the leading client where it may, with the reason; one that fails
later has taken its part of the load with it, and is judged.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.campaign.event_log import utc_now
from weighbridge.command import Command, Ended
from weighbridge.dialects.media_type import JSON_HEADER
from weighbridge.errors import InputError, LaneFailed, ToolMissing
from weighbridge.load.contract.bodies import BodyFacts, BodyPlan, write_bodies
from weighbridge.load.contract.driver import Driver, LoadPlan
from weighbridge.load.contract.reading import ReportReading
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.loads import Load
from weighbridge.record.host import ToolFacts
from weighbridge.record.run import DriverRecord
from weighbridge.rig.install.atomic_install import Tool
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.mocks import MODEL
from weighbridge.rig.lanes.rig import Rig
from weighbridge.rig.processes.child import Running
from weighbridge.rig.processes.logs import clean

Look = Callable[[LoadPlan], None]

_CLIENT_READY_WITHIN_S = 20.0
_LOOK_S = 0.005
_CPU_WINDOW_S = 5.0


def look_at_nothing(_plan: LoadPlan) -> None:
    """Do nothing while a client drives."""


@dataclass(frozen=True)
class ClientSpec:
    """A client: its role, which names the folder of what it leaves, its program and its part of the load.

    `look` is called about ten times per second while the window is driven. Of an optional one the window does
    without. It is interrupted after `at_most_s`, where that is given.
    """

    role: str
    driver: Driver
    tool: Tool
    load: Load
    is_optional: bool = False
    look: Look = look_at_nothing
    at_most_s: float | None = None


@dataclass(frozen=True)
class ClientPlan:
    """A client with the plan of its window; its prompts are written, as `bodies` tells."""

    spec: ClientSpec
    plan: LoadPlan
    bodies: BodyFacts

    def with_load(self, load: Load, expected_s: float) -> ClientPlan:
        """Return the same client with another part of the load."""
        return replace(
            self, spec=replace(self.spec, load=load), plan=replace(self.plan, load=load, expected_s=expected_s)
        )


@dataclass(frozen=True)
class Driven:
    """A client whose program has ended."""

    client: ClientPlan
    argv: tuple[str, ...]
    secrets: tuple[str, ...]
    ended: Ended

    @property
    def tool(self) -> ToolFacts:
        """Which program it was."""
        return self.client.spec.tool.facts

    @property
    def cpu_cores(self) -> float | None:
        """CPU that it took, in cores; None of a window so short that the program's own start is too large a part."""
        ended = self.ended
        return ended.cpu_s / ended.wall_s if ended.cpu_s is not None and ended.wall_s >= _CPU_WINDOW_S else None

    def read(self) -> tuple[ReportReading | None, str]:
        """Return the load report, or none and the sentence why."""
        driver, ended = self.client.spec.driver, self.ended
        left = driver.outputs(self.client.plan, ended.exit_code, ended.stderr)
        try:
            return driver.read(replace(left, tool_version=self.tool.version)), ""
        except InputError as error:
            return None, _with_last_error(error.problem, clean(ended.stderr, self.secrets))

    def record(self) -> DriverRecord:
        """Return which program drove and how it was called."""
        return DriverRecord(tool=self.tool, argv=self._masked(), exit_code=self.ended.exit_code, cut=self.ended.cut)

    def kept(self) -> dict[str, bytes]:
        """Return its own files and arguments, by their names below the folder of its role."""
        folder, out = self.client.spec.role, self.client.plan.out_dir
        kept = {f"{folder}/{path.name}": path.read_bytes() for path in sorted(out.iterdir()) if path.is_file()}
        kept[f"{folder}/argv.txt"] = ("\n".join(self._masked()) + "\n").encode()
        if self.ended.stderr:
            kept[f"{folder}/stderr.txt"] = clean(self.ended.stderr, self.secrets).encode()
        return kept

    def _masked(self) -> tuple[str, ...]:
        """Return the arguments without secrets and without the folders of this machine."""
        out = self.client.plan.out_dir
        shown = (clean(argument.encode(), self.secrets).strip("\n") for argument in self.argv[1:])
        shortened = (text.replace(str(out), "OUT").replace(str(out.parent), "WINDOW") for text in shown)
        return (Path(self.argv[0]).name, *shortened)


@dataclass(frozen=True)
class DrivenWindow:
    """All clients at their ends, and the load as it was driven: without a client that could not begin."""

    load: Load
    started_at: str
    window_s: float
    clients: tuple[Driven, ...]

    @property
    def ended(self) -> Ended:
        """The leading client's end with the CPU of all."""
        used = [one.ended.cpu_s for one in self.clients if one.ended.cpu_s is not None]
        return replace(self.clients[0].ended, cpu_s=sum(used) if used else None)


@dataclass(frozen=True)
class _StartedClient:
    client: ClientPlan
    command: Command
    running: Running


class _NotBegun(Exception):
    """A client that could not begin."""

    def __init__(self, client: ClientPlan, text: str) -> None:
        super().__init__(text)
        self.client = client


def plan_client(rig: Rig, lane: Lane, cell: Cell, spec: ClientSpec, *, seed_text: str, line_count: int) -> ClientPlan:
    """Plan a client's part of a window, in a folder of its own, with prompts that no other client has."""
    folder = rig.scratch / "window" / spec.role
    out = folder / "out"
    out.mkdir(parents=True)
    bodies = folder / "bodies.jsonl"
    facts = make_bodies(bodies, cell, line_count, seed_text)
    plan = LoadPlan(
        program=spec.tool.path,
        url=lane.url,
        mode=cell.mode,
        load=spec.load,
        headers=(*lane.headers, JSON_HEADER),
        secrets=rig.keys.all,
        bodies=bodies,
        out_dir=out,
        expected_s=spec.load.expected_s(cell.answer, cell.mode),
        seed=seed_of(seed_text),
        ready=folder / "ready",
        overhead_header=lane.setup.recipe.overhead_header,
    )
    return ClientPlan(spec, plan, facts)


def drive(rig: Rig, lanes: Sequence[Lane], cell: Cell, clients: Sequence[ClientPlan]) -> DrivenWindow:
    """Drive a window by all of its clients; raises LaneFailed where one that it needs cannot begin."""
    load, planned, begun = cell.load, list(clients), list[_StartedClient]()
    try:
        for client in planned[1:]:
            try:
                begun.append(_begin_ready(rig, client, lanes))
            except _NotBegun as problem:
                if not client.spec.is_optional:
                    raise LaneFailed(str(problem), reason="generator_failed", phase="window") from problem
                load = load.without_companion(rig.without_folders(str(problem)))
                part = load.parts()[0].load
                planned[0] = planned[0].with_load(part, part.expected_s(cell.answer, cell.mode))
        started_at, opened = utc_now(), time.monotonic()
        begun.insert(0, _begin(rig, planned[0]))
        looks = [one.client for one in begun]
        lead = rig.supervisor.finish(begun[0].running, watch=lambda: _watch(lanes, looks))
        window_s = time.monotonic() - opened
        stops = lead.cut or lead.killed or lead.exit_code != 0
        ends = [lead, *(_finish(rig, lanes, one, looks, stops=stops) for one in begun[1:])]
    except BaseException:
        for left in begun:
            rig.supervisor.stop(left.running.child)
        raise
    driven = tuple(
        Driven(one.client, one.command.argv, (*one.command.secrets, *rig.keys.all), ended)
        for one, ended in zip(begun, ends, strict=True)
    )
    return DrivenWindow(load, started_at, window_s, driven)


def make_bodies(path: Path, cell: Cell, request_count: int, seed_text: str) -> BodyFacts:
    """Write the prompts of a seed, which no other window of the same lane has."""
    return write_bodies(path, BodyPlan(cell.payload, cell.mode, MODEL, request_count, seed_of(seed_text)))


def seed_of(seed_text: str) -> int:
    """Return a seed of its own for each text."""
    return int.from_bytes(hashlib.sha256(seed_text.encode()).digest()[:8])


def _begin(rig: Rig, client: ClientPlan) -> _StartedClient:
    command = client.spec.driver.command(client.plan)
    if client.spec.at_most_s is not None:
        command = replace(command, cut_after_s=client.spec.at_most_s)
    return _StartedClient(client, command, rig.supervisor.begin(command, cores=rig.driver_cores))


def _begin_ready(rig: Rig, client: ClientPlan, lanes: Sequence[Lane]) -> _StartedClient:
    """Begin a client and wait until its window is open."""
    who = f"the {client.spec.role} client"
    try:
        begun = _begin(rig, client)
    except (InputError, ToolMissing) as error:
        raise _NotBegun(client, f"{who} could not be started: {error}") from error
    if _is_ready(begun, lanes):
        return begun
    ended = rig.supervisor.finish(begun.running, watch=lambda: "it is not ready")
    lines = [line for line in ended.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    how = f"exit status {ended.exit_code}" + (f", {lines[-1].strip()[:200]}" if lines else "")
    raise _NotBegun(client, f"{who} did not get ready ({how})")


def _is_ready(begun: _StartedClient, lanes: Sequence[Lane]) -> bool:
    deadline, ready = time.monotonic() + _CLIENT_READY_WITHIN_S, begun.client.plan.ready
    while time.monotonic() < deadline and begun.running.child.alive() and not death_of(lanes):
        if ready is not None and ready.exists():
            return True
        time.sleep(_LOOK_S)
    return False


def _finish(
    rig: Rig, lanes: Sequence[Lane], begun: _StartedClient, looks: Sequence[ClientPlan], *, stops: bool
) -> Ended:
    """Follow a client to its end; it is stopped at once where the leading one did not come to a good end."""
    watch = (lambda: "the leading client has ended") if stops else (lambda: _watch(lanes, looks))
    return rig.supervisor.finish(begun.running, watch=watch)


def _watch(lanes: Sequence[Lane], clients: Sequence[ClientPlan]) -> str | None:
    """Return how a gateway ended; while all live nothing, and each client's look is taken."""
    death = death_of(lanes)
    if death is None:
        for client in clients:
            client.spec.look(client.plan)
    return death


def death_of(lanes: Sequence[Lane]) -> str | None:
    """Return how the first gateway that ended did so; None while all live."""
    return next((death for lane in lanes if (death := lane.death()) is not None), None)


def _with_last_error(problem: str, stderr: str) -> str:
    """Tell why there is no report, with the generator's own first error where the problem does not tell it yet."""
    errors = [line.strip() for line in stderr.splitlines() if line.strip().lower().startswith("error")]
    return f"{problem}; its stderr: {errors[0][:200]}" if errors and errors[0] not in problem else problem
