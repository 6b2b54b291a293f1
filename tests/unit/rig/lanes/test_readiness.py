"""Readiness that has to last."""

from __future__ import annotations

import itertools

import pytest

from weighbridge.errors import LaneFailed
from weighbridge.rig.lanes.readiness import Watched, wait_ready

WATCHED = Watched("gw", lambda: "last words")


def _alive() -> None:
    return None


def test_three_successes_are_asked_for() -> None:
    """A probe that succeeds from the start is called three times, no less."""
    calls = itertools.count(1)
    seen: list[int] = []
    wait_ready(lambda: seen.append(next(calls)), alive=_alive, within_s=5, hold_s=0.05, watched=WATCHED)
    assert seen == [1, 2, 3]


def test_a_failure_in_the_hold_starts_it_anew() -> None:
    """Two successes and a failure do not add up with a later success."""
    answers = iter(["refused", None, None, "500", None, None, None])
    used: list[str | None] = []

    def probe() -> str | None:
        used.append(next(answers))
        return used[-1]

    wait_ready(probe, alive=_alive, within_s=5, hold_s=0.02, watched=WATCHED)
    assert used == ["refused", None, None, "500", None, None, None]


def test_never_ready_says_what_was_wrong_last() -> None:
    """The sentence has the name, the limit and the last problem; an OSError of the probe is one."""

    def probe() -> str | None:
        raise ConnectionRefusedError("nobody listens")

    with pytest.raises(LaneFailed, match=r"gw did not become ready within 0.1 s: nobody listens\.") as detected:
        wait_ready(probe, alive=_alive, within_s=0.1, hold_s=0.01, watched=WATCHED)
    assert (detected.value.reason, detected.value.phase) == ("never_ready", "ready")
    assert detected.value.log_tail == "last words"


def test_a_death_before_the_first_answer_is_a_crash() -> None:
    """A process that ended is not waited for."""
    with pytest.raises(LaneFailed, match="gw ended before it was ready: exit code 3") as detected:
        wait_ready(lambda: "refused", alive=lambda: "exit code 3", within_s=600, hold_s=0.01, watched=WATCHED)
    assert detected.value.reason == "crashed"


def test_a_death_in_the_hold_is_a_crash() -> None:
    """Good responses do not count when the process dies between them: another program may give them."""
    deaths = itertools.chain([None] * 3, itertools.repeat("died of SIGSEGV"))
    with pytest.raises(LaneFailed, match="SIGSEGV") as detected:
        wait_ready(lambda: None, alive=lambda: next(deaths), within_s=600, hold_s=600, watched=WATCHED)
    assert detected.value.reason == "crashed"
