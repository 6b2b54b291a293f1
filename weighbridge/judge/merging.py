"""One timing of a cell out of those of its runs. Called by `cell` and `cell_inband`."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.judge.outcome import Outcome
from weighbridge.judge.timing import merge_runs
from weighbridge.record.figures import Absent, Timing, TimingOrAbsent, absent_by
from weighbridge.record.run import RunRecord


def merged(accepted: Sequence[RunRecord], name: str, found: Outcome) -> TimingOrAbsent:
    """Median over the accepted runs, or why there is none; a saturated cell has only what all its runs have."""
    given: list[TimingOrAbsent] = [getattr(run.figures, name) for run in accepted if run.figures is not None]
    known = [one for one in given if isinstance(one, Timing)]
    missing = [one for one in given if isinstance(one, Absent)]
    if missing and (not known or found.verdict == "saturated"):
        return missing[0]
    return merge_runs(known) if known else absent_by(found.verdict)
