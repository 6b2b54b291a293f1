"""Tests that start campaigns: one at a time in a suite, and one suite at a time on a machine.

A campaign measures the machine it runs on, and a second one beside it would be found in the figures of the first.
"""

from __future__ import annotations

import fcntl
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

# Markers of tests that start campaigns, lanes or load generators.
MARKERS = ("component", "campaign", "real", "unprivileged")
GROUP = "campaigns"
LOCK = Path(tempfile.gettempdir()) / "weighbridge-campaigns.lock"
_STEP_S = 0.2


def is_measuring(item: pytest.Item) -> bool:
    """Return whether a test is one of those."""
    return any(item.get_closest_marker(name) for name in MARKERS)


def group_of(item: pytest.Item) -> str:
    """Return what must stay in one worker: tests that measure together, others by the file that they stand in."""
    return GROUP if is_measuring(item) else item.nodeid.partition("::")[0]


class SuiteLock:
    """A lock of one file, held from a suite's first campaign to its last."""

    def __init__(self, path: Path = LOCK) -> None:
        self._path = path
        self._descriptor: int | None = None

    def take(self, waits: Callable[[], object] = lambda: None) -> None:
        """Wait until no other suite holds the lock, then hold it; `waits` is called once where that takes time."""
        if self._descriptor is not None:
            return
        descriptor = self._opened()
        is_told = False
        while not _is_locked(descriptor):
            if not is_told:
                waits()
                is_told = True
            time.sleep(_STEP_S)
        self._descriptor = descriptor

    def release(self) -> None:
        """Let another suite begin."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _opened(self) -> int:
        try:  # first as another user left it: in a shared folder, a kernel may refuse to open it for creation
            return os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return os.open(self._path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)


def _is_locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
