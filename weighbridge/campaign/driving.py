"""One client of a window: how its load generator is run, and what it left to read and to keep.

Called by `window` for the driver and by `rider` for the probe beside it. It judges nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from weighbridge.campaign.stage import Stage
from weighbridge.command import Command, Ended
from weighbridge.errors import InputError
from weighbridge.load.bodies import BodyFacts, BodyPlan, write_bodies
from weighbridge.load.driver import Driver, LoadPlan
from weighbridge.load.reading import Reading
from weighbridge.matrix.cells import Cell
from weighbridge.record.host import ToolFacts
from weighbridge.record.run import DriverRecord
from weighbridge.rig.lane import MODEL
from weighbridge.rig.tail import clean


@dataclass(frozen=True)
class Party:
    """A load generator, which program it is, and what it is to drive."""

    driver: Driver
    tool: ToolFacts
    plan: LoadPlan

    def command(self) -> Command:
        """What is run."""
        return self.driver.command(self.plan)


@dataclass(frozen=True)
class Driven:
    """How a load generator was run and what it left behind."""

    party: Party
    argv: tuple[str, ...]
    secrets: tuple[str, ...]
    ended: Ended

    def read(self) -> tuple[Reading | None, str | None]:
        """The load report, or the sentence why there is none."""
        driver, ended = self.party.driver, self.ended
        left = driver.outputs(self.party.plan, ended.exit_code, ended.stderr)
        try:
            return driver.read(replace(left, tool_version=self.party.tool.version)), None
        except InputError as error:
            return None, _with_last_words(error.problem, clean(ended.stderr, self.secrets))

    def record(self) -> DriverRecord:
        """Which program drove and how it was called."""
        return DriverRecord(
            tool=self.party.tool, argv=self._masked(), exit_code=self.ended.exit_code, cut=self.ended.cut
        )

    def kept(self, folder: str) -> dict[str, bytes]:
        """Its own files and arguments by their names below `folder`."""
        out = self.party.plan.out_dir
        kept = {f"{folder}/{path.name}": path.read_bytes() for path in sorted(out.iterdir()) if path.is_file()}
        kept[f"{folder}/argv.txt"] = ("\n".join(self._masked()) + "\n").encode()
        if self.ended.stderr:
            kept[f"{folder}/stderr.txt"] = clean(self.ended.stderr, self.secrets).encode()
        return kept

    def _masked(self) -> tuple[str, ...]:
        """Arguments without secrets and without the folders of this machine."""
        out = self.party.plan.out_dir
        shown = (clean(argument.encode(), self.secrets).strip("\n") for argument in self.argv[1:])
        shortened = (text.replace(str(out), "OUT").replace(str(out.parent), "WINDOW") for text in shown)
        return (Path(self.argv[0]).name, *shortened)


def drive(stage: Stage, party: Party, watch: Callable[[], str | None]) -> Driven:
    """A load generator run to its end."""
    command = party.command()
    return driven_by(stage, party, command, stage.supervisor.run(command, watch=watch, cores=driver_cores(stage)))


def driven_by(stage: Stage, party: Party, command: Command, ended: Ended) -> Driven:
    """A load generator that has ended."""
    return Driven(party=party, argv=command.argv, secrets=(*command.secrets, *stage.keys.all), ended=ended)


def driver_cores(stage: Stage) -> tuple[int, ...] | None:
    """The only logical CPUs that load generators may run on; None: any."""
    return stage.cpus.driver if stage.cpus else None


def make_bodies(path: Path, cell: Cell, request_count: int, seed_text: str) -> BodyFacts:
    """Prompts that no other window has: the seed is made of the matrix's and of the attempt's own name."""
    return write_bodies(path, BodyPlan(cell.payload, cell.mode, MODEL, request_count, seed_of(seed_text)))


def seed_of(seed_text: str) -> int:
    """A seed of its own for each name."""
    return int.from_bytes(hashlib.sha256(seed_text.encode()).digest()[:8])


def _with_last_words(problem: str, said: str) -> str:
    """Why there is no report, with the generator's own first error where the problem does not tell it yet."""
    errors = [line.strip() for line in said.splitlines() if line.strip().lower().startswith("error")]
    return f"{problem}; it said: {errors[0][:200]}" if errors and errors[0] not in problem else problem
