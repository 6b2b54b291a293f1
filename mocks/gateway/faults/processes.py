"""Faults of the process: a TERM that is ignored, a grandchild that is left behind, work in the background.

Built by the faulty wrapper; they act once, when the gateway starts, and serve every request as it should be.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
import threading
import time

from mocks.burn import burn
from mocks.gateway.faults import values
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.visit import Handle, Wrap

ORPHAN_LIFE_S = 600
BACKGROUND_NS = 300_000_000
BACKGROUND_EVERY_S = 4.0
_ORPHAN = f"import time; time.sleep({ORPHAN_LIFE_S})"
# A child that starts the grandchild in a session of its own, says its number and ends, so that nobody waits for it.
_PARENT = (
    "import subprocess, sys; "
    "orphan = subprocess.Popen([sys.executable, '-c', sys.argv[1]], start_new_session=True, "
    "stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); "
    "sys.stdout.write(str(orphan.pid))"
)


def ignore_term(value: str, truth: GroundTruth) -> Wrap:  # noqa: ARG001 - every fault is built alike
    """`ignore-term`: TERM does nothing; INT still stops."""
    values.read_nothing(value)

    def wrap(proxy: Handle) -> Handle:
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        return proxy

    return wrap


def orphan(value: str, truth: GroundTruth) -> Wrap:
    """`orphan`: a grandchild in a session of its own outlives the gateway; its pid is at `/faults`."""
    values.read_nothing(value)

    def wrap(proxy: Handle) -> Handle:
        reported = subprocess.run(
            [sys.executable, "-c", _PARENT, _ORPHAN], check=True, capture_output=True, text=True
        )
        truth.orphan_pid = int(reported.stdout)
        return proxy

    return wrap


def bg_cpu(value: str, truth: GroundTruth) -> Wrap:  # noqa: ARG001 - every fault is built alike
    """`bg-cpu`: 300 ms of CPU every 4 s in a thread of its own, as collectors and flushers do, requests or not."""
    values.read_nothing(value)

    def work() -> None:
        due_s = time.monotonic()
        while True:
            due_s += BACKGROUND_EVERY_S
            time.sleep(max(0.0, due_s - time.monotonic()))
            burn(BACKGROUND_NS)

    def wrap(proxy: Handle) -> Handle:
        threading.Thread(target=work, name="background", daemon=True).start()
        return proxy

    return wrap
