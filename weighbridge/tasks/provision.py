"""Getting what a matrix needs: the load generator and the gateways, installed or found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.errors import ToolMissing
from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.recipe import Recipe
from weighbridge.record.coded import CampaignWarning
from weighbridge.record.progress import Listener
from weighbridge.rig.install.atomic_install import Installed, Tool, Workshop
from weighbridge.rig.install.gateway import find_gateway, obtain_gateway
from weighbridge.rig.install.toolbox import BUILT, Toolbox
from weighbridge.rig.processes.supervisor import Supervisor
from weighbridge.tasks import cli
from weighbridge.tasks.opened import Asked, Opened, open_matrix


@dataclass(frozen=True)
class Provisions:
    """The load generator, the gateways that can be had, and why the others cannot."""

    tool: Tool
    gateways: Mapping[str, Installed]
    unavailable: Mapping[str, str]


def used_recipes(opened: Opened) -> tuple[Recipe, ...]:
    """Recipes of the gateways that selected cells need, in the order of the cells."""
    ids = dict.fromkeys(cell.lane.gateway for cell in opened.cells if cell.not_supported is None)
    return tuple(recipe for name in ids if (recipe := opened.catalogue.get(name)) is not None)


def at_hand(asked: Asked, opened: Opened, *, compiles: bool) -> tuple[Opened, CampaignWarning | None]:
    """Return the matrix with the load generator that can be had, and a warning where it is not the matrix's.

    One that comes with us stands in for one that has to be built: at once when nothing may be compiled, else when
    there is nothing to build it with. A driver that was asked for by name is never replaced.
    """
    name, path_env = opened.loaded.matrix.driver, cli.environment().get("PATH", "")
    external = BUILT.get(name)
    if asked.driver or external is None:
        return opened, None
    found = external.search(Toolbox(cli.home()), path_env)
    if found.tool is not None or (compiles and external.can_be_built(path_env)):
        return opened, None
    how = f"`invoke install` builds {name}"
    if not external.can_be_built(path_env):
        how = f"{name} needs {external.builder} to be built"
    stand_in = next(driver.name for driver in DRIVERS.values() if isinstance(driver.program, Path))
    remark = f"{found.remark or f'{name} is not there'}, so the built-in {stand_in} drives; {how}"
    return open_matrix(replace(asked, driver=stand_in)), CampaignWarning(code="driver_replaced", detail=remark)


def provide(opened: Opened, listener: Listener, *, install: bool) -> Provisions:
    """Everything that the selected cells need. Raises ToolMissing when there is no load generator to be had."""
    environ = cli.environment()
    if not install:
        return _found(opened, environ)
    folder = cli.home()
    with Supervisor(folder / "run", search_path=environ["PATH"]) as supervisor:
        for sentence in supervisor.cleaned_up:
            listener.warning(sentence)
        workshop = Workshop(runner=supervisor, report=listener.phase, environ=environ)
        driver = DRIVERS[opened.loaded.matrix.driver]
        tool = Toolbox(folder).obtain(driver.name, driver.program, workshop)
        gateways, unavailable = {}, {}
        for recipe in used_recipes(opened):
            try:
                gateways[recipe.id] = obtain_gateway(recipe, folder, workshop)
            except ToolMissing as error:
                unavailable[recipe.id] = str(error)
                listener.warning(f"{recipe.name} is unavailable: {error}")
    return Provisions(tool, gateways, unavailable)


def _found(opened: Opened, environ: Mapping[str, str]) -> Provisions:
    driver = DRIVERS[opened.loaded.matrix.driver]
    tool = Toolbox(cli.home()).find(driver.name, driver.program, environ["PATH"])
    gateways, unavailable = {}, {}
    for recipe in used_recipes(opened):
        try:
            gateways[recipe.id] = find_gateway(recipe, cli.home(), environ)
        except ToolMissing as error:
            unavailable[recipe.id] = str(error)
    return Provisions(tool, gateways, unavailable)
