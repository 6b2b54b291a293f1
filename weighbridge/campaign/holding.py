"""Windows that hold streams: the holder in the driver's place, and the gateway's memory read at each step.

Called by the walk for cells whose load holds streams. The steps are the holder's; here one only looks while it waits.
"""

from __future__ import annotations

from dataclasses import replace

from weighbridge.campaign.stage import Stage
from weighbridge.load.driver import LoadPlan
from weighbridge.load.holding import PROGRAM_FOLDER, Holder, go_on, holder_plan, waiting
from weighbridge.rig import memory
from weighbridge.rig.bundled_tool import bundled_tool
from weighbridge.rig.lane import Lane


def with_holder(stage: Stage) -> Stage:
    """The stage with the holder of streams as its driver; while it runs, memory is read at each of its steps."""
    tool = bundled_tool(Holder.name, PROGRAM_FOLDER)
    request = replace(stage.request, driver=Holder(), tool=tool)
    return replace(stage, request=request, watch=lambda lane, plan: _look(stage, lane, plan))


def _look(stage: Stage, lane: Lane, plan: LoadPlan) -> str | None:
    """How the gateway ended; while it lives nothing, and a step that stands is looked at."""
    death = lane.death()
    holder = holder_plan(plan)
    step = None if death else waiting(holder)
    if step is not None:
        before = _open_count(stage)
        seen = _memory(lane)
        # A stream that ended during the look may or may not be in what was read.
        go_on(holder, step, {"open_count": min(before, _open_count(stage)), **seen})
    return death


def _open_count(stage: Stage) -> int:
    return int(stage.mocks.provider.ask("GET", "/counters")["in_flight_count"])


def _memory(lane: Lane) -> dict[str, int | None]:
    if lane.child is None:
        return {"rss_bytes": None, "pss_bytes": None}
    found = memory.read(lane.child.members())
    return {"rss_bytes": found.rss_bytes, "pss_bytes": found.pss_bytes}
