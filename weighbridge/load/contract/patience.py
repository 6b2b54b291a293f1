"""How long a window may take before it is cut. Used by the drivers that run a program of their own."""

from __future__ import annotations

from weighbridge.load.contract.driver import LoadPlan

# A lane that needs more than this times its window does not keep the rate: the run is cut and says so.
_CUT_AT_WINDOWS = 2
# A closed loop ends by itself; this many times the expected time is patience, not a measurement.
_PATIENCE = 10
# Time that an interrupted program has to write report and samples before its group is killed.
WRITING_S = 15.0


def cut_after_s(plan: LoadPlan) -> float:
    """Seconds after which the window of a plan is interrupted."""
    if plan.load.offered_rps:
        return _CUT_AT_WINDOWS * max(plan.expected_s, plan.load.window_count / plan.load.offered_rps)
    return _PATIENCE * plan.expected_s + plan.load.timeout_s
