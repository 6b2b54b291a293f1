"""Getting what a matrix needs: the load generator and the gateways, installed or found. Used by several tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from weighbridge.campaign.listener import Listener
from weighbridge.errors import ToolMissing
from weighbridge.matrix.recipe import Recipe
from weighbridge.rig.installing import Installed, Tool, Workshop
from weighbridge.rig.obtain import find_gateway, obtain_gateway
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


def provide(opened: front.Opened, listener: Listener, *, install: bool) -> Provisions:
    """Everything that the selected cells need. Raises ToolMissing when there is no load generator to be had."""
    environ = front.environment()
    if not install:
        return _found(opened, environ)
    folder = front.home()
    with Supervisor(folder / "run", search_path=environ["PATH"]) as supervisor:
        workshop = Workshop(runner=supervisor, tell=listener.phase, environ=environ)
        tool = Toolbox(folder).ensure_oha(workshop)
        gateways, unavailable = {}, {}
        for recipe in used_recipes(opened):
            try:
                gateways[recipe.id] = obtain_gateway(recipe, folder, workshop)
            except ToolMissing as error:
                unavailable[recipe.id] = str(error)
                listener.warning(f"{recipe.name} is unavailable: {error}")
    return Provisions(tool, gateways, unavailable)


def _found(opened: front.Opened, environ: Mapping[str, str]) -> Provisions:
    search = Toolbox(front.home()).find_oha(environ["PATH"])
    if search.tool is None:
        raise ToolMissing(f"{search.remark or 'oha is not on PATH'}; run: invoke install")
    gateways, unavailable = {}, {}
    for recipe in used_recipes(opened):
        try:
            gateways[recipe.id] = find_gateway(recipe, front.home(), environ)
        except ToolMissing as error:
            unavailable[recipe.id] = str(error)
    return Provisions(search.tool, gateways, unavailable)
