"""`python -P -m weighbridge.load.probe.program --plan PLAN.json`: drive a window, then parse and write what was kept.

An interrupted window is written too, as partial: INT or TERM ends it at once; they are ignored while the results are
written.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

import uvloop

import weighbridge
from weighbridge.load.probe.program.capture import Capture
from weighbridge.load.probe.program.engine import drive
from weighbridge.load.probe.program.entry import read_bodies, run_program
from weighbridge.load.probe.program.output import write
from weighbridge.load.probe.program.plan import ProbePlan, read_plan
from weighbridge.load.probe.program.tables import make_tables


def _drive(place: Path) -> None:
    plan = read_plan(place)
    bodies = read_bodies(plan.bodies, plan.count)
    # From here on a stop means: write what there is.
    capture = uvloop.run(_open_window(plan, bodies))
    write(plan, capture, make_tables(capture, plan.lanes, is_stream=plan.mode == "stream"), weighbridge.__version__)


async def _open_window(plan: ProbePlan, bodies: list[bytes]) -> Capture:
    capture = await drive(plan, bodies)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)
    return capture


if __name__ == "__main__":
    sys.exit(run_program("probe", "Drive one window of requests.", _drive))
