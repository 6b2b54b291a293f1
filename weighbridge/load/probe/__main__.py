"""`python -P -m weighbridge.load.probe --plan PLAN.json`: drive one window, then parse what was kept and write it.

Exit status 0 when the window is written (an interrupted one too, as partial), 2 with one sentence when it cannot be
driven. INT or TERM ends the window at once; they are ignored while the results are written.
"""

from __future__ import annotations

import argparse
import asyncio
import signal
import sys
from pathlib import Path

import uvloop

import weighbridge
from weighbridge.errors import InputError, Place
from weighbridge.load.probe.capture import Capture
from weighbridge.load.probe.engine import drive
from weighbridge.load.probe.output import write
from weighbridge.load.probe.plan import ProbePlan, read_plan
from weighbridge.load.probe.quiet import raise_file_limit
from weighbridge.load.probe.tables import make_tables


def main() -> int:
    """Exit status of the program."""
    parser = argparse.ArgumentParser(prog="weighbridge.load.probe", description="Drive one window of requests.")
    parser.add_argument("--plan", type=Path, required=True, help="what to drive, as JSON")
    arguments = parser.parse_args()
    try:
        plan = read_plan(arguments.plan)
        lines = _lines(plan)
        raise_file_limit()
        # From here on a stop means: write what there is.
        capture = uvloop.run(_drive(plan, lines))
        write(plan, capture, make_tables(capture, is_stream=plan.mode == "stream"), weighbridge.__version__)
    except InputError as error:
        sys.stderr.write(f"probe: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"probe: {error.strerror or error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("probe: stopped before the window was open\n")
        return 130
    return 0


async def _drive(plan: ProbePlan, lines: list[bytes]) -> Capture:
    capture = await drive(plan, lines)
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.remove_signal_handler(number)
        signal.signal(number, signal.SIG_IGN)
    return capture


def _lines(plan: ProbePlan) -> list[bytes]:
    """Bodies for the window, no more than it needs."""
    lines: list[bytes] = []
    try:
        with plan.bodies.open("rb") as file:
            for line in file:
                if body := line.strip():
                    lines.append(body)
                if len(lines) == plan.count:
                    break
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", place=Place(plan.bodies)) from error
    if not lines:
        raise InputError("holds no request body", place=Place(plan.bodies))
    return lines


if __name__ == "__main__":
    sys.exit(main())
