"""Readiness: a real request that succeeds again and again while the process is watched.

Called after every start. A port that responds once is not enough: servers with several workers, and those that
crash after their first request, respond once too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from weighbridge.errors import LaneFailed

_FIRST_PAUSE_S = 0.05
_LONGEST_PAUSE_S = 0.25
_SUCCESS_COUNT = 3


@dataclass(frozen=True)
class Watched:
    """Who is waited for: a name for sentences, the end of its log, and what may be wrong, at the time of asking."""

    name: str
    log_tail: Callable[[], str] = str
    hint: Callable[[], str] = str

    def because(self, problem: str) -> str:
        """Return what was wrong, with the hint behind it if there is one."""
        hint = self.hint()
        return f"{problem}; {hint}" if hint else problem


def wait_ready(
    probe: Callable[[], str | None],
    *,
    alive: Callable[[], str | None],
    within_s: float,
    hold_s: float,
    watched: Watched,
) -> float:
    """Seconds until the first of three successes that are spread over `hold_s` with no failure in between.

    `probe` does one real request and gives None, or what was wrong with the response; an OSError counts as that.
    `alive` gives None, or how the process ended. Raises LaneFailed `crashed`, or `never_ready` when no lasting
    success began within `within_s`.
    """
    begun = time.monotonic()
    pause_s = _FIRST_PAUSE_S
    while True:
        at_s = time.monotonic() - begun
        problem = _try(probe, alive, watched) or _hold(probe, alive, hold_s, watched)
        if problem is None:
            return at_s
        if time.monotonic() - begun >= within_s:
            sentence = f"{watched.name} did not become ready within {within_s:g} s: {watched.because(problem)}."
            raise LaneFailed(sentence, reason="never_ready", phase="ready", log_tail=watched.log_tail())
        time.sleep(pause_s)
        pause_s = min(pause_s * 1.5, _LONGEST_PAUSE_S)


def _hold(
    probe: Callable[[], str | None], alive: Callable[[], str | None], hold_s: float, watched: Watched
) -> str | None:
    steps = _SUCCESS_COUNT - 1
    begun = time.monotonic()
    for step in range(1, steps + 1):
        until = begun + hold_s * step / steps
        while (remaining_s := until - time.monotonic()) > 0:
            _require_alive(alive, watched)
            time.sleep(min(remaining_s, _LONGEST_PAUSE_S))
        if problem := _try(probe, alive, watched):
            return f"after a first success, {problem}"
    return None


def _try(probe: Callable[[], str | None], alive: Callable[[], str | None], watched: Watched) -> str | None:
    _require_alive(alive, watched)
    try:
        problem = probe()
    except OSError as error:
        problem = str(error)
    # Asked again after the answer: another program on the port may have given it.
    _require_alive(alive, watched)
    return problem


def _require_alive(alive: Callable[[], str | None], watched: Watched) -> None:
    if death := alive():
        sentence = f"{watched.name} ended before it was ready: {watched.because(death)}."
        raise LaneFailed(sentence, reason="crashed", phase="ready", log_tail=watched.log_tail())
