"""What stands during a whole campaign: the mocks, the meter, the store and who is told. Built by the walk."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge import resources
from weighbridge.campaign.diary import Diary
from weighbridge.campaign.listener import Listener
from weighbridge.campaign.planning import fingerprint
from weighbridge.campaign.request import CampaignRequest
from weighbridge.load.driver import LoadPlan
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.record.host import LoadReading
from weighbridge.record.store import CampaignStore
from weighbridge.rig.affinity import CpuPlan
from weighbridge.rig.lane import Lane, LaneSetup
from weighbridge.rig.meter import Meter
from weighbridge.rig.mocks import Keys, Mocks, Ports
from weighbridge.rig.supervisor import Supervisor


def no_witness(_lane: Lane) -> Mapping[str, bytes]:
    """Nothing: most gateways do not tell what they did to each request."""
    return {}


def death_of(lane: Lane, _plan: LoadPlan) -> str | None:
    """How the gateway ended; None while it lives."""
    return lane.death()


@dataclass(frozen=True)
class Stage:
    """A campaign that is set up and can run windows.

    `witness` is asked after each window for files that its gateway has to tell about it, `watch` about ten times a
    second while a window is driven: a text from it ends the window.
    """

    request: CampaignRequest
    store: CampaignStore
    supervisor: Supervisor
    mocks: Mocks
    meter: Meter
    ports: Ports
    keys: Keys
    scratch: Path
    diary: Diary
    listener: Listener
    cpus: CpuPlan | None = None
    witness: Callable[[Lane], Mapping[str, bytes]] = no_witness
    watch: Callable[[Lane, LoadPlan], str | None] = death_of

    def reading(self) -> LoadReading:
        """How busy the machine is, our own processes left out of the foreign share."""
        return self.meter.read(self.supervisor.pids())

    def load_limit(self) -> float | None:
        """Highest one-minute load that is allowed at both ends of a run; None when the matrix sets none."""
        share = self.request.loaded.matrix.accept.load_limit_per_cpu
        return None if share is None else share * self.store.record().host.cpu_count

    def without_folders(self, text: str) -> str:
        """The text with names in place of the folders of this machine: what is kept must not tell whose it is."""
        request = self.request
        disks = {request.disk_folder(name): f"DISK-{name}" for name in request.loaded.matrix.disks}
        named = {**disks, self.scratch: "SCRATCH", request.home: "TOOLS", request.loaded.folder.absolute(): "PROJECT"}
        named |= {resources.root(): "WEIGHBRIDGE", Path.home(): "~"}
        for folder, name in sorted(named.items(), key=lambda one: len(str(one[0])), reverse=True):
            if folder.is_absolute() and folder != folder.parent:
                text = text.replace(str(folder), name)
        return text

    def lane_setup(self, lane: LaneKey, name: str) -> LaneSetup:
        """What a lane is started from, in a scratch folder of its own."""
        recipe = self.request.catalogue.get(lane.gateway)
        if recipe is None:
            raise KeyError(lane.gateway)
        folder = self.scratch / "lanes" / name
        folder.mkdir(parents=True)
        disk = self.request.disk_folder(lane.disk)
        return LaneSetup(
            lane,
            recipe,
            self.request.gateways[lane.gateway],
            self.ports,
            self.keys,
            folder,
            disk,
            self.cpus.gateway if self.cpus else None,
        )

    def fingerprint(self, cell: Cell) -> str:
        """Return the digest of all that makes a run of a cell what it is."""
        return fingerprint(self.request, cell, self.cpus)
