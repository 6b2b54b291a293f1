"""A noisy neighbour beside a window: a program of ours that takes a known share of some cores."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from weighbridge import resources
from weighbridge.errors import LaneFailed
from weighbridge.matrix.calibration import Neighbour
from weighbridge.rig.lanes.rig import Rig
from weighbridge.rig.processes.child import Child, Service

_WITHIN_S = 10.0
_LOOK_S = 0.02


@contextmanager
def beside(rig: Rig, neighbour: Neighbour | None, expected_s: float) -> Iterator[None]:
    """Keep a neighbour busy for as long as a window takes; none where none is wanted."""
    if neighbour is None:
        yield
        return
    ready = rig.scratch / "neighbour.ready"
    ready.unlink(missing_ok=True)
    # It is stopped at the end of the window; this is how long it lives should we not.
    life_s = 60 + 3 * expected_s
    argv = ("--cores", str(neighbour.core_count), "--share", str(neighbour.share), "--seconds", f"{life_s:.0f}")
    child = rig.supervisor.start(
        Service(
            name="noisy neighbour",
            argv=(sys.executable, "-m", "mocks.neighbour", *argv, "--ready", str(ready)),
            env={"PYTHONPATH": str(resources.root())},
            cwd=rig.scratch,
            log=rig.scratch / "neighbour.log",
        )
    )
    try:
        begun = time.monotonic()
        while not ready.exists():
            if child.death() or time.monotonic() - begun > _WITHIN_S:
                raise _not_started(child)
            time.sleep(_LOOK_S)
        yield
    finally:
        rig.supervisor.stop(child)


def _not_started(child: Child) -> LaneFailed:
    return LaneFailed(
        "the noisy neighbour did not start", reason="mock_failed", phase="start", log_tail=child.log_tail()
    )
