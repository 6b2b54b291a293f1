"""One child process: own session, no standard input, output to files, and nothing of ours inherited.

It must not use a shell or run code between fork and exec.
"""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

from weighbridge.rig.machine.cpu_plan import confined
from weighbridge.rig.processes.child import Service
from weighbridge.rig.processes.child_environment import unwritable


class CannotRun(Exception):
    """The operating system did not start a program: one clause that says which and why."""


def spawn(service: Service, environment: Mapping[str, str], errors: Path | None) -> subprocess.Popen[bytes]:
    """Start the process; its standard error goes to `errors`, or to the service's log as well.

    Raises CannotRun when the program cannot be run, StoreError when its output has no place.
    """
    if not service.cwd.is_dir():
        raise CannotRun(f"its folder {service.cwd} does not exist")
    with ExitStack() as files:
        try:
            service.log.parent.mkdir(parents=True, exist_ok=True)
            stdout = files.enter_context(service.log.open("wb"))
            stderr = files.enter_context(errors.open("wb")) if errors else subprocess.STDOUT
        except OSError as error:
            raise unwritable(service.log, error) from error
        try:
            files.enter_context(confined(service.cores))
        except OSError as error:
            raise CannotRun(f"it cannot be put on CPUs {service.cores}: {error.strerror or error}") from error
        try:
            return subprocess.Popen(
                service.argv,
                cwd=service.cwd,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                start_new_session=True,
            )
        except OSError as error:
            raise CannotRun(f"{service.argv[0]}: {error.strerror or error}") from error
        except ValueError as error:
            raise CannotRun(f"{service.argv[0]}: {error}") from error
