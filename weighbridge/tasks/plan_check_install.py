"""`plan`, `check` and `install`: what can be done before anything is measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from weighbridge import units
from weighbridge.errors import InputError, ToolMissing
from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.advice import advise
from weighbridge.matrix.estimate import estimate_order
from weighbridge.matrix.order import order_blocks
from weighbridge.matrix.suggest import nearest
from weighbridge.publish.terminal.progress import ConsoleListener
from weighbridge.publish.terminal.terminal import PlanFacts, plan_text
from weighbridge.rig.install.atomic_install import Workshop
from weighbridge.rig.install.gateway import find_gateway, obtain_gateway
from weighbridge.rig.install.toolbox import BUILT, Toolbox
from weighbridge.rig.machine.host import read_host
from weighbridge.rig.processes.signals import StopSignals
from weighbridge.rig.processes.supervisor import Supervisor
from weighbridge.tasks import cli
from weighbridge.tasks.opened import Asked, open_matrix
from weighbridge.tasks.provision import used_recipes


def plan(*, matrix: str, recipes: str, quick: bool, only: Any, runs: str) -> None:
    """Print cells, order, minutes and megabytes."""
    wanted = cli.number("runs", runs, units.parse_count)
    opened = open_matrix(Asked(matrix, recipes, quick, tuple(only or ()), wanted))
    document = opened.loaded.matrix
    blocks = order_blocks([cell for cell in opened.cells if cell.not_supported is None], document.runs, document.seed)
    look_s = opened.loaded.idle_look_s
    expected = estimate_order(blocks, opened.loaded.waits)
    beside = document.calibration
    cli.say(
        plan_text(
            PlanFacts(
                cells=opened.cells,
                blocks=blocks,
                seconds=expected.seconds + (beside.estimated_s + beside.idle_look_count * look_s if beside else 0.0),
                written_bytes=expected.bytes,
                window_count=expected.window_count + (beside.window_count if beside else 0),
                warnings=[one.text for one in advise(opened.loaded, opened.cells)],
            )
        )
    )


def check(*, matrix: str, recipes: str, quick: bool) -> None:
    """Validate matrix, recipes, tools and host."""
    opened = open_matrix(Asked(matrix, recipes, quick))
    environ = cli.environment()
    cli.say(f"matrix     {opened.loaded.path}: {len(opened.cells)} cells")
    driver = opened.loaded.matrix.driver
    try:
        found = Toolbox(cli.home()).find(driver, DRIVERS[driver].program, environ["PATH"])
        cli.say(f"{driver:<10} {found.facts.version}")
    except ToolMissing as error:
        cli.say(f"{driver:<10} {error}")
    for recipe in used_recipes(opened):
        if recipe.start is None:
            continue  # the baseline: nothing to get
        try:
            state = f"{find_gateway(recipe, cli.home(), environ).facts.version or 'version unknown'}"
        except ToolMissing as error:
            state = str(error)
        cli.say(f"gateway    {recipe.id}: {state}")
    host = read_host()
    cli.say(f"host       {host.os}, {host.kernel}, {host.cpu_count} CPUs")
    for one in advise(opened.loaded, opened.cells):
        cli.say(f"warning: {one.text}")


def install(*, matrix: str, recipes: str, only: Any) -> None:
    """Get the tools and gateways that a matrix needs."""
    opened = open_matrix(Asked(matrix, recipes))
    wanted = {recipe.id: recipe for recipe in used_recipes(opened)}
    driver = opened.loaded.matrix.driver
    known = (*dict.fromkeys((driver, *BUILT)), *wanted)
    asked = tuple(only or ()) or (driver, *wanted)
    for name in asked:
        if name not in known:
            raise InputError(
                f"--only: {name} is not used by this matrix",
                expected=f"expected one of {', '.join(known)}",
                suggestion=nearest(name, known) or "",
            )
    environ, folder = cli.environment(), cli.home()
    with (
        StopSignals(),
        ConsoleListener(sys.stderr) as listener,
        Supervisor(folder / "run", search_path=environ["PATH"]) as supervisor,
    ):
        for sentence in supervisor.cleaned_up:
            listener.warning(sentence)
        workshop = Workshop(runner=supervisor, report=listener.phase, environ=environ, mends=True)
        lines = [_installed(name, wanted, folder, workshop) for name in asked]
    for line in lines:
        cli.say(line)


def _installed(name: str, wanted: dict[str, Any], folder: Path, workshop: Workshop) -> str:
    driver, toolbox = DRIVERS.get(name), Toolbox(folder)
    if driver is not None:
        facts = toolbox.obtain(name, driver.program, workshop).facts
    else:
        facts = obtain_gateway(wanted[name], folder, workshop).facts
    return f"{name:<12} {facts.version or 'version unknown'} ({facts.source})"
