"""`python -P -m weighbridge.load.probe.hold --plan PLAN.json`: hold streams open, more at each step, and report.

A broken window is reported as well.
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvloop

import weighbridge
from weighbridge.load.probe.hold.plan import read_plan
from weighbridge.load.probe.hold.report import write
from weighbridge.load.probe.hold.steps import hold
from weighbridge.load.probe.program.entry import read_bodies, run_program


def _drive(place: Path) -> None:
    plan = read_plan(place)
    bodies = read_bodies(plan.bodies, max(1, plan.counts[-1]))
    write(plan, uvloop.run(hold(plan, bodies)), weighbridge.__version__)


if __name__ == "__main__":
    sys.exit(run_program("holder", "Hold streams open.", _drive))
