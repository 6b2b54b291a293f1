"""Whether a mixed block of a calibration counts: the rules of every run, and those by which METHOD 5 voids a block.

Given to the walk's attempts in the place of `judge_run`. No rule looks at an added time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from weighbridge.judge.inputs import Attempted, Judgement
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.judge.run.background_load import STEAL_LIMIT_PCT
from weighbridge.record.coded import Reason

# Rows beside a late loop are left out of every lane alike; with more of them what is left is a selection.
LAGGED_LIMIT_RATIO = 0.05


def judge_block(inputs: Attempted) -> Judgement:
    """Judge what a block is worth; one with steal or with a probe that was late too often is rejected."""
    return _judged(inputs, may_lag=False)


def judge_busy_block(inputs: Attempted) -> Judgement:
    """Judge likewise a block beside an injected neighbour, who makes the probe late: its late rows are left out."""
    return _judged(inputs, may_lag=True)


def _judged(inputs: Attempted, *, may_lag: bool) -> Judgement:
    found = judge_run(inputs)
    if not found.accepted:
        return found
    after = None if inputs.window is None else inputs.window.load_after
    steal = None if after is None else after.steal_pct
    if steal is not None and steal > STEAL_LIMIT_PCT:
        text = f"{steal:.1f} % of the CPU time was stolen in the block; the limit is {STEAL_LIMIT_PCT:g} %"
        return _rejected(found, Reason.of("steal", text))
    late = _lagged_ratio(inputs)
    if late > LAGGED_LIMIT_RATIO and not may_lag:
        text = (
            f"the probe's own loop was late around {late:.1%} of the requests; the limit is {LAGGED_LIMIT_RATIO:.0%}"
        )
        return _rejected(found, Reason.of("generator_lag", text))
    return found


def _lagged_ratio(inputs: Attempted) -> float:
    trace = None if inputs.window is None else inputs.window.trace
    return 0.0 if trace is None or not len(trace.requests) else float(np.mean(trace.requests.lagged > 0))


def _rejected(found: Judgement, reason: Reason) -> Judgement:
    return replace(found, accepted=False, verdict=reason.verdict, reason=reason)
