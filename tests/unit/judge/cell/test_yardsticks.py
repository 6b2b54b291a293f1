"""Lag and lateness beside the smallest difference of a cell, and added time beside its response."""

from __future__ import annotations

from typing import Any

import pytest

from tests.examples.judge_examples import campaign, open_loop, plan, rate_load, run, window
from weighbridge.judge.cell.summarise import summarise
from weighbridge.record.figures import Timing
from weighbridge.record.run import Resources
from weighbridge.record.summary import CellSummary

LOAD = rate_load(50.0, 1000)
BASELINE, CELL = "direct.none.work.plain.rate-50", "reference.none.work.plain.rate-50"
ADDED = Timing(p50=2.0, p95=3.0, p99=4.0, mean=2.1, n=1000)


def cells(pacer_s: float = 0.0, added_ms: float | None = None, **changes: Any) -> dict[str, CellSummary]:
    """Both cells of one block: 20 ms direct, 25 ms through the gateway, so a shift of 5 ms."""
    runs = []
    for cell, service_s in ((BASELINE, 0.02), (CELL, 0.025)):
        one = run(cell, 1, window(LOAD, open_loop(LOAD, service_s, pacer_s=pacer_s)), **changes)
        if added_ms is not None and cell == CELL:
            figures = one.figures.with_figures({"added_ms": ADDED.changed(p50=added_ms)}) if one.figures else None
            one = one.changed(figures=figures)
        runs.append(one)
    found = summarise(campaign(plan(BASELINE, LOAD), plan(CELL, LOAD), runs=1), runs, None)
    return {one.cell: one for one in found.cells}


@pytest.mark.parametrize(
    ("late_ms", "added_ms", "flagged"),
    [(0.4, None, False), (0.6, None, True), (0.4, 3.0, True), (0.2, 3.0, False)],
)
def test_a_lag_is_flagged_beside_the_smallest_difference(
    late_ms: float, added_ms: float | None, flagged: bool
) -> None:
    """Of a shift of 5 ms 0.6 ms are too much, of an added time of 3 ms 0.4; the response of 25 ms is no yardstick."""
    found = cells(late_ms / 1000, added_ms)

    assert ("generator_lag" in found[CELL].flags) == flagged
    assert "generator_lag" not in found[BASELINE].flags, "it shows no difference"


def test_a_late_mock_is_flagged_by_the_same_yardstick() -> None:
    """0.6 ms beside a shift of 5."""
    for late_s, flagged in ((0.0004, False), (0.0006, True)):
        found = cells(resources=Resources(mock_lateness_p99_s=late_s))
        assert ("mock_late" in found[CELL].flags) == flagged


@pytest.mark.parametrize(("added_ms", "flagged"), [(4.5, False), (24.5, True)])
def test_more_added_than_the_response_took_is_a_contradiction(added_ms: float, flagged: bool) -> None:
    """The response takes 25 ms, the provider 20 of them, so no more than 5 can be added."""
    assert ("added_above_response" in cells(added_ms=added_ms)[CELL].flags) == flagged


def test_the_shift_of_service_time_is_without_the_generators_lateness() -> None:
    """The gateway's requests are sent 1 ms late: its shift has them, that of service time has not."""
    late = run(CELL, 1, window(LOAD, open_loop(LOAD, 0.025, pacer_s=0.001)))
    direct = run(BASELINE, 1, window(LOAD, open_loop(LOAD, 0.02)))
    found = summarise(campaign(plan(BASELINE, LOAD), plan(CELL, LOAD), runs=1), [direct, late], None).cells[1]

    assert found.percentile("shift_ms", "p50") == pytest.approx(6.0)
    assert found.percentile("service_shift_ms", "p50") == pytest.approx(5.0)
