"""What stands during a whole campaign: the owner of every child, the mocks, the meter, ports, keys and folders."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge.record.host import LoadReading
from weighbridge.rig.lanes.mocks import Keys, Mocks, Ports
from weighbridge.rig.machine.cpu_plan import CpuPlan
from weighbridge.rig.machine.load_meter import Meter
from weighbridge.rig.processes.supervisor import Supervisor


@dataclass(frozen=True)
class Rig:
    """A rig that is set up and can run windows; `folders` are this machine's, each with the name it is kept as."""

    supervisor: Supervisor
    mocks: Mocks
    meter: Meter
    ports: Ports
    keys: Keys
    scratch: Path
    folders: Mapping[Path, str]
    cpus: CpuPlan | None = None

    @property
    def driver_cores(self) -> tuple[int, ...] | None:
        """The only logical CPUs that load generators may run on; None: any."""
        return self.cpus.driver if self.cpus else None

    def reading(self) -> LoadReading:
        """Read how busy the machine is, our own processes left out of the foreign share."""
        return self.meter.read(self.supervisor.pids())

    def without_folders(self, text: str) -> str:
        """Return the text with names in place of this machine's folders: what is kept must not tell whose it is."""
        for folder, name in sorted(self.folders.items(), key=lambda one: len(str(one[0])), reverse=True):
            if folder.is_absolute() and folder != folder.parent:
                text = text.replace(str(folder), name)
        return text
