"""The start and the end of a probe that rides along: with its window open, or with the reason why it cannot."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.unit.probe_lane import SECRET, Client, planted, stamped
from weighbridge.campaign.driving import make_bodies
from weighbridge.campaign.rider import Riding, alight, board, plan_ride
from weighbridge.command import Ended
from weighbridge.load.driver import LoadPlan
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.matrix.loads import RateLoad
from weighbridge.matrix.loads.companion import Companion
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.rig.supervisor import Supervisor

NAME = "7 a cell 1 1"
LOAD = RateLoad(80.0, 1.0, 80, 8, 0, 5.0, Companion("probe", 20.0, 4))
MAIN, RIDER = (part.load for part in LOAD.parts())
CELL = Cell(
    "reference.none.work.plain.rate-80",
    LaneKey("reference", (), "none", "work"),
    "plain",
    PayloadSpec("small", 64, 128),
    AnswerSpec("at-once", 0.0, 1, 0.0),
    LOAD,
    "oha",
    "direct.none.work.plain.rate-80",
)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Any]:
    """As much of a stage as a ride takes, with a supervisor that really runs programs."""
    with Supervisor(tmp_path / "state") as supervisor:
        keys = SimpleNamespace(all=(SECRET,))
        yield SimpleNamespace(supervisor=supervisor, cpus=None, keys=keys, without_folders=lambda text: text)


LANE: Any = SimpleNamespace(death=lambda: None)


def _plan(folder: Path, url: str) -> LoadPlan:
    out = folder / "window" / "out"
    out.mkdir(parents=True)
    headers = (("authorization", f"Bearer {SECRET}"), ("content-type", "application/json"))
    main = LoadPlan(
        Path(sys.executable), url, "plain", MAIN, headers, (SECRET,), folder / "bodies.jsonl", out, 1.0, 7
    )
    ride = plan_ride(CELL, main, NAME)
    assert ride is not None
    return ride


def _answer(client: Client) -> None:
    client.answer(stamped())


def test_a_ride_has_its_part_of_the_rate_and_prompts_of_its_own(stage: Any, tmp_path: Path) -> None:
    """The probe sends its part within the window, each prompt once, and tells when its window opens."""
    with planted(_answer) as server:
        plan = _plan(tmp_path, server.url)
        riding = board(stage, LANE, plan)
        assert isinstance(riding, Riding), riding
        assert plan.ready is not None
        assert plan.ready.exists()
        driven = alight(stage, riding, Ended(exit_code=0, wall_s=1.0))
        reading, problem = driven.read()

    assert reading is not None, problem
    assert plan.load.offered_rps == 20.0
    assert reading.report.answered_count == RIDER.window_count == 23
    assert server.open_max_count <= 4
    assert reading.inband is not None
    assert len(set(reading.inband.reference.tolist())) == 23
    make_bodies(tmp_path / "main.jsonl", CELL, 23, NAME)
    assert not set(plan.bodies.read_bytes().splitlines()) & set((tmp_path / "main.jsonl").read_bytes().splitlines())
    assert set(driven.kept("rider")) >= {"rider/report.json", "rider/inband.npz", "rider/argv.txt"}
    assert not any(SECRET.encode() in data for data in driven.kept("rider").values())


def test_a_probe_that_does_not_get_ready_says_why(stage: Any, tmp_path: Path) -> None:
    """It ended before its window: the reason holds its own words, and nothing of it runs on."""
    plan = _plan(tmp_path, "http://127.0.0.1:9/v1/chat/completions")
    plan.bodies.unlink()

    said = board(stage, LANE, plan)

    assert isinstance(said, str)
    assert "did not get ready" in said
    assert "cannot be read" in said
    assert len(stage.supervisor.pids()) == 2


def test_the_probe_is_stopped_with_a_driver_that_was_cut(stage: Any, tmp_path: Path) -> None:
    """Against a server that never answers it ends as soon as the driver was cut, with a partial report."""
    with planted(Client.stay) as server:
        riding = board(stage, LANE, _plan(tmp_path, server.url))
        assert isinstance(riding, Riding), riding
        driven = alight(stage, riding, Ended(exit_code=0, wall_s=1.0, cut=True))
    reading, problem = driven.read()

    assert driven.ended.cut
    assert not driven.ended.killed
    # Left alone it would have been cut much later, for being late.
    assert riding.command.cut_after_s is not None
    assert driven.ended.wall_s < riding.command.cut_after_s
    assert reading is not None, problem
    assert reading.report.answered_count == 0


def test_a_load_without_a_ride_has_no_plan(tmp_path: Path) -> None:
    """Where the matrix or the rule leaves it out there is nothing to start."""
    out = tmp_path / "out"
    main = LoadPlan(Path(sys.executable), "http://127.0.0.1:9/", "plain", LOAD, (), (), tmp_path / "b", out, 1.0, 7)
    cell = Cell(
        CELL.id, CELL.lane, "plain", CELL.payload, CELL.answer, LOAD.without_companion("off"), "oha", CELL.baseline
    )

    assert plan_ride(cell, main, "7") is None
