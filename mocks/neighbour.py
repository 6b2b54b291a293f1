"""A noisy neighbour: `python -m mocks.neighbour --cores N --share 0.5 --seconds S`.

Takes a known share of N cores in short bursts at normal priority, to show what a measurement makes of company. Ends
by itself, on TERM and on INT, and its workers end with it; at the end it says in one JSON line what it really took.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType

from mocks.burn import burn
from mocks.clock import NS_PER_S

BURN_PERIOD_NS = 2_000_000
_LOOK_S = 0.02
_CORES_LIMIT_COUNT = 256
_LIMIT_S = 3600.0


class StopRequest:
    """Whether somebody asked this process to end."""

    def __init__(self) -> None:
        self.asked = False
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, self._ask)

    def _ask(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002 - a handler's signature
        self.asked = True


def take(share: float, end_ns: int, ended: Callable[[], bool]) -> None:
    """Spends `share` of one core until `end_ns` of the monotonic clock.

    One burst a period; what the scheduler withheld is made up for later, by bursts no longer than a period. All that
    this thread spends counts: waking five hundred times per second costs some per cent of a core.
    """
    start_ns, spent_before_ns = time.monotonic_ns(), time.thread_time_ns()
    due_ns = start_ns
    while (now_ns := time.monotonic_ns()) < end_ns and not ended():
        owed_ns = round(share * (now_ns - start_ns + BURN_PERIOD_NS)) - (time.thread_time_ns() - spent_before_ns)
        if owed_ns > 0:
            burn(min(owed_ns, BURN_PERIOD_NS))
        due_ns = max(due_ns + BURN_PERIOD_NS, time.monotonic_ns())
        time.sleep(max(0, min(due_ns, end_ns) - time.monotonic_ns()) / NS_PER_S)


def _start_worker(share: float, end_ns: int, stop: StopRequest) -> int:
    """Pid of a worker, which also ends when its parent is gone."""
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            take(share, end_ns, lambda: stop.asked or os.getppid() != parent)
            code = 0
        finally:
            os._exit(code)  # what the parent has opened is the parent's to close
    return pid


def _ended(pid: int) -> int:
    """End a worker and return its exit code.

    It is asked again until it has ended: what is asked of a process right after its fork can be forgotten there.
    """
    while True:
        found, status = os.waitpid(pid, os.WNOHANG)
        if found == pid:
            return os.waitstatus_to_exitcode(status)
        os.kill(pid, signal.SIGTERM)  # one that has ended waits to be collected, so its number is still its own
        time.sleep(_LOOK_S)


def _number(low: float, high: float, kind: Callable[[str], float]) -> Callable[[str], float]:
    def read(text: str) -> float:
        try:
            number = kind(text)
        except ValueError:
            number = -1
        if not low < number <= high:
            raise argparse.ArgumentTypeError(f"must be a number above {low:g} and up to {high:g}, not {text!r}")
        return number

    return read


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="mocks.neighbour", description="Takes a known share of CPU for a time.")
    cores, share, seconds = (
        _number(0, _CORES_LIMIT_COUNT, int),
        _number(0, 1, float),
        _number(0, _LIMIT_S, float),
    )
    parser.add_argument("--cores", type=cores, default=1, help="how many cores to be busy on")
    parser.add_argument("--share", type=share, default=0.5, help="share of each that is taken, above 0 and up to 1")
    parser.add_argument("--seconds", type=seconds, required=True, help="how long, in seconds")
    parser.add_argument("--ready", type=Path, help="file that is made when all of them are busy")
    return parser.parse_args()


def main() -> int:
    """Exit code of the program: 0 at its end, asked for or not."""
    arguments = _arguments()
    stop = StopRequest()
    start_ns = time.monotonic_ns()
    end_ns = start_ns + round(arguments.seconds * NS_PER_S)
    workers = [_start_worker(arguments.share, end_ns, stop) for _ in range(arguments.cores)]
    sys.stdout.write(f"mocks.neighbour: takes {arguments.share:g} of {arguments.cores} cores\n")
    sys.stdout.flush()
    if arguments.ready is not None:
        arguments.ready.touch()
    while time.monotonic_ns() < end_ns and not stop.asked:
        time.sleep(_LOOK_S)
    failed = [pid for pid in workers if _ended(pid) != 0]
    wall_s = (time.monotonic_ns() - start_ns) / NS_PER_S
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu_s = used.ru_utime + used.ru_stime
    reported = {"cores": arguments.cores, "share": arguments.share, "wall_s": wall_s, "cpu_s": cpu_s}
    sys.stdout.write(json.dumps(reported | {"cpu_ratio": cpu_s / wall_s / arguments.cores}) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
