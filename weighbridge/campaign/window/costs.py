"""What a window cost: the gateway's usage, and the CPU of mocks and load generators by which the rig is judged."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.command import Ended
from weighbridge.record.run import Resources
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.rig import Rig
from weighbridge.rig.lanes.usage import CpuReading, cpu_between, nothing_of_ours, read_cpu
from weighbridge.rig.processes.child import Child


@dataclass(frozen=True)
class Costs:
    """Readings that were taken right before a load."""

    lane: Lane
    provider: Child
    control_plane: Child
    provider_cpu: CpuReading
    control_plane_cpu: CpuReading

    def end(self, ended: Ended, window_s: float) -> Resources:
        """Return what was used since; `ended` is the load generators' end, `window_s` the time under load."""
        used = self.lane.usage.end() if self.lane.usage else nothing_of_ours(is_baseline=self.lane.is_baseline)
        return used.changed(
            driver_cpu_s=ended.cpu_s,
            driver_cpu_cores=_cores(ended.cpu_s, ended.wall_s),
            mock_cpu_cores=_cores(_used_s(self.provider, self.provider_cpu), window_s),
            control_plane_cpu_cores=_cores(_used_s(self.control_plane, self.control_plane_cpu), window_s),
        )


def begin_costs(rig: Rig, lane: Lane) -> Costs:
    """Take the readings before a load, the gateway's last."""
    provider, control_plane = rig.mocks.provider.child, rig.mocks.control_plane.child
    costs = Costs(lane, provider, control_plane, read_cpu(provider), read_cpu(control_plane))
    if lane.usage is not None:
        lane.usage.begin()
    return costs


def _used_s(child: Child, before: CpuReading) -> float | None:
    used = cpu_between(before, read_cpu(child))
    return None if used is None else used.cpu_s


def _cores(cpu_s: float | None, span_s: float) -> float | None:
    return None if cpu_s is None or span_s <= 0 else cpu_s / span_s
