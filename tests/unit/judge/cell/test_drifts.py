"""Which runs of a cell are judged for drift, and what a cell that drifts shows."""

from __future__ import annotations

from typing import Any

import pytest

from tests.examples.judge_examples import campaign, counts, plan, rate_load, run
from weighbridge.judge.cell.drifts import drift_flags, moved_in
from weighbridge.judge.cell.summarise import summarise
from weighbridge.publish.text.wording import flag_text
from weighbridge.record.figures import Figure
from weighbridge.record.measured import RunFigures
from weighbridge.record.run import Resources, RunRecord

CELL = "reference.none.work.plain.rate-20"
CORES = 2


def drifting(block: int, *, busy: float | None = None, count: int = 400, **changes: Any) -> RunRecord:
    """A run whose added time fell from 8.85 to 5.08 ms, on a gateway that is so busy."""
    figures = {
        "achieved_rps": Figure(value=20.0),
        "drift_first_ms": Figure(value=8.85),
        "drift_last_ms": Figure(value=5.08),
        "drift_t": -20.6,
    }
    used = Resources() if busy is None else Resources(cpu_s=busy * CORES * count / 20, core_count=CORES)
    return run(CELL, block, figures=RunFigures.of(figures), counts=counts(count), resources=used, **changes)


def test_a_cell_that_drifts_says_so_with_both_values() -> None:
    """The flag stands in the summary with the medians of both thirds, and its text names them."""
    cell = summarise(campaign(plan(CELL, rate_load(20, 8)), runs=1), [drifting(1)], None).cells[0]
    assert "drifts" in cell.flags
    assert (cell.known("drift_first_ms"), cell.known("drift_last_ms")) == (8.85, 5.08)
    assert flag_text(cell, "drifts").startswith("added time fell from 8.85 to 5.08 ms within the windows. Added time")


@pytest.mark.parametrize(
    ("busy", "count", "is_judged"),
    [(None, 160, True), (0.4, 160, True), (0.6, 160, False), (0.6, 500, True), (0.75, 5000, False)],
)
def test_a_busy_lane_is_not_judged(busy: float | None, count: int, is_judged: bool) -> None:
    """Above half of its capacity a run needs 500 requests, above 70 % none is enough; the baseline has no process."""
    assert (moved_in(drifting(1, busy=busy, count=count)) is not None) == is_judged


def test_a_lane_that_did_not_keep_its_rate_is_not_judged() -> None:
    """A queue that grows through the window is saturation, not drift."""
    assert moved_in(drifting(1, verdict="saturated")) is None
    assert moved_in(drifting(1, flags=("backlogged",))) is None
    assert list(drift_flags([drifting(1), drifting(2), drifting(3, verdict="saturated")])) == ["drifts"]
    assert list(drift_flags([drifting(1), drifting(2, busy=0.8), drifting(3, busy=0.8)])) == []
