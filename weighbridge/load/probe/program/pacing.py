"""An alarm at an absolute time on the running loop, some tens of microseconds late and never early.

Used for the arrivals and the heartbeat. A timerfd ignores the timer slack and is not rounded to milliseconds, as the
loops' own timers are. It must not spin: a spinning loop cannot read responses.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import sys
import time
from collections.abc import Callable

from weighbridge.units import NS_PER_S

_CLOCK_MONOTONIC = 1
_TFD_TIMER_ABSTIME = 1
_TFD_NONBLOCK_CLOEXEC = 0o2004000


class Alarm:
    """Calls `fire` once for each `arm`. `kind` says by what: `timerfd`, or `call_later` where there is none.

    With `call_later` it may fire early; whoever is called looks at the clock and arms it again.
    """

    def __init__(self, fire: Callable[[], None], *, timerfd: bool = sys.platform == "linux") -> None:
        self._timer: _TimerFd | _LoopTimer = _TimerFd(fire) if timerfd else _LoopTimer(fire)
        self.kind = "timerfd" if timerfd else "call_later"

    def arm(self, due_ns: int | None) -> None:
        """Fire at `due_ns` of `time.monotonic_ns`, in place of an earlier time; None: never."""
        self._timer.arm(due_ns)

    def close(self) -> None:
        """Never fire again."""
        self._timer.close()


class _TimerFd:
    """One timerfd, readable on the loop when due; arming it anew clears its readiness, so it is never read."""

    def __init__(self, fire: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._fd: int = self._libc.timerfd_create(_CLOCK_MONOTONIC, _TFD_NONBLOCK_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "no timerfd could be made")
        # struct itimerspec: interval (seconds, nanoseconds), value (seconds, nanoseconds).
        self._spec = (ctypes.c_long * 4)(0, 0, 0, 0)
        self._loop.add_reader(self._fd, fire)

    def arm(self, due_ns: int | None) -> None:
        # A value of zero would disarm the timer; a due time in the past expires at once.
        self._spec[2], self._spec[3] = (0, 0) if due_ns is None else divmod(max(due_ns, 1), NS_PER_S)
        if self._fd >= 0 and self._libc.timerfd_settime(self._fd, _TFD_TIMER_ABSTIME, self._spec, None):
            raise OSError(ctypes.get_errno(), "the timerfd could not be armed")

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1


class _LoopTimer:
    """The loop's own timer, rounded to whole milliseconds."""

    def __init__(self, fire: Callable[[], None]) -> None:
        self._loop = asyncio.get_running_loop()
        self._fire = fire
        self._handle: asyncio.TimerHandle | None = None

    def arm(self, due_ns: int | None) -> None:
        self.close()
        if due_ns is not None:
            self._handle = self._loop.call_later(max(0.0, (due_ns - time.monotonic_ns()) / NS_PER_S), self._fire)

    def close(self) -> None:
        if self._handle is not None:
            self._handle.cancel()
            self._handle = None
