"""When the late turns of the probe's loop began and ended, made of what the window kept.

A beat that came too late says that the loop was away when it was due. It had been about at the last instant of its
own before: a beat, a send, a read. What was read from then to the end of the late beat's turn may have waited for us,
and for no longer than since then.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weighbridge.load.probe.program.capture import Capture
from weighbridge.record.probe_tables import LateTurns


def late_turns(capture: Capture) -> LateTurns:
    """Return the late turns of a window, apart and in order."""
    alive = np.sort(np.fromiter(_instants(capture), dtype=np.int64))
    begun, ended = list[int](), list[int]()
    for due_ns, ended_ns in capture.beats.too_late:
        place = int(np.searchsorted(alive, due_ns, side="right")) - 1
        begun_ns = int(alive[place]) if place >= 0 else due_ns
        # Two turns that touch are told apart: no time is counted twice.
        begun.append(max(begun_ns, ended[-1]) if ended else begun_ns)
        ended.append(ended_ns)
    return LateTurns(np.array(begun, dtype=np.int64), np.array(ended, dtype=np.int64))


def _instants(capture: Capture) -> Iterator[int]:
    """Yield every instant at which the loop is known to have been about."""
    yield from capture.beats.came_ns
    for exchange in capture.exchanges[: capture.released_count]:
        yield exchange.released_ns
        if exchange.sent_ns:
            yield exchange.sent_ns
        yield from (now for now, _ in exchange.reads)
