"""The load generators of a calibration: the probe, which is always there, and what else can be found.

Called by `calibrate`. Nothing is installed here.
"""

from __future__ import annotations

from weighbridge.campaign.calibration.floors import DriverTools
from weighbridge.campaign.stage import Stage
from weighbridge.load.probe_driver import PROGRAM_FOLDER
from weighbridge.matrix.calibration import FloorDriver
from weighbridge.rig.installing import Tool
from weighbridge.rig.probe_tool import find_probe
from weighbridge.rig.tools import Toolbox


def find_drivers(stage: Stage) -> DriverTools:
    """Every driver's program, or why it is not used."""
    toolbox, path = Toolbox(stage.request.home), stage.supervisor.search_path
    tools: dict[FloorDriver, Tool] = {"probe": find_probe(PROGRAM_FOLDER)}
    absent: dict[FloorDriver, str] = {}
    oha, wrk = toolbox.find_oha(path), toolbox.find_wrk(path)
    if oha.tool is None:
        absent["oha"] = oha.remark or "oha is not on PATH and was not built; invoke install builds it"
    else:
        tools["oha"] = oha.tool
    if wrk.tool is None:
        absent["wrk"] = wrk.remark or "wrk is not on PATH"
    else:
        tools["wrk"] = wrk.tool
    return DriverTools(tools, absent)
