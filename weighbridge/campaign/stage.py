"""What stands during a whole campaign: the mocks, the meter, the store and who is told. Built by the walk."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

from weighbridge import METHOD_VERSION
from weighbridge.campaign.diary import Diary
from weighbridge.campaign.listener import Listener
from weighbridge.campaign.request import CampaignRequest
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.record.host import LoadReading
from weighbridge.record.store import CampaignStore
from weighbridge.rig.lane import LaneSetup
from weighbridge.rig.meter import Meter
from weighbridge.rig.mocks import Keys, Mocks, Ports
from weighbridge.rig.supervisor import Supervisor


@dataclass(frozen=True)
class Stage:
    """A campaign that is set up and can run windows."""

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

    def reading(self) -> LoadReading:
        """How busy the machine is, our own processes left out of the foreign share."""
        return self.meter.read(self.supervisor.pids())

    def load_limit(self) -> float | None:
        """Highest one-minute load that is allowed at both ends of a run; None when the matrix sets none."""
        share = self.request.loaded.matrix.accept.load_limit_per_cpu
        return None if share is None else share * self.store.record().host.cpu_count

    def lane_setup(self, lane: LaneKey, name: str) -> LaneSetup:
        """What a lane is started from, in a scratch folder of its own."""
        recipe = self.request.catalogue.get(lane.gateway)
        if recipe is None:
            raise KeyError(lane.gateway)
        folder = self.scratch / "lanes" / name
        folder.mkdir(parents=True)
        disk = self.request.disk_folder(lane.disk)
        return LaneSetup(lane, recipe, self.request.gateways[lane.gateway], self.ports, self.keys, folder, disk)

    def fingerprint(self, cell: Cell) -> str:
        """Digest of all that makes a cell what it is: recipe, copy of the gateway, settings, load, driver, method."""
        recipe = self.request.catalogue.get(cell.lane.gateway)
        installed = self.request.gateways[cell.lane.gateway]
        parts = (
            str(METHOD_VERSION),
            repr(cell),
            recipe.digest if recipe else "",
            str(installed.facts.sha256),
            str(self.request.tool.facts.version),
        )
        return hashlib.sha256("\n".join(parts).encode()).hexdigest()
