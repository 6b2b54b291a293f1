"""Getting what a matrix needs: the load generator and the gateways, installed or found. Used by several tasks."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from weighbridge.campaign.listener import Listener
from weighbridge.errors import ToolMissing
from weighbridge.load.probe_driver import PROGRAM_FOLDER
from weighbridge.matrix.recipe import Recipe
from weighbridge.record.coded import CampaignWarning
from weighbridge.rig.installing import Installed, Tool, Workshop
from weighbridge.rig.obtain import find_gateway, obtain_gateway
from weighbridge.rig.probe_tool import find_probe
from weighbridge.rig.supervisor import Supervisor
from weighbridge.rig.tools import Toolbox
from weighbridge.tasks import front


@dataclass(frozen=True)
class Provisions:
    """The load generator, the gateways that can be had, and why the others cannot."""

    tool: Tool
    gateways: Mapping[str, Installed]
    unavailable: Mapping[str, str]


def used_recipes(opened: front.Opened) -> tuple[Recipe, ...]:
    """Recipes of the gateways that selected cells need, in the order of the cells."""
    ids = dict.fromkeys(cell.lane.gateway for cell in opened.cells if cell.not_supported is None)
    return tuple(recipe for name in ids if (recipe := opened.catalogue.get(name)) is not None)


def at_hand(
    asked: front.Asked, opened: front.Opened, *, compiles: bool
) -> tuple[front.Opened, CampaignWarning | None]:
    """The matrix with the load generator that can be had, and a warning where it is not the matrix's oha.

    The probe stands in where oha is not there: at once when nothing may be compiled, else when there is no cargo to
    build it with. A driver that was asked for by name is never replaced.
    """
    toolbox, path_env = Toolbox(front.home()), front.environment().get("PATH", "")
    if (
        asked.driver
        or opened.loaded.matrix.driver != "oha"
        or (search := toolbox.find_oha(path_env)).tool is not None
    ):
        return opened, None
    if compiles and shutil.which("cargo", path=path_env):
        return opened, None
    how = "`invoke install` builds oha" if shutil.which("cargo", path=path_env) else "oha needs cargo to be built"
    remark = f"{search.remark or 'oha is not there'}, so the built-in probe drives; {how}"
    return front.open_matrix(replace(asked, driver="probe")), CampaignWarning(code="driver_replaced", detail=remark)


def provide(opened: front.Opened, listener: Listener, *, install: bool) -> Provisions:
    """Everything that the selected cells need. Raises ToolMissing when there is no load generator to be had."""
    environ = front.environment()
    if not install:
        return _found(opened, environ)
    folder = front.home()
    with Supervisor(folder / "run", search_path=environ["PATH"]) as supervisor:
        for sentence in supervisor.swept:
            listener.warning(sentence)
        workshop = Workshop(runner=supervisor, tell=listener.phase, environ=environ)
        tool = DRIVER_TOOLS[opened.loaded.matrix.driver].obtain(Toolbox(folder), workshop)
        gateways, unavailable = {}, {}
        for recipe in used_recipes(opened):
            try:
                gateways[recipe.id] = obtain_gateway(recipe, folder, workshop)
            except ToolMissing as error:
                unavailable[recipe.id] = str(error)
                listener.warning(f"{recipe.name} is unavailable: {error}")
    return Provisions(tool, gateways, unavailable)


def _found(opened: front.Opened, environ: Mapping[str, str]) -> Provisions:
    tool = DRIVER_TOOLS[opened.loaded.matrix.driver].find(Toolbox(front.home()), environ["PATH"])
    gateways, unavailable = {}, {}
    for recipe in used_recipes(opened):
        try:
            gateways[recipe.id] = find_gateway(recipe, front.home(), environ)
        except ToolMissing as error:
            unavailable[recipe.id] = str(error)
    return Provisions(tool, gateways, unavailable)


@dataclass(frozen=True)
class Source:
    """Where the program of a driver comes from: found as it is there, or obtained. Both may raise ToolMissing."""

    find: Callable[[Toolbox, str], Tool]
    obtain: Callable[[Toolbox, Workshop], Tool]


def _found_oha(toolbox: Toolbox, path_env: str) -> Tool:
    search = toolbox.find_oha(path_env)
    if search.tool is None:
        raise ToolMissing(f"{search.remark or 'oha is not on PATH'}; run: invoke install")
    return search.tool


# By the name of the driver, as in `load.drivers`.
DRIVER_TOOLS: Mapping[str, Source] = MappingProxyType(
    {
        "oha": Source(_found_oha, lambda toolbox, workshop: toolbox.ensure_oha(workshop)),
        "wrk": Source(
            lambda toolbox, path_env: toolbox.require_wrk(path_env),
            lambda toolbox, workshop: toolbox.require_wrk(workshop.path_env),
        ),
        "probe": Source(lambda *_: find_probe(PROGRAM_FOLDER), lambda *_: find_probe(PROGRAM_FOLDER)),
    }
)
