"""The programs of a campaign: the load generator of each driver that is there, and why each other one is not."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from weighbridge.campaign.request import CampaignRequest
from weighbridge.campaign.schedule import Route, WindowSpec
from weighbridge.campaign.window.clients import ClientSpec, look_at_nothing
from weighbridge.campaign.window.open_streams import look_at_step
from weighbridge.dialects.media_type import JSON_HEADER
from weighbridge.errors import ToolMissing
from weighbridge.load.contract.driver import Driver, LoadPlan
from weighbridge.load.drivers import DRIVERS, OF_ROLE
from weighbridge.load.probe.mixed import MixedProbe
from weighbridge.load.probe.program.plan import ProbeLane
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.loads import Load, LoadPart
from weighbridge.matrix.loads.clients import PASS_S
from weighbridge.rig.install.atomic_install import Tool
from weighbridge.rig.install.bundled import bundled_tool
from weighbridge.rig.install.toolbox import Toolbox
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.rig import Rig

_ALONE = (Route(),)
# What is looked at while a client of a role drives.
_LOOKS: Mapping[str, Callable[[Rig, Lane, LoadPlan], None]] = MappingProxyType({"open_streams": look_at_step})


@dataclass(frozen=True)
class Programs:
    """Programs by the name of their driver; `absent` says why one is not there."""

    tools: Mapping[str, Tool]
    absent: Mapping[str, str]

    def tool_of(self, driver: Driver) -> Tool:
        """Return the program of a driver that is there."""
        if isinstance(driver.program, Path):
            return bundled_tool(driver.name, driver.program)
        return self.tools[driver.name]


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
    return Programs({**tools, request.driver.name: request.tool}, absent)


def clients_of(
    rig: Rig, programs: Programs, lanes: Sequence[Lane], spec: WindowSpec, seed: int
) -> tuple[ClientSpec, ...]:
    """Return the clients of a window: one for each part of its load, the leading one first."""
    found = []
    parts: tuple[LoadPart[Load], ...] = spec.cell.load.parts()
    for number, part in enumerate(parts):
        driver = OF_ROLE.get(part.role) or DRIVERS[part.driver or spec.cell.driver]
        found.append(
            ClientSpec(
                role=part.role,
                driver=_over(driver, lanes, spec.routes, seed),
                tool=programs.tool_of(driver),
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
    driver = DRIVERS[cell.pass_driver]
    at_most_s = None if load.is_serial else PASS_S
    return ClientSpec("probe_pass", driver, programs.tool_of(driver), load, is_optional=True, at_most_s=at_most_s)


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
