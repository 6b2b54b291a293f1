"""How a mock runs as a program: uvloop, frozen garbage collector, stop on TERM or INT.

It must not know what the mock serves.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import resource
import signal
import sys
from collections.abc import Awaitable, Callable
from typing import Protocol

import uvloop

from mocks.wire.duetimes import DueTimes
from mocks.wire.server import Server


class RunningMock(Protocol):
    """A mock that has been started."""

    @property
    def greeting(self) -> str:
        """What it says on stdout when it listens: its ports."""

    async def stop(self) -> None:
        """Answers what is at hand, then closes everything."""


class TwoPorts:
    """A mock with both ports open: the one that it serves, and that of its counters and records."""

    def __init__(self, public: Server, admin: Server, due_times: DueTimes) -> None:
        self._servers = (public, admin)
        self._due_times = due_times
        self.greeting = f"listening on 127.0.0.1:{public.port}, admin on 127.0.0.1:{admin.port}"

    async def stop(self) -> None:
        """Answer what is at hand, then close both ports."""
        for server in self._servers:
            await server.close()
        self._due_times.close()


def run(name: str, start: Callable[[], Awaitable[RunningMock]]) -> int:
    """Exit code of the mock `name`: 0 after TERM or INT, 2 with one sentence when it cannot start.

    `start` binds the ports and returns; OSError and ValueError out of it are explained, anything else is a bug.
    """
    _raise_file_limit()
    try:
        uvloop.run(_serve(name, start))
    except OSError as error:
        taken = error.errno == errno.EADDRINUSE
        reason = (
            f"{error.strerror or error}; end the program that holds the port or choose another" if taken else error
        )
        sys.stderr.write(f"{name}: cannot start: {reason}\n")
        return 2
    except ValueError as error:
        sys.stderr.write(f"{name}: cannot start: {error}\n")
        return 2
    return 0


async def _serve(name: str, start: Callable[[], Awaitable[RunningMock]]) -> None:
    loop = asyncio.get_running_loop()
    asked_to_stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, asked_to_stop.set)
    running = await start()
    # A collection in a measured window is a pause of milliseconds; exchanges hold no cycles.
    gc.collect()
    gc.freeze()
    gc.disable()
    sys.stdout.write(f"{name}: {running.greeting}\n")
    sys.stdout.flush()
    await asked_to_stop.wait()
    await running.stop()


def _raise_file_limit() -> None:
    """Every connection is a file: the soft limit goes up to the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        except (ValueError, OSError):  # macOS has a lower ceiling of its own; the soft limit then stays
            return
