"""`python -P -m weighbridge.load.holder --plan PLAN.json`: hold streams open, more at each step, and report.

Exit status 0 when the report is written (that of a broken window too), 2 with one sentence when nothing can be held.
"""

from __future__ import annotations

import argparse
import sys
from itertools import islice
from pathlib import Path

import uvloop

import weighbridge
from weighbridge.errors import InputError, Place
from weighbridge.load.holder.plan import HolderPlan, read_plan
from weighbridge.load.holder.report import write
from weighbridge.load.holder.steps import hold
from weighbridge.load.probe.quiet import raise_file_limit


def main() -> int:
    """Exit status of the program."""
    parser = argparse.ArgumentParser(prog="weighbridge.load.holder", description="Hold streams open.")
    parser.add_argument("--plan", type=Path, required=True, help="what to hold, as JSON")
    arguments = parser.parse_args()
    try:
        plan = read_plan(arguments.plan)
        lines = _lines(plan)
        raise_file_limit()
        write(plan, uvloop.run(hold(plan, lines)), weighbridge.__version__)
    except InputError as error:
        sys.stderr.write(f"holder: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"holder: {error.strerror or error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("holder: stopped before the first stream was open\n")
        return 130
    return 0


def _lines(plan: HolderPlan) -> list[bytes]:
    """Bodies for the window, no more than it needs."""
    try:
        with plan.bodies.open("rb") as file:
            lines = [line.strip() for line in islice(file, max(1, plan.counts[-1])) if line.strip()]
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", place=Place(plan.bodies)) from error
    if not lines:
        raise InputError("holds no request body", place=Place(plan.bodies))
    return lines


if __name__ == "__main__":
    sys.exit(main())
