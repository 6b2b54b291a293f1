"""A gateway that says ready before it serves: its first request is tried again for a while, and that is kept.

Behind many a health check that returns 200 the first calls are still refused: that is a start, and no inability.
"""

from __future__ import annotations

import time

from weighbridge.campaign.window.preflight import preflight
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.record.run import Evidence
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.mocks import Mocks

# "Come again": RFC 9110, sections 15.6.3 to 15.6.5.
TRANSIENT_STATUSES = frozenset({502, 503, 504})
_PAUSE_S = 0.25


def first_served(lane: Lane, mocks: Mocks, mode: Mode, answer: AnswerSpec, *, until: float) -> Evidence:
    """Try the lane once, and again while it refuses what it may soon serve.

    It goes on until the instant `until` of the monotonic clock, or until the gateway is dead. The evidence is that
    of the last try; `refused_s` says for how many seconds it was refused, and `refused_with` how at first.
    """
    begun = time.monotonic()
    first = seen = preflight(lane, mocks, mode, answer)
    refused_s = 0.0
    while may_pass(seen) and lane.death() is None and time.monotonic() < until:
        time.sleep(_PAUSE_S)
        refused_s = time.monotonic() - begun
        seen = preflight(lane, mocks, mode, answer)
    if not refused_s:
        return seen
    refused_with = first.problem if first.status is None else f"status {first.status}"
    return seen.changed(refused_s=round(refused_s, 1), refused_with=refused_with)


def may_pass(seen: Evidence) -> bool:
    """Tell whether a lane refused what it may serve in a moment: 502, 503, 504, or no connection."""
    return not seen.ok and (seen.status in TRANSIENT_STATUSES or seen.is_refused)


def remark(seen: Evidence, name: str) -> str | None:
    """Return what to say of a gateway that was ready too early; None for one that was not."""
    if seen.refused_s is None or not seen.ok:
        return None
    refused = f"the first {seen.mode} request got {seen.refused_with}, for {seen.refused_s:g} s"
    return f"{name} said that it is ready, and {refused}; a `ready` of its recipe that tries more would wait for it"
