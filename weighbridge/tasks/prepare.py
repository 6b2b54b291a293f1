"""`plan`, `check` and `install`: what can be done before anything is measured."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from invoke.context import Context
from invoke.tasks import task

from weighbridge import units
from weighbridge.errors import InputError, ToolMissing
from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.advice import advise
from weighbridge.matrix.estimate import estimate
from weighbridge.matrix.order import order_blocks
from weighbridge.matrix.suggest import nearest
from weighbridge.publish.progress import ConsoleListener
from weighbridge.publish.terminal import PlanFacts, plan_text
from weighbridge.rig.host import read_host
from weighbridge.rig.installing import Workshop
from weighbridge.rig.obtain import find_gateway, obtain_gateway
from weighbridge.rig.signals import StopSignals
from weighbridge.rig.supervisor import Supervisor
from weighbridge.rig.tools import BUILT, Toolbox
from weighbridge.tasks import front
from weighbridge.tasks.provision import used_recipes


@task(
    auto_shortflags=False,
    iterable=["only"],
    help={
        "matrix": front.MATRIX_HELP,
        "recipes": front.RECIPES_HELP,
        "quick": "plan what bench --quick would do",
        "only": front.ONLY_HELP,
        "runs": "accepted runs wanted of each cell, instead of the matrix's",
    },
)
@front.guarded
def plan(
    _: Context, matrix: str = "", recipes: str = "", quick: bool = False, only: Any = None, runs: str = ""
) -> None:
    """Print cells, order, minutes and megabytes."""
    wanted = front.number("runs", runs, units.parse_count)
    opened = front.open_matrix(front.Asked(matrix, recipes, quick, tuple(only or ()), wanted))
    document = opened.loaded.matrix
    blocks = order_blocks([cell for cell in opened.cells if cell.not_supported is None], document.runs, document.seed)
    expected = estimate(opened.cells, document.runs)
    beside = document.calibration
    front.say(
        plan_text(
            PlanFacts(
                cells=opened.cells,
                blocks=blocks,
                seconds=expected.seconds + (beside.estimated_s if beside else 0.0),
                written_bytes=expected.bytes,
                window_count=expected.window_count + (beside.window_count if beside else 0),
                warnings=[one.text for one in advise(opened.loaded, opened.cells)],
            )
        )
    )


@task(
    auto_shortflags=False,
    help={"matrix": front.MATRIX_HELP, "recipes": front.RECIPES_HELP, "quick": "check what bench --quick needs"},
)
@front.guarded
def check(_: Context, matrix: str = "", recipes: str = "", quick: bool = False) -> None:
    """Validate matrix, recipes, tools and host."""
    opened = front.open_matrix(front.Asked(matrix, recipes, quick))
    environ = front.environment()
    front.say(f"matrix     {opened.loaded.path}: {len(opened.cells)} cells")
    driver = opened.loaded.matrix.driver
    try:
        found = Toolbox(front.home()).find(driver, DRIVERS[driver].program, environ["PATH"])
        front.say(f"{driver:<10} {found.facts.version}")
    except ToolMissing as error:
        front.say(f"{driver:<10} {error}")
    for recipe in used_recipes(opened):
        if recipe.start is None:
            continue  # the floor: nothing to get
        try:
            said = f"{find_gateway(recipe, front.home(), environ).facts.version or 'version unknown'}"
        except ToolMissing as error:
            said = str(error)
        front.say(f"gateway    {recipe.id}: {said}")
    host = read_host()
    front.say(f"host       {host.os}, {host.kernel}, {host.cpu_count} CPUs")
    for one in advise(opened.loaded, opened.cells):
        front.say(f"warning: {one.text}")


@task(
    auto_shortflags=False,
    iterable=["only"],
    help={
        "matrix": front.MATRIX_HELP,
        "recipes": front.RECIPES_HELP,
        "only": "gateway id or driver, repeatable; default: all that the matrix needs",
    },
)
@front.guarded
def install(_: Context, matrix: str = "", recipes: str = "", only: Any = None) -> None:
    """Get the tools and gateways that a matrix needs."""
    opened = front.open_matrix(front.Asked(matrix, recipes))
    wanted = {recipe.id: recipe for recipe in used_recipes(opened)}
    driver = opened.loaded.matrix.driver
    known = (*dict.fromkeys((driver, *BUILT)), *wanted)
    asked = tuple(only or ()) or (driver, *wanted)
    for name in asked:
        if name not in known:
            raise InputError(
                f"--only: {name} is nothing that this matrix needs",
                expected=f"expected one of {', '.join(known)}",
                suggestion=nearest(name, known) or "",
            )
    environ, folder = front.environment(), front.home()
    with (
        StopSignals(),
        ConsoleListener(sys.stderr) as listener,
        Supervisor(folder / "run", search_path=environ["PATH"]) as supervisor,
    ):
        for sentence in supervisor.swept:
            listener.warning(sentence)
        workshop = Workshop(runner=supervisor, tell=listener.phase, environ=environ)
        lines = [_installed(name, wanted, folder, workshop) for name in asked]
    for line in lines:
        front.say(line)


def _installed(name: str, wanted: dict[str, Any], folder: Path, workshop: Workshop) -> str:
    driver, toolbox = DRIVERS.get(name), Toolbox(folder)
    if driver is not None:
        facts = toolbox.obtain(name, driver.program, workshop).facts
    else:
        facts = obtain_gateway(wanted[name], folder, workshop).facts
    return f"{name:<12} {facts.version or 'version unknown'} ({facts.source})"
