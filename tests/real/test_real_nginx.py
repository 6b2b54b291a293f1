"""The nginx recipe with the real nginx between the real mocks, started and stopped as a campaign does it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from weighbridge import resources
from weighbridge.campaign.window.preflight import preflight
from weighbridge.errors import ToolMissing
from weighbridge.matrix.catalogue import read_catalogue
from weighbridge.matrix.cells import LaneKey
from weighbridge.matrix.recipe import Recipe
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.rig.install.gateway import find_gateway
from weighbridge.rig.lanes import http
from weighbridge.rig.lanes.lane import Lane, LaneSetup, lane_up
from weighbridge.rig.lanes.mocks import Keys, Mocks, Ports, start_mocks
from weighbridge.rig.processes.ports import choose
from weighbridge.rig.processes.supervisor import Supervisor

pytestmark = pytest.mark.real

ANSWER = AnswerSpec("quick", 0.005, 6, 0.01)
KEYS = Keys("client-key", "provider-key", "machine-key")


def recipe() -> Recipe:
    """The recipe that ships."""
    found = read_catalogue([resources.gateways()]).get("nginx")
    assert found is not None
    return found


@contextmanager
def lane_of(folder: Path, **settings: str) -> Iterator[tuple[Lane, Mocks]]:
    """An nginx lane that serves, with its mocks."""
    for name in ("scratch", "disk"):
        (folder / name).mkdir()
    ports = Ports.among(choose(6, None))
    with Supervisor(folder / "state", search_path=os.environ["PATH"]) as supervisor:
        mocks = start_mocks(supervisor, ports, KEYS, folder)
        setup = LaneSetup(
            key=LaneKey("nginx", tuple(settings.items()), "none", "work"),
            recipe=recipe(),
            installed=find_gateway(recipe(), folder, dict(os.environ)),
            ports=ports,
            keys=KEYS,
            scratch=folder / "scratch",
            disk=folder / "disk",
        )
        with lane_up(supervisor, setup) as lane:
            yield lane, mocks


@pytest.fixture(scope="module")
def lane(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Lane, Mocks]]:
    """One lane with the recipe's defaults for all tests that only ask it something."""
    if shutil.which("nginx") is None:
        missing = pytest.fail if request.config.getoption("--require-tools") else pytest.skip
        missing("nginx is not on PATH")
    with lane_of(tmp_path_factory.mktemp("lane")) as made:
        yield made


def bodies(count: int, mode: Mode = "plain") -> list[bytes]:
    """Requests as a client sends them."""
    message = {"role": "user", "content": "rivers and bridges"}
    return [json.dumps({"model": "m", "messages": [message], "stream": mode == "stream"}).encode()] * count


def send(lane: Lane, body: bytes) -> http.HttpAnswer:
    """The response to one request, with the time of each read."""
    headers = (*lane.headers, ("content-type", "application/json"))
    return http.stream("POST", lane.url, headers=headers, body=body, timeout_s=10.0)


def test_it_serves_both_modes_and_changes_nothing(lane: tuple[Lane, Mocks]) -> None:
    """The provider sees what was sent, and stamps and end marker come back."""
    for mode in ("plain", "stream"):
        evidence = preflight(*lane, mode, ANSWER)
        assert (evidence.ok, evidence.problem) == (True, None)
        assert (evidence.stamp_survives, evidence.upstream_changes) == (True, ())


def test_a_stream_passes_through_as_it_comes(lane: tuple[Lane, Mocks]) -> None:
    """Its chunks are read one after the other, over the time that the provider takes for them."""
    lane[1].reset(ANSWER)
    got = send(lane[0], bodies(1, "stream")[0])
    times_s = [chunk.at_ns / 1e9 for chunk in got.chunks]
    assert len(times_s) >= ANSWER.chunk_count
    assert times_s[-1] - times_s[0] > 0.8 * (ANSWER.chunk_count - 1) * ANSWER.gap_s


def test_connections_to_the_provider_are_kept(lane: tuple[Lane, Mocks]) -> None:
    """Many requests one after the other share a connection of the worker."""
    lane[1].reset(ANSWER)
    for body in bodies(12):
        assert send(lane[0], body).status == 200
    counted = lane[1].provider.ask("GET", "/counters")
    assert counted["request_count"] == 12
    assert counted["connection_count"] <= 1


def test_a_large_prompt_is_not_spooled(lane: tuple[Lane, Mocks]) -> None:
    """A body far above nginx's buffers and default limit goes through, and no file of it was left anywhere."""
    lane[1].reset(ANSWER)
    message = {"role": "user", "content": "a" * 3_000_000}
    answer = send(lane[0], json.dumps({"model": "m", "messages": [message]}).encode())
    assert answer.status == 200
    assert "buffered to a temporary file" not in lane[0].log_tail()


def test_all_that_it_opens_lies_in_its_lane(lane: tuple[Lane, Mocks]) -> None:
    """Pid file and temporary folders are in the state folder; every file that is open for writing is ours."""
    made = lane[0]
    assert made.child is not None
    master = psutil.Process(made.child.pid)
    folder = made.setup.disk.parent
    states = list(made.setup.disk.glob("lane-*"))
    assert len(states) == 1
    assert {path.name for path in states[0].iterdir()} >= {"nginx.pid", "client_body", "proxy"}
    processes = [master, *master.children(recursive=True)]
    assert len(processes) == 2
    for process in processes:
        assert all(Path(file.path).is_relative_to(folder) for file in process.open_files() if file.mode != "r")


def test_it_leaves_nothing_behind(tool, tmp_path: Path) -> None:
    """After the lane its port is free and its state folder has gone."""
    tool("nginx")
    with lane_of(tmp_path, workers="2") as (made, _):
        port = made.setup.ports.gateway
        assert made.child is not None
        assert len(psutil.Process(made.child.pid).children()) == 2
    assert list((tmp_path / "disk").iterdir()) == []
    assert choose(1, port) == (port,)


def test_its_version_is_told(tool, tmp_path: Path) -> None:
    """Nginx prints it on standard error."""
    tool("nginx")
    facts = find_gateway(recipe(), tmp_path, dict(os.environ)).facts
    assert (facts.name, facts.source) == ("nginx", "path")
    assert facts.version is not None
    assert facts.version[0].isdigit()


def test_where_it_is_absent_the_reason_says_what_is_needed(tmp_path: Path) -> None:
    """A PATH without it: one sentence without a path."""
    with pytest.raises(ToolMissing, match=r"nginx needs the program nginx on PATH") as detected:
        find_gateway(recipe(), tmp_path, {"PATH": str(tmp_path)})
    assert "/" not in str(detected.value)
