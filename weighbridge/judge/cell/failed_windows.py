"""Failed requests of a cell over all attempts that were not rejected for the rig (METHOD 5).

They decide whether the cell has figures at all, so that no gateway is shown by its lucky runs.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.judge.run.failed_requests import FAILED_LIMIT_RATIO, failed_in_run
from weighbridge.judge.stats.binomial import clopper_pearson
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import FailedRequests


def is_of_gateway(run: RunRecord) -> bool:
    """Tell whether a run was rejected for the gateway's doing."""
    return run.reason is not None and run.reason.class_ == "gateway"


def failed_requests(runs: Sequence[RunRecord]) -> FailedRequests | None:
    """Count failed windows and requests over these attempts; None where nothing failed in any that the rig let be."""
    counted = [run for run in runs if run.accepted or is_of_gateway(run)]
    failed = [failed_in_run(run) for run in counted]
    windows = sum(one.count > 0 or is_of_gateway(run) for run, one in zip(counted, failed, strict=True))
    if not windows:
        return None
    count, total = sum(one.count for one in failed), sum(one.request_count for one in failed)
    bounds = clopper_pearson(min(count, total), total) if total else None
    return FailedRequests(
        window_count=len(counted),
        failed_window_count=windows,
        request_count=total,
        failed_count=count,
        low_ratio=None if bounds is None else bounds.low,
        high_ratio=None if bounds is None else bounds.high,
    )


def is_errored(failed: FailedRequests, lost_count: int, wanted: int) -> bool:
    """Tell whether so much failed that the cell has no figure; `lost_count` of `wanted` runs the gateway spoiled.

    Either the 95 % lower bound of the failed share is above a window's limit, or fewer than two thirds of the wanted
    runs remain.
    """
    above = failed.low_ratio is not None and failed.low_ratio > FAILED_LIMIT_RATIO
    return above or 3 * (wanted - lost_count) < 2 * wanted


def lost_blocks(runs: Sequence[RunRecord]) -> int:
    """Count the runs that the gateway spoiled: blocks with a rejection of its doing and without an accepted run."""
    kept = {run.block for run in runs if run.accepted}
    return len({run.block for run in runs if is_of_gateway(run)} - kept)
