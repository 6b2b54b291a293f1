"""The window: more streams at each step, told and waited for, until all have been looked at; then their own end.

A stream that ends before the last step was seen ends the window: what would be read after it is the memory of fewer
streams than are counted.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbridge.load.probe.stream_opener.plan import StreamOpenerPlan, put
from weighbridge.load.probe.stream_opener.stream import Stream

# The caller looks about ten times per second; this is patience with a machine that is busy.
SEEN_WITHIN_S = 30.0
_LOOK_S = 0.005
# What streams may take beyond their own length before they count as without an end.
_PATIENCE_S = 5.0


@dataclass
class OpenStreamsState:
    """What one window left. `broken` says why it ended before its last step was seen, None when it did not."""

    streams: list[Stream] = field(default_factory=list)
    steps: list[dict[str, Any]] = field(default_factory=list)
    broken: str | None = None
    wall_s: float = 0.0


async def run_window(plan: StreamOpenerPlan, lines: Sequence[bytes]) -> OpenStreamsState:
    """All that one window left; INT and TERM end it at once."""
    window = _StreamsWindow(plan, lines)
    task = asyncio.ensure_future(window.run())
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task
    if task.cancelled():
        window.state.broken = "interrupted"
    window.close()
    return window.state


class _StreamsWindow:
    """Streams of one window and the word that something happened to one of them."""

    def __init__(self, plan: StreamOpenerPlan, lines: Sequence[bytes]) -> None:
        self._plan = plan
        self._lines = lines
        self._begun = time.monotonic()
        self._happened = asyncio.Event()
        self._openings: list[asyncio.Task[None]] = []
        self.state = OpenStreamsState()

    async def run(self) -> None:
        """Every step, then the end of every stream; returns early when a stream ends too soon."""
        plan, state = self._plan, self.state
        plan.steps_dir.mkdir(exist_ok=True)
        if plan.ready is not None:
            plan.ready.touch()
        for number, count in enumerate(plan.counts):
            self._open(count - len(state.streams))
            await self._until(lambda: self._any_ended() or self._all_have_content(), plan.step_s)
            if self._any_ended():
                state.broken = "ended_early"
                return
            if not await self._seen(number, self._report(number, count)):
                state.broken = "not_seen"
                return
        await self._until(lambda: all(stream.has_ended for stream in state.streams), plan.length_s + _PATIENCE_S)

    def close(self) -> None:
        """Let go of everything."""
        self.state.wall_s = time.monotonic() - self._begun
        for task in self._openings:
            task.cancel()
        for stream in self.state.streams:
            stream.close()

    def _open(self, count: int) -> None:
        streams = self.state.streams
        for _ in range(count):
            stream = Stream(self._lines[len(streams) % len(self._lines)], self._happened.set)
            streams.append(stream)
            self._openings.append(asyncio.ensure_future(stream.open(self._plan.lane)))

    async def _until(self, holds: Callable[[], bool], within_s: float) -> None:
        """Return when it holds, or after `within_s`; looked at whenever something happens to a stream."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(within_s):
                while not holds():
                    self._happened.clear()
                    await self._happened.wait()

    def _report(self, number: int, count: int) -> dict[str, Any]:
        step = {
            "client_open_count": count,
            "content_count": sum(stream.has_content for stream in self.state.streams),
            "at_s": time.monotonic() - self._begun,
        }
        put(self._plan.reached(number), step)
        return step

    async def _seen(self, number: int, step: dict[str, Any]) -> bool:
        """Whether the caller has looked, what it saw now a part of the step; streams go on being read meanwhile."""
        answer = self._plan.seen(number)
        deadline = time.monotonic() + SEEN_WITHIN_S
        while time.monotonic() < deadline:
            if answer.exists():
                self.state.steps.append(step | json.loads(answer.read_bytes()))
                return True
            await asyncio.sleep(_LOOK_S)
        return False

    def _any_ended(self) -> bool:
        return any(stream.has_ended for stream in self.state.streams)

    def _all_have_content(self) -> bool:
        return all(stream.has_content for stream in self.state.streams)
