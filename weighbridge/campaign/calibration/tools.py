"""The load generators of a calibration: the probe, which is always there, and what else can be found.

Called by `calibrate`. Nothing is installed here.
"""

from __future__ import annotations

import sys
from pathlib import Path

import weighbridge
from weighbridge.campaign.calibration.floors import DriverTools
from weighbridge.campaign.stage import Stage
from weighbridge.load.probe_driver import PROGRAM_FOLDER
from weighbridge.matrix.calibration import FloorDriver
from weighbridge.record.host import ToolFacts
from weighbridge.rig.installing import Tool
from weighbridge.rig.obtain import digest_of_programs
from weighbridge.rig.tools import Toolbox


def find_drivers(stage: Stage) -> DriverTools:
    """Every driver's program, or why it is not used."""
    toolbox, path = Toolbox(stage.request.home), stage.supervisor.search_path
    tools: dict[FloorDriver, Tool] = {"probe": _probe()}
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


def _probe() -> Tool:
    facts = ToolFacts(
        name="probe",
        version=weighbridge.__version__,
        sha256=digest_of_programs(PROGRAM_FOLDER),
        source="bundled",
    )
    return Tool(Path(sys.executable), facts)
