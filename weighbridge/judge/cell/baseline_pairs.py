"""Which run of the direct lane a run is compared with: the nearest in time of its own block."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from weighbridge.judge.cell.enough_runs import median_over
from weighbridge.record.figures import Absent, FigureOrAbsent
from weighbridge.record.run import RunRecord

NO_BASELINE = Absent(absent="no_baseline")


def nearest(run: RunRecord, baselines: Sequence[RunRecord]) -> RunRecord | None:
    """Return the baseline's run of the same block whose window lies nearest; an accepted one where there is any."""
    there = [one for one in baselines if one.block == run.block]
    ranked = sorted(there, key=lambda one: (not one.accepted, distance_s(run, one), one.attempt))
    return ranked[0] if ranked else None


def distance_s(one: RunRecord, other: RunRecord) -> float:
    """Return the time between the middles of two windows in seconds."""
    return abs(_middle_s(one) - _middle_s(other))


def baseline_distance(accepted: Sequence[RunRecord], baselines: Sequence[RunRecord]) -> FigureOrAbsent:
    """Return the median over the runs of the time between each and the run that it is compared with."""
    found = [(run, nearest(run, baselines)) for run in accepted]
    known = [distance_s(run, other) for run, other in found if other is not None]
    return median_over(known, len(accepted) - len(known), NO_BASELINE)


def _middle_s(run: RunRecord) -> float:
    return datetime.fromisoformat(run.started_at).timestamp() + run.window_s / 2
