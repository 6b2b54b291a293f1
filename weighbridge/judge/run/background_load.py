"""Whether other processes were using the CPU.

Rules, for the reading before and the one after a window: processes that are not ours took more than 5 % of a core
since the reading before it, or the hypervisor stole more than 1 % of CPU time. The idle gate's own response counts
as well. PSI and the load average are shown but decide nothing here: around a window they hold our own work; PSI
is judged by the gate, which looks while everything of ours is idle.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.record.host import FOREIGN_LIMIT_CORES, STEAL_LIMIT_PCT, LoadReading
from weighbridge.record.run import RunRecord


def is_loaded(*readings: LoadReading | None) -> bool:
    """Tell whether one of the readings shows work of others above a limit."""
    return any(
        (one.foreign_cpu_cores or 0.0) > FOREIGN_LIMIT_CORES or (one.steal_pct or 0.0) > STEAL_LIMIT_PCT
        for one in readings
        if one is not None
    )


def loaded_text(runs: Sequence[RunRecord]) -> str | None:
    """Return what was seen of other work in these runs, with the limits; None when nothing was."""
    loaded = [run for run in runs if _was_loaded(run)]
    if not loaded:
        return None
    readings = [one for run in loaded for one in (run.load_before, run.load_after) if one is not None]
    foreign = max((one.foreign_cpu_cores or 0.0 for one in readings), default=0.0)
    steal = max((one.steal_pct or 0.0 for one in readings), default=0.0)
    seen = []
    if foreign > FOREIGN_LIMIT_CORES:
        seen.append(f"other processes took up to {foreign:.2f} cores (limit {FOREIGN_LIMIT_CORES:g})")
    if steal > STEAL_LIMIT_PCT:
        seen.append(f"up to {steal:.1f} % of CPU time was stolen (limit {STEAL_LIMIT_PCT:g} %)")
    if not seen:
        seen.append("it was not idle before a block")
    return f"Other work loaded this machine in {len(loaded)} of {len(runs)} accepted runs: {' and '.join(seen)}."


def _was_loaded(run: RunRecord) -> bool:
    return "loaded_machine" in run.flags or is_loaded(run.load_before, run.load_after)
