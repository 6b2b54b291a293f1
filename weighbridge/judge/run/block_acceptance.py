"""Whether a mixed block of a calibration counts: the rules of every run, and the one by which METHOD 5 voids a block.

Given to the walk's attempts in the place of `judge_run`. No rule looks at an added time.
"""

from __future__ import annotations

from dataclasses import replace

from weighbridge.judge.inputs import Attempted, Judgement
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.record.coded import Reason
from weighbridge.record.host import STEAL_LIMIT_PCT


def judge_block(inputs: Attempted) -> Judgement:
    """Judge what a block is worth; one with steal is rejected."""
    found = judge_run(inputs)
    after = None if inputs.window is None else inputs.window.load_after
    steal = None if after is None else after.steal_pct
    if not found.accepted or steal is None or steal <= STEAL_LIMIT_PCT:
        return found
    text = f"{steal:.1f} % of the CPU time was stolen in the block; the limit is {STEAL_LIMIT_PCT:g} %"
    reason = Reason.of("steal", text)
    return replace(found, accepted=False, verdict=reason.verdict, reason=reason)
