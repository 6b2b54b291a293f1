"""Windows of any number of clients through a real lane: driver, companion, open streams and two probes alike."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.component.project import FAKES
from weighbridge import resources
from weighbridge.campaign.window.clients import ClientSpec
from weighbridge.campaign.window.ground_truth import Truth
from weighbridge.campaign.window.open_streams import look_at_step
from weighbridge.campaign.window.probe_pass import ROWS_FILE
from weighbridge.campaign.window.window import Measured, WindowPlan, run_window
from weighbridge.command import Command
from weighbridge.errors import LaneFailed
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.load.contract.driver import Driver, LoadPlan
from weighbridge.load.drivers import DRIVERS, OF_ROLE
from weighbridge.matrix.catalogue import read_catalogue
from weighbridge.matrix.cells import BASELINE, Cell, LaneKey
from weighbridge.matrix.loads import ClientsLoad, Load, OpenStreamsLoad, RateLoad
from weighbridge.matrix.loads.companion import Companion
from weighbridge.matrix.requests import AnswerSpec, Mode, PayloadSpec
from weighbridge.record.figures import Timing
from weighbridge.record.host import ToolFacts
from weighbridge.record.probe_counts import StampCounts
from weighbridge.rig.install.atomic_install import Installed, Tool
from weighbridge.rig.install.bundled import bundled_tool
from weighbridge.rig.lanes.lane import Lane, LaneSetup, lane_up
from weighbridge.rig.lanes.mocks import Keys, Ports, start_mocks
from weighbridge.rig.lanes.rig import Rig
from weighbridge.rig.machine.load_meter import Meter
from weighbridge.rig.processes.ports import choose
from weighbridge.rig.processes.supervisor import Supervisor

pytestmark = [pytest.mark.component, pytest.mark.timeout(120)]

KEYS = Keys(client="sk-client-key", provider="sk-provider-key", machine="vdt_machine-token")
# Streams last two seconds, so that some of them can be kept open beside others.
ANSWER = AnswerSpec("slow", 0.02, 8, 0.3)
AT_ONCE = AnswerSpec("at-once", 0.01, 1, 0.0)
OPEN = OpenStreamsLoad((0, 1, 3), 0.5, 5.0)


def rate(rate_rps: float, request_count: int, connections: int = 4) -> RateLoad:
    """An open loop without a warm-up."""
    return RateLoad(rate_rps, request_count / rate_rps, request_count, connections, 0, 10.0)


@dataclass(frozen=True)
class Gone:
    """A driver whose program is not there."""

    driver: Driver

    def __getattr__(self, name: str) -> Any:
        return getattr(self.driver, name)

    def command(self, plan: LoadPlan) -> Command:
        """The same arguments for a program that does not exist."""
        command = self.driver.command(plan)
        return replace(command, argv=("/nonexistent/program", *command.argv[1:]))


def gone(client: ClientSpec) -> ClientSpec:
    """The same client without its program."""
    stand_in: Any = Gone(client.driver)
    return replace(client, driver=stand_in)


@dataclass(frozen=True)
class Standing:
    """A rig with the lane without a gateway."""

    rig: Rig
    lane: Lane
    oha: Tool

    def client(self, role: str, driver: str, load: Load, *, is_optional: bool = True) -> ClientSpec:
        """A client of a window."""
        found = OF_ROLE["open_streams"] if role == "open_streams" else DRIVERS[driver]
        folder = found.program
        tool = bundled_tool(found.name, folder) if isinstance(folder, Path) else self.oha
        spec = ClientSpec(role, found, tool, load, is_optional)
        return replace(spec, look=partial(look_at_step, self.rig, self.lane)) if role == "open_streams" else spec

    def window(
        self,
        clients: Sequence[ClientSpec],
        load: Load,
        answer: AnswerSpec,
        mode: Mode,
        probe_pass: ClientSpec | None = None,
    ) -> Measured:
        """Drive one window of these clients, and a pass of the probe behind it."""
        cell = Cell("direct.x", self.lane.setup.key, mode, PayloadSpec("s", 64, 128), answer, load, "oha", "direct.x")
        return run_window(
            self.rig, [self.lane], WindowPlan(cell, tuple(clients), "7 direct.x 1 1", probe_pass=probe_pass), Truth()
        )


@pytest.fixture(scope="module")
def standing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    """Real mocks, the direct lane, real probes and a stand-in oha."""
    folder = tmp_path_factory.mktemp("clients")
    oha = folder / "oha"
    oha.write_text(f"#!{sys.executable}\n" + (FAKES / "oha").read_text().partition("\n")[2])
    oha.chmod(0o755)
    recipe = read_catalogue([resources.gateways()]).get(BASELINE)
    assert recipe is not None
    facts = ToolFacts(name="oha", version="1.16.0", sha256=None, source="path")
    key = LaneKey(BASELINE, (), "none", "work")
    with Supervisor(folder / "state", search_path=os.environ["PATH"]) as supervisor:
        ports = Ports.among(choose(6, None))
        mocks = start_mocks(supervisor, ports, KEYS, folder)
        rig = Rig(supervisor, mocks, Meter(), ports, KEYS, folder, {folder: "SCRATCH"})
        installed = Installed(None, Path(sys.executable), facts)
        with lane_up(supervisor, LaneSetup(key, recipe, installed, ports, KEYS, folder, folder)) as lane:
            yield Standing(rig, lane, Tool(oha, facts))


def test_a_window_of_three_clients(standing: Standing) -> None:
    """Driver, companion and open streams each send their part, and the provider received just their sum."""
    driver, companion = rate(4, 6, connections=12), rate(2, 4, connections=6)
    clients = [
        standing.client("driver", "oha", driver),
        standing.client("companion", "probe", companion),
        standing.client("open_streams", "probe", OPEN),
    ]
    measured = standing.window(clients, rate(6, 10, connections=18), ANSWER, "stream")
    window = measured.window

    assert [client.role for client in window.clients] == ["driver", "companion", "open_streams"]
    assert all(client.ended_well and not client.problem for client in window.clients)
    sent = driver.window_count + companion.window_count + OPEN.window_count
    assert window.counts is not None
    assert window.counts.client_sent_count == window.counts.provider_request_count == sent
    assert window.streams is not None
    assert [point.client_open_count for point in window.streams.points] == [0, 1, 3]
    assert all(point.open_count >= point.client_open_count for point in window.streams.points)
    figures = run_figures(window)
    assert figures is not None
    assert isinstance(figures.stamps, StampCounts)
    assert figures.stamps.whole_count == companion.window_count
    folders = {name.partition("/")[0] for name in measured.files if "/" in name}
    assert {"driver", "companion", "open_streams"} <= folders


def test_a_window_of_two_probes(standing: Standing) -> None:
    """The same code: the first leads, both see stamps, and no prompt of one is one of the other."""
    loads = (rate(40, 36), rate(20, 18))
    roles = ("driver", "companion")
    clients = [standing.client(role, "probe", load) for role, load in zip(roles, loads, strict=True)]
    measured = standing.window(clients, rate(60, 54), AT_ONCE, "plain")
    traces = [client.trace for client in measured.window.clients]

    assert all(client.sees_stamps and client.ended_well for client in measured.window.clients)
    references = [set(trace.requests.reference.tolist()) for trace in traces if trace is not None]
    assert [len(found) for found in references] == [load.window_count for load in loads]
    assert not references[0] & references[1]
    figures = run_figures(measured.window)
    assert figures is not None
    assert figures.known("achieved_rps") == pytest.approx(60, rel=0.2)


def test_a_closed_loop_of_one_client(standing: Standing) -> None:
    """One client is a window too, and no other key of ours is in what is kept."""
    load = ClientsLoad(2, 20, 2, 4, 10.0)
    measured = standing.window([standing.client("driver", "probe", load)], load, AT_ONCE, "plain")

    assert [client.role for client in measured.window.clients] == ["driver"]
    assert measured.samples is not None
    assert {"driver/report.json", "driver/requests.npz", "driver/argv.txt", "provider.csv"} <= set(measured.files)
    assert not any(key.encode() in data for data in measured.files.values() for key in KEYS.all)


@pytest.mark.parametrize("clients", [1, 3])
def test_a_pass_of_the_probe_follows_a_closed_loop(standing: Standing, clients: int) -> None:
    """With one client it gives the added time, with more none; counts and rates are the driver's alone."""
    load = ClientsLoad(clients, 30, clients, 0, 10.0)
    behind = standing.client("probe_pass", "probe", load.pass_load(AT_ONCE, "plain"))
    measured = standing.window([standing.client("driver", "oha", load)], load, AT_ONCE, "plain", behind)
    window = measured.window

    assert window.probe_pass is not None
    assert window.probe_pass.ended_well
    assert window.probe_pass.trace is not None
    assert len(window.probe_pass.trace.requests) == load.window_count
    assert {"probe_pass/report.json", ROWS_FILE} <= set(measured.files)
    assert window.counts is not None
    assert window.counts.provider_request_count == window.counts.client_sent_count == load.window_count
    figures = run_figures(window)
    assert figures is not None
    assert isinstance(figures.added_ms, Timing) is (clients == 1)
    assert figures.count("error_count") == 0


