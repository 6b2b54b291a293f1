"""What is looked at while streams are open: at each step the gateway's memory and the provider's open requests."""

from __future__ import annotations

from weighbridge.load.contract.driver import LoadPlan
from weighbridge.load.probe.open_streams import go_on, stream_opener_plan, waiting
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.rig import Rig
from weighbridge.rig.tree import memory


def look_at_step(rig: Rig, lane: Lane, plan: LoadPlan) -> None:
    """Look at a step that stands, if one does, and let the next one begin."""
    opener = stream_opener_plan(plan)
    step = waiting(opener)
    if step is None:
        return
    before = _open_count(rig)
    seen = _memory(lane)
    # A stream that ended during the look may or may not be in what was read.
    go_on(opener, step, {"open_count": min(before, _open_count(rig)), **seen})


def _open_count(rig: Rig) -> int:
    return int(rig.mocks.provider.ask("GET", "/counters")["in_flight_count"])


def _memory(lane: Lane) -> dict[str, int | None]:
    if lane.child is None:
        return {"rss_bytes": None, "pss_bytes": None}
    found = memory.read(lane.child.members())
    return {"rss_bytes": found.rss_bytes, "pss_bytes": found.pss_bytes}
