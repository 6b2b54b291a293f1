"""The frame of our own load programs: one argument, one file of bodies, and how each ends.

Exit status 0 when a report was written, 2 with one sentence when nothing could be driven, 130 when the program was
interrupted before its window was open.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from weighbridge.errors import InputError, Place
from weighbridge.load.probe.program.quiet import raise_file_limit


def run_program(name: str, description: str, drive: Callable[[Path], None]) -> int:
    """Exit status of a program that drives the window whose plan lies in a file."""
    parser = argparse.ArgumentParser(prog=f"weighbridge.load.{name}", description=description)
    parser.add_argument("--plan", type=Path, required=True, help="what to drive, as JSON")
    arguments = parser.parse_args()
    raise_file_limit()
    try:
        drive(arguments.plan)
    except InputError as error:
        sys.stderr.write(f"{name}: {error}\n")
        return 2
    except OSError as error:
        sys.stderr.write(f"{name}: {error.strerror or error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write(f"{name}: stopped before the window was open\n")
        return 130
    return 0


def read_bodies(path: Path, count: int) -> list[bytes]:
    """At most `count` request bodies, one per line; InputError when there is none."""
    bodies: list[bytes] = []
    try:
        with path.open("rb") as file:
            for line in file:
                if body := line.strip():
                    bodies.append(body)
                if len(bodies) == count:
                    break
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", place=Place(path)) from error
    if not bodies:
        raise InputError("holds no request body", place=Place(path))
    return bodies
