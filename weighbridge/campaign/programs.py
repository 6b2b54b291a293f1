"""The programs of a campaign: the load generator of each driver that is there, and why each other one is not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from weighbridge.campaign.request import CampaignRequest
from weighbridge.campaign.schedule import Route, WindowSpec
from weighbridge.campaign.window.clients import ClientSpec, look_at_nothing
from weighbridge.campaign.window.open_streams import look_at_step
from weighbridge.command import OnPath
from weighbridge.dialects.media_type import JSON_HEADER
from weighbridge.errors import ToolMissing
from weighbridge.load.contract.driver import Driver, LoadPlan
from weighbridge.load.drivers import DRIVERS, OF_ROLE
from weighbridge.load.probe.mixed import MixedProbe
from weighbridge.load.probe.program.plan import ProbeLane
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.loads import Load, LoadPart, Role
from weighbridge.matrix.loads.clients import PASS_S
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import Tool
from weighbridge.rig.install.bundled import bundled_facts, bundled_tool, mocks_identity, script_facts
from weighbridge.rig.install.toolbox import Toolbox
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.rig import Rig

_ALONE = (Route(),)
# What is looked at while a client of a role drives.
_LOOKS: Mapping[str, Callable[[Rig, Lane, LoadPlan], None]] = MappingProxyType({"open_streams": look_at_step})


@dataclass(frozen=True)
class Programs:
    """Programs by the name of their driver, `of_role` by that of their role; `absent` says why one is not there.

    `scripts` are those of ours that a driver's program runs, by the driver's name; `mocks` are all mocks together.
    """

    tools: Mapping[str, Tool]
    absent: Mapping[str, str]
    of_role: Mapping[Role, Tool]
    scripts: Mapping[str, ToolFacts]
    mocks: ToolFacts

    def facts_of(self, cells: Sequence[Cell]) -> tuple[ToolFacts, ...]:
        """Return all that takes part in the windows of these cells but gateways: load generators and mocks."""
        used = dict.fromkeys(self.tool_of(*name).facts for cell in cells for name in _names_of(cell))
        scripts = dict.fromkeys(self.scripts[tool.name] for tool in used if tool.name in self.scripts)
        return (*used, *scripts, self.mocks)

    @property
    def all_facts(self) -> tuple[ToolFacts, ...]:
        """All that could take part."""
        tools = (*self.tools.values(), *self.of_role.values())
        return (*(tool.facts for tool in tools), *self.scripts.values(), self.mocks)

    def tool_of(self, driver: str, role: Role = "driver") -> Tool:
        """Return the program of a driver in a role. Raises ToolMissing where it is not there."""
        tool = self.of_role.get(role) or self.tools.get(driver)
        if tool is None:
            raise ToolMissing(self.absent[driver])
        return tool


def find_programs(request: CampaignRequest, path_env: str) -> Programs:
    """Return the programs of a campaign: its driver, those that come with us, and what else can be found.

    Nothing is installed here.
    """
    toolbox = Toolbox(request.home)
    tools: dict[str, Tool] = {}
    absent: dict[str, str] = {}
    for name, driver in DRIVERS.items():
        try:
            tools[name] = toolbox.find(name, driver.program, path_env)
        except ToolMissing as error:
            absent[name] = str(error)
    of_role = {
        role: bundled_tool(role, driver.program)
        for role, driver in OF_ROLE.items()
        if isinstance(driver.program, Path)
    }
    scripts = {
        name: script_facts(f"{name} script", driver.program.script)
        for name, driver in DRIVERS.items()
        if isinstance(driver.program, OnPath) and driver.program.script is not None
    }
    mocks = bundled_facts("mocks", mocks_identity())
    return Programs({**tools, request.driver.name: request.tool}, absent, of_role, scripts, mocks)


def clients_of(
    rig: Rig, programs: Programs, lanes: Sequence[Lane], spec: WindowSpec, seed: int
) -> tuple[ClientSpec, ...]:
    """Return the clients of a window: one for each part of its load, the leading one first."""
    found = []
    parts: tuple[LoadPart[Load], ...] = spec.cell.load.parts()
    for number, part in enumerate(parts):
        name = part.driver or spec.cell.driver
        driver = OF_ROLE.get(part.role) or DRIVERS[name]
        found.append(
            ClientSpec(
                role=part.role,
                driver=_over(driver, lanes, spec.routes, seed),
                tool=programs.tool_of(name, part.role),
                load=part.load,
                is_optional=number > 0,
                look=partial(_LOOKS[part.role], rig, lanes[0]) if part.role in _LOOKS else look_at_nothing,
            )
        )
    return tuple(found)


def pass_of(programs: Programs, cell: Cell) -> ClientSpec | None:
    """Return the probe that follows a closed loop whose driver reads no stamps; None where nothing does."""
    load = cell.pass_load
    if load is None or cell.pass_driver is None:
        return None
    driver, tool = DRIVERS[cell.pass_driver], programs.tool_of(cell.pass_driver)
    at_most_s = None if load.is_serial else PASS_S
    return ClientSpec("probe_pass", driver, tool, load, is_optional=True, at_most_s=at_most_s)


def _names_of(cell: Cell) -> Iterator[tuple[str, Role]]:
    """Yield driver and role of every program that takes part in a window of the cell, or in the pass behind it."""
    for part in cell.load.parts():
        yield part.driver or cell.driver, part.role
    if cell.pass_driver is not None:
        yield cell.pass_driver, "driver"


def _over(driver: Driver, lanes: Sequence[Lane], routes: Sequence[Route], seed: int) -> Driver:
    """Return the driver, or the probe over all lanes where requests are drawn among them."""
    if routes == _ALONE:
        return driver
    return MixedProbe(
        tuple(
            ProbeLane(lanes[one.lane].url, (*lanes[one.lane].headers, JSON_HEADER, *one.headers), one.share)
            for one in routes
        ),
        seed,
    )
