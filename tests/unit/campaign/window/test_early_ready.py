"""A gateway that refuses right after "ready": tried again while that may pass, and no longer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from weighbridge.campaign.window import early_ready
from weighbridge.matrix.requests import AnswerSpec
from weighbridge.record.run import Evidence

GOOD = Evidence(mode="plain", status=200, ok=True, problem=None)
BUSY = Evidence(mode="plain", status=503, ok=False, problem="status 503")
REFUSED = Evidence(mode="plain", status=None, ok=False, problem="no response (Connection refused)", is_refused=True)
SILENT = Evidence(mode="plain", status=None, ok=False, problem="no response (timed out)")
WRONG = Evidence(mode="plain", status=500, ok=False, problem="status 500")


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        """Return the time."""
        return self.now

    def sleep(self, span_s: float) -> None:
        """Move it."""
        self.now += span_s


class Lane:
    """A lane that is dead after so many looks."""

    def __init__(self, looks: int = 1000) -> None:
        self.looks = looks

    def death(self) -> str | None:
        """Return how it ended."""
        self.looks -= 1
        return None if self.looks > 0 else "it ended"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Time without waiting."""
    clock = Clock()
    monkeypatch.setattr(early_ready, "time", clock)
    return clock


def served(monkeypatch: pytest.MonkeyPatch, answers: Iterator[Evidence], lane: Lane | None = None) -> Evidence:
    """What is kept of a lane that responds so, which may take 6 s."""
    monkeypatch.setattr(early_ready, "preflight", lambda *_: next(answers))
    given: Any = lane or Lane()
    return early_ready.first_served(given, given, "plain", AnswerSpec("a", 0.0, 1, 0.0), until=6.0)


@pytest.mark.parametrize("first", [BUSY, REFUSED])
def test_it_is_tried_again_until_it_serves(clock: Clock, monkeypatch: pytest.MonkeyPatch, first: Evidence) -> None:
    """The evidence is that of the request that was served, with how long and how it was refused before."""
    seen = served(monkeypatch, iter([first, BUSY, BUSY, GOOD]))
    assert seen.ok
    assert seen.refused_s == pytest.approx(clock.now, abs=0.06)
    assert seen.refused_with == ("status 503" if first is BUSY else "no response (Connection refused)")
    assert early_ready.remark(seen, "G").startswith("G said that it is ready, and the first plain request got ")


@pytest.mark.parametrize("only", [GOOD, WRONG, SILENT])
def test_what_does_not_pass_is_asked_once(clock: Clock, monkeypatch: pytest.MonkeyPatch, only: Evidence) -> None:
    """A good response, an error of the gateway's own and silence are what they are."""
    assert served(monkeypatch, iter([only])) == only
    assert clock.now == 0.0
    assert early_ready.remark(only, "G") is None


def test_it_is_given_up_at_the_end_of_its_time(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that responds with 503 for good is refused with that, once its time to get ready is over."""
    seen = served(monkeypatch, iter(lambda: BUSY, None))
    assert (seen.ok, seen.status) == (False, 503)
    assert clock.now == pytest.approx(6.0, abs=0.3)


def test_a_dead_gateway_is_not_waited_for(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing will serve there any more."""
    assert not served(monkeypatch, iter(lambda: REFUSED, None), Lane(looks=2)).ok
    assert clock.now < 1.0
