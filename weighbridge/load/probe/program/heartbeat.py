"""The probe's watch on itself: a beat every few milliseconds whose lateness is how late the loop is for anything.

Run by the engine through the window. What overlaps a beat that came too late was not measured, but waited for us:
such spans are kept, and `tables` flags the requests within them. On its beats overdue responses are looked for.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Callable

from weighbridge.load.probe.program.pacing import Alarm

PERIOD_NS = 5_000_000
LAG_LIMIT_NS = 2_000_000
# Time-outs are looked for on every fourth beat: seconds need no better than 20 ms.
_BEATS_PER_CHECK = 4


class Heartbeat:
    """`late_ns` of each beat, and `spans` (due, came) of those that were later than the limit."""

    def __init__(self, check: Callable[[int], None]) -> None:
        self._check = check
        self._alarm = Alarm(self._beat)
        self._due_ns = 0
        self.late_ns = array("q")
        self.spans: list[tuple[int, int]] = []

    def start(self) -> None:
        """Begin to beat."""
        self._due_ns = time.monotonic_ns() + PERIOD_NS
        self._alarm.arm(self._due_ns)

    def close(self) -> None:
        """Stop."""
        self._alarm.close()

    def _beat(self) -> None:
        now = time.monotonic_ns()
        late = now - self._due_ns
        if late < 0:
            self._alarm.arm(self._due_ns)
            return
        self.late_ns.append(late)
        if late > LAG_LIMIT_NS:
            self.spans.append((self._due_ns, now))
        if len(self.late_ns) % _BEATS_PER_CHECK == 0:
            self._check(now)
        # Beats that were missed are one late beat, not many.
        self._due_ns += PERIOD_NS * (1 + late // PERIOD_NS)
        self._alarm.arm(self._due_ns)
