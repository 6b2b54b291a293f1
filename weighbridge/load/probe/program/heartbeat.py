"""The probe's watch on itself: a beat every few milliseconds whose lateness is how late the loop is for anything.

Run by the engine through the window. What is read in the turn of a beat that came too late may have waited for us:
such turns are kept, and `late_turns` says when each began. On its beats overdue responses are looked for.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from weighbridge.load.probe.program.capture import Beats
from weighbridge.load.probe.program.pacing import Alarm

PERIOD_NS = 5_000_000
LAG_LIMIT_NS = 2_000_000
# Time-outs are looked for on every fourth beat: seconds need no better than 20 ms.
_BEATS_PER_CHECK = 4


class Heartbeat:
    """`beats` is what it saw."""

    def __init__(self, check: Callable[[int], None]) -> None:
        self._check = check
        self._loop = asyncio.get_running_loop()
        self._alarm = Alarm(self._beat)
        self._due_ns = 0
        self.beats = Beats()

    def start(self) -> None:
        """Begin to beat."""
        now = time.monotonic_ns()
        self.beats.came_ns.append(now)
        self._due_ns = now + PERIOD_NS
        self._alarm.arm(self._due_ns)

    def close(self) -> None:
        """Stop."""
        self._alarm.close()

    def _beat(self) -> None:
        now, beats = time.monotonic_ns(), self.beats
        late = now - self._due_ns
        if late < 0:
            self._alarm.arm(self._due_ns)
            return
        beats.came_ns.append(now)
        beats.late_ns.append(late)
        if late > LAG_LIMIT_NS:
            beats.too_late.append((self._due_ns, now))
            # What else was ready comes behind this beat in the same turn; the next one begins with this call.
            self._loop.call_soon(self._turned)
        if len(beats.late_ns) % _BEATS_PER_CHECK == 0:
            self._check(now)
        # Beats that were missed are one late beat, not many.
        self._due_ns += PERIOD_NS * (1 + late // PERIOD_NS)
        self._alarm.arm(self._due_ns)

    def _turned(self) -> None:
        due_ns, _ = self.beats.too_late[-1]
        self.beats.too_late[-1] = (due_ns, time.monotonic_ns())
