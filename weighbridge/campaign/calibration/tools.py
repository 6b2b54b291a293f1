"""The load generators of a calibration: those that come with us, and what else can be found.

Nothing is installed here.
"""

from __future__ import annotations

from weighbridge.campaign.calibration.floors import DriverTools
from weighbridge.campaign.stage import Stage
from weighbridge.errors import ToolMissing
from weighbridge.load.drivers import DRIVERS
from weighbridge.rig.installing import Tool
from weighbridge.rig.tools import Toolbox


def find_drivers(stage: Stage) -> DriverTools:
    """Return every driver's program, or why it is not used."""
    toolbox, path = Toolbox(stage.request.home), stage.supervisor.search_path
    tools: dict[str, Tool] = {}
    absent: dict[str, str] = {}
    for name, driver in DRIVERS.items():
        try:
            tools[name] = toolbox.find(name, driver.program_folder, path)
        except ToolMissing as error:
            absent[name] = str(error)
    return DriverTools(tools, absent)
