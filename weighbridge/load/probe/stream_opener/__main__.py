"""`python -P -m weighbridge.load.probe.stream_opener --plan PLAN.json`: open streams, more at each step, and report.

A broken window is reported as well.
"""

from __future__ import annotations

import sys
from pathlib import Path

import uvloop

import weighbridge
from weighbridge.load.probe.program.entry import read_bodies, run_program
from weighbridge.load.probe.stream_opener.plan import read_plan
from weighbridge.load.probe.stream_opener.report import write
from weighbridge.load.probe.stream_opener.steps import run_window


def _drive(place: Path) -> None:
    plan = read_plan(place)
    bodies = read_bodies(plan.bodies, max(1, plan.counts[-1]))
    write(plan, uvloop.run(run_window(plan, bodies)), weighbridge.__version__)


if __name__ == "__main__":
    sys.exit(run_program("stream opener", "Open streams and keep them open.", _drive))
