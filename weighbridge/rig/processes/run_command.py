"""A command that runs to its end while we look on: its cut, its deadline, and somebody's wish to stop it."""

from __future__ import annotations

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from weighbridge.command import Command
from weighbridge.rig.processes.child import Child
from weighbridge.rig.tree import process_tree

_LOOK_S = 0.1
_REPORT_PATIENCE_S = 5.0


@dataclass(frozen=True)
class Followed:
    """What happened: `cut` when the stop signal was sent, `is_overdue` when the program has to be killed."""

    wall_s: float
    cut: bool
    is_overdue: bool


def follow(child: Child, command: Command, looks: tuple[Callable[[], str | None], ...]) -> Followed:
    """How the command went, at its end or when it must be killed.

    The stop signal is sent once, at `cut_after_s` or when a look gives a text; in the second case the program has
    five seconds for its report.
    """
    began = child.started_ns / 1e9  # of CLOCK_MONOTONIC, as time.monotonic() is
    overdue_at = began + command.deadline_s
    cut_at = began + command.cut_after_s if command.cut_after_s is not None else overdue_at
    cut = unwanted = False
    with _exit_of(child.process) as has_ended:
        while not has_ended(max(0.0, min(_LOOK_S, overdue_at - time.monotonic()))):
            now = time.monotonic()
            if now >= overdue_at:
                return Followed(now - began, cut, is_overdue=True)
            if not unwanted and any([look() for look in looks]):  # noqa: C419  # every look is due each time
                unwanted = True
                overdue_at = min(overdue_at, now + _REPORT_PATIENCE_S)
            if not cut and (unwanted or now >= cut_at):
                process_tree.send([child.root], command.stop_signal)
                cut = True
    return Followed(time.monotonic() - began, cut, is_overdue=False)


@contextmanager
def _exit_of(process: subprocess.Popen[bytes]) -> Iterator[Callable[[float], bool]]:
    """Yield a function that waits so many seconds and tells whether the process has ended."""
    try:
        # Wakes at the very end; Popen.wait would look twenty times per second.
        handle = os.pidfd_open(process.pid)
    except (AttributeError, OSError):
        yield lambda within_s: _has_ended(process, within_s)
        return
    try:
        poller = select.poll()
        poller.register(handle, select.POLLIN)
        yield lambda within_s: bool(poller.poll(within_s * 1000)) and process.wait() is not None
    finally:
        os.close(handle)


def _has_ended(process: subprocess.Popen[bytes], within_s: float) -> bool:
    try:
        process.wait(within_s)
    except subprocess.TimeoutExpired:
        return False
    return True
