"""The probe over several lanes at once: each request is drawn for one of them, so that all see the same seconds.

It starts nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from weighbridge.command import Command
from weighbridge.load.contract.driver import LoadOutputs, LoadPlan
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.probe.driver import Probe, probe_plan
from weighbridge.load.probe.program.plan import ProbeLane

_PROBE = Probe()


@dataclass(frozen=True)
class MixedProbe:
    """The probe with lanes of its own in the place of the plan's one; `seed` fixes arrivals and draws."""

    lanes: tuple[ProbeLane, ...]
    seed: int
    name = _PROBE.name
    capabilities = _PROBE.capabilities
    program = _PROBE.program
    formats = _PROBE.formats

    def command(self, plan: LoadPlan) -> Command:
        """Program and plan of one window over all lanes."""
        command = _PROBE.command(plan)
        mixed = replace(probe_plan(plan), lanes=self.lanes, seed=self.seed).to_json()
        return replace(command, files=dict.fromkeys(command.files, mixed))

    def outputs(self, plan: LoadPlan, exit_code: int, stderr: bytes) -> LoadOutputs:
        """Files of that window."""
        return _PROBE.outputs(plan, exit_code, stderr)

    def read(self, outputs: LoadOutputs) -> ReportReading:
        """Load report and tables, the lane of each request among them."""
        return _PROBE.read(outputs)
