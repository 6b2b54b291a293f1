"""The probe that rides along beside oha or wrk: started first, finished after the driver, read like any client.

Called by `window`. A probe that cannot get ready leaves the whole rate to the driver, with a reason; one that fails
later has taken its part of the load with it, and is judged.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.campaign.driving import Driven, Party, driven_by, driver_cores, make_bodies, seed_of
from weighbridge.campaign.planning import driver_tool
from weighbridge.campaign.stage import Stage
from weighbridge.command import Command, Ended
from weighbridge.errors import InputError, ToolMissing
from weighbridge.load.driver import LoadPlan
from weighbridge.load.drivers import DRIVERS, STAMP_READER
from weighbridge.matrix.cells import Cell
from weighbridge.rig.lane import Lane
from weighbridge.rig.services import Running

_READY_WITHIN_S = 20.0
_LOOK_S = 0.005
_FOLDER = "rider"


@dataclass(frozen=True)
class Riding:
    """A probe whose window is open."""

    party: Party
    command: Command
    running: Running


def plan_ride(cell: Cell, plan: LoadPlan, seed_text: str) -> LoadPlan | None:
    """What the probe is to drive beside `plan`, with prompts and a seed of its own; None where none rides along."""
    load = next((part.load for part in cell.load.parts() if part.role == "companion"), None)
    if load is None:
        return None
    folder = plan.out_dir.parent / _FOLDER
    out = folder / "out"
    out.mkdir(parents=True)
    name = f"{seed_text} rider"
    bodies = folder / "bodies.jsonl"
    make_bodies(bodies, cell, load.window_count, name)
    return replace(
        plan,
        load=load,
        bodies=bodies,
        out_dir=out,
        expected_s=load.expected_s(cell.answer, cell.mode),
        seed=seed_of(name),
        ready=folder / "ready",
    )


def board(stage: Stage, lane: Lane, plan: LoadPlan) -> Riding | str:
    """The probe with its window open, or why it cannot ride."""
    party = Party(DRIVERS[STAMP_READER], driver_tool(STAMP_READER).facts, plan)
    try:
        command = party.command()
        running = stage.supervisor.begin(command, cores=driver_cores(stage))
    except (InputError, ToolMissing) as error:
        return f"the probe that should ride along could not be started: {error}"
    if _is_ready(running, plan.ready, lane):
        return Riding(party, command, running)
    ended = stage.supervisor.finish(running, watch=lambda: "it is not ready")
    said = [line for line in ended.stderr.decode("utf-8", "replace").splitlines() if line.strip()]
    how = f"exit status {ended.exit_code}" + (f", {said[-1].strip()[:200]}" if said else "")
    return stage.without_folders(f"the probe that should ride along did not get ready ({how})")


def alight(stage: Stage, riding: Riding, driver: Ended) -> Driven:
    """The probe at its end; it is stopped at once where the driver did not come to a good end of its own."""
    stops = driver.cut or driver.killed or driver.exit_code != 0
    watch = (lambda: "the driver has ended") if stops else None
    ended = stage.supervisor.finish(riding.running, watch=watch)
    return driven_by(stage, riding.party, riding.command, ended)


def _is_ready(running: Running, ready: Path | None, lane: Lane) -> bool:
    deadline = time.monotonic() + _READY_WITHIN_S
    while time.monotonic() < deadline and running.child.alive() and lane.death() is None:
        if ready is not None and ready.exists():
            return True
        time.sleep(_LOOK_S)
    return False
