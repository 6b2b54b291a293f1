"""What a campaign is asked to do and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from weighbridge.load.contract.driver import Driver
from weighbridge.matrix.catalogue import Catalogue
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.load import LoadedMatrix
from weighbridge.record.coded import CampaignWarning
from weighbridge.record.summary import Summary
from weighbridge.rig.install.atomic_install import Installed, Tool


@dataclass(frozen=True)
class CampaignRequest:
    """Everything a campaign needs, found and checked before it starts.

    `only` are the patterns by which `cells` were selected. `home` is `.weighbridge`; `state_root` replaces the
    state folder of disks without a path; `gateways` holds the installed copy of each gateway that can be had,
    `unavailable` the reason for each that cannot.
    """

    loaded: LoadedMatrix
    catalogue: Catalogue
    cells: tuple[Cell, ...]
    only: tuple[str, ...]
    runs: int
    results: Path
    home: Path
    state_root: Path | None
    port_base: int | None
    driver: Driver
    tool: Tool
    gateways: Mapping[str, Installed]
    unavailable: Mapping[str, str]
    warnings: tuple[CampaignWarning, ...]
    command: str
    checkout: Path | None

    @property
    def runnable(self) -> tuple[Cell, ...]:
        """Cells that have a window: supported, and their gateway can be had."""
        return tuple(
            cell for cell in self.cells if cell.not_supported is None and cell.lane.gateway not in self.unavailable
        )

    def disk_folder(self, name: str) -> Path:
        """Folder that holds the state of the lanes on a disk."""
        path = self.loaded.matrix.disks[name].path
        return self.loaded.folder / path if path is not None else self.state_root or self.home / "state"


@dataclass(frozen=True)
class CampaignOutcome:
    """How a campaign ended: its folder, its summary, the exit code of the task and one sentence."""

    folder: Path
    summary: Summary
    exit_code: int
    text: str