def test_a_pass_that_cannot_begin_leaves_the_window_as_it_is(standing: Standing) -> None:
    """The driver's window counts, without what only a probe could tell."""
    load = ClientsLoad(1, 20, 1, 0, 10.0)
    behind = gone(standing.client("probe_pass", "probe", load))
    window = standing.window([standing.client("driver", "oha", load)], load, AT_ONCE, "plain", behind).window

    assert window.probe_pass is None
    assert window.lead.ended_well


def test_a_companion_that_cannot_begin_leaves_its_part_to_the_driver(standing: Standing) -> None:
    """The whole rate is the driver's then, with the reason; nothing of the other runs on."""
    whole = replace(rate(40, 36), companion=Companion("probe", 10.0, 2))
    driver, beside = whole.parts()
    refused = gone(standing.client("companion", "probe", beside.load))
    clients = [standing.client("driver", "probe", driver.load), refused]
    before = standing.rig.supervisor.pids()
    window = standing.window(clients, whole, AT_ONCE, "plain").window

    assert [client.role for client in window.clients] == ["driver"]
    assert window.load.no_companion is not None
    assert "could not be started" in window.load.no_companion
    assert window.lead.load.offered_rps == 40
    assert window.counts is not None
    assert window.counts.provider_request_count == window.lead.load.window_count
    assert standing.rig.supervisor.pids() == before


def test_a_client_that_a_window_cannot_do_without_fails_it(standing: Standing) -> None:
    """Open streams that cannot begin are no window at all: the rig's fault, and the driver was never begun."""
    client = standing.client("companion", "probe", rate(10, 8), is_optional=False)
    clients = [standing.client("driver", "probe", rate(40, 36)), gone(client)]
    before = standing.rig.supervisor.pids()

    with pytest.raises(LaneFailed) as failed:
        standing.window(clients, rate(50, 44), AT_ONCE, "plain")

    assert failed.value.reason == "generator_failed"
    assert standing.rig.supervisor.pids() == before
