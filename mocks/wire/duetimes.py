"""Callbacks at absolute due times on the running loop: one timerfd, one heap.

The loops' own timers round to whole milliseconds; a timerfd on the loop does not. Used for the provider's
responses and for every delay a mock adds. It must not spin: a spinning loop cannot read the next request.
"""

from __future__ import annotations

import asyncio
import ctypes
import heapq
import itertools
import os
import sys
import time
from collections.abc import Callable

from mocks.clock import NS_PER_S

_CLOCK_MONOTONIC = 1
_TFD_TIMER_ABSTIME = 1
_TFD_NONBLOCK_CLOEXEC = 0o2004000


class Due:
    """A callback that waits for its due time."""

    __slots__ = ("callback",)

    def __init__(self, callback: Callable[[], None]) -> None:
        self.callback: Callable[[], None] | None = callback

    def cancel(self) -> None:
        """Keep the callback from being called."""
        self.callback = None


class DueTimes:
    """Due times on the running loop. `kind` says by what: `timerfd`, or `call_later` where the system has none."""

    def __init__(self, *, timerfd: bool = sys.platform == "linux") -> None:
        self._loop = asyncio.get_running_loop()
        self._heap: list[tuple[int, int, Due]] = []
        self._sequence = itertools.count()
        self._timer: _TimerFd | _LoopTimer = _TimerFd(self._fire) if timerfd else _LoopTimer(self._fire)
        self.kind = "timerfd" if timerfd else "call_later"

    def at(self, due_ns: int, callback: Callable[[], None]) -> Due:
        """Call `callback` once at `due_ns` of `time.monotonic_ns` or as soon after as can be; return a handle for it.

        A due time that has passed is served in a later turn of the loop, never inside this call.
        """
        due = Due(callback)
        heapq.heappush(self._heap, (due_ns, next(self._sequence), due))
        if self._heap[0][2] is due:
            self._timer.arm(due_ns)
        return due

    async def sleep_until(self, due_ns: int) -> None:
        """Wait until `due_ns` of `time.monotonic_ns`."""
        future: asyncio.Future[None] = self._loop.create_future()
        due = self.at(due_ns, lambda: None if future.done() else future.set_result(None))
        try:
            await future
        finally:
            due.cancel()

    def close(self) -> None:
        """Drop everything that waits."""
        self._heap.clear()
        self._timer.close()

    def _fire(self) -> None:
        now = time.monotonic_ns()
        heap = self._heap
        # Only what was due on entry: sockets are polled between two turns, however late we are.
        while heap and heap[0][0] <= now:
            due = heapq.heappop(heap)[2]
            # Let go of the callback: whoever made it holds the handle, and collection is off.
            callback, due.callback = due.callback, None
            if callback is None:
                continue
            try:
                callback()
            except Exception as error:  # noqa: BLE001 - one failing callback must not lose the others
                self._loop.call_exception_handler({"message": "a due callback failed", "exception": error})
        self._timer.arm(heap[0][0] if heap else None)


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
        self._spec[2], self._spec[3] = divmod(max(due_ns, 1), NS_PER_S) if due_ns is not None else (0, 0)
        if self._fd >= 0 and self._libc.timerfd_settime(self._fd, _TFD_TIMER_ABSTIME, self._spec, None):
            raise OSError(ctypes.get_errno(), "the timerfd could not be armed")

    def close(self) -> None:
        if self._fd >= 0:
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self._fd = -1


class _LoopTimer:
    """The loop's own timer; it may fire early, then `_fire` finds nothing due and arms it again."""

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
