"""What an attempt asks: the same of all lanes of a block, something else in every other window of a lane."""

from __future__ import annotations

from dataclasses import replace

from weighbridge.campaign.attempt import Attempt
from weighbridge.campaign.schedule import WindowSpec
from weighbridge.campaign.window.window import repeat_share
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.matrix.loads import RateLoad
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec

CELL = Cell(
    id="direct.none.work.plain.rate-50",
    lane=LaneKey("direct", (), "none", "work"),
    mode="plain",
    payload=PayloadSpec("1k", 256, 1024),
    answer=AnswerSpec("20ms", 0.02, 16, 0.005),
    load=RateLoad(50.0, 30.0, 1500, 32, 25, 60.0),
    driver="probe",
    baseline="direct.none.work.plain.rate-50",
)


def _asked(cell: Cell = CELL, block: int = 1, number: int = 1) -> str:
    return Attempt(WindowSpec(cell), block, number).asked


def test_lanes_and_attempts_of_a_block_are_asked_the_same() -> None:
    """Whatever gateway, settings, chain and disk, and at whichever attempt: prompts and starts are drawn from it."""
    other = replace(CELL, id="other", lane=LaneKey("litellm", (("workers", "2"),), "starter", "fast"))
    assert _asked(other) == _asked()
    assert _asked(number=2) == _asked()
    assert Attempt(WindowSpec(other), 1, 1).name != Attempt(WindowSpec(CELL), 1, 1).name


def test_other_windows_of_a_lane_and_other_blocks_are_asked_something_else() -> None:
    """So no gateway can answer one window out of what it kept of another."""
    others = [
        _asked(block=2),
        _asked(replace(CELL, mode="stream")),
        _asked(replace(CELL, payload=PayloadSpec("8k", 256, 8192))),
        _asked(replace(CELL, answer=AnswerSpec("long", 0.02, 64, 0.005))),
        _asked(replace(CELL, load=replace(CELL.load, rate_rps=100.0))),
    ]
    assert len({_asked(), *others}) == 6


def test_a_gateways_own_retries_are_no_repeated_prompts() -> None:
    """The provider got 130 calls for 100 requests with 98 prompts: two were sent twice by the client."""
    assert round(repeat_share(130, 98, 100), 9) == 0.02
    assert repeat_share(98, 98, 100) == 0.0
    assert repeat_share(0, 0, 100) == 0.0
    assert round(repeat_share(50, 40, None), 9) == 0.2
