"""Pairs in time: which run of the direct lane a run is compared with, and how far it lay."""

from __future__ import annotations

from typing import Any

from tests.examples.judge_examples import campaign, clients_load, closed_loop, plan, run, window
from weighbridge.judge.cell.shift import pairs_of
from weighbridge.judge.cell.summarise import summarise
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Absent, Figure
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import CellSummary

SERIAL = clients_load(1, 1000)
BASELINE, CELL = "direct.none.work.plain.clients-1", "reference.none.work.plain.clients-1"
PLANS = (plan(BASELINE, SERIAL), plan(CELL, SERIAL))


def at(cell: str, block: int, minute: int, service_s: float, **changes: Any) -> RunRecord:
    """A run whose window of half a minute began at a minute of the hour."""
    started = f"2026-11-30T01:{minute:02d}:00.000Z"
    return run(cell, block, window(SERIAL, closed_loop(SERIAL, service_s)), started_at=started, **changes)


def summary_of(runs: list[RunRecord], order: tuple[tuple[str, ...], ...] = ()) -> dict[str, CellSummary]:
    """Cells of a campaign of two blocks with these runs."""
    found = summarise(campaign(*PLANS, runs=2, order=order), runs, None)
    return {one.cell: one for one in found.cells}


def test_the_nearest_direct_run_of_the_block_is_the_pair() -> None:
    """A machine that drifts by 10 ms within a block: by the near run the shift is 5 ms, by the first 15."""
    early, late = at(BASELINE, 1, 2, 0.02), at(BASELINE, 1, 40, 0.03, attempt=2)
    other_block = at(BASELINE, 2, 34, 0.5)
    mine = at(CELL, 1, 35, 0.035)
    for order in ([early, late, other_block], [late, other_block, early]):
        ((through, direct),) = pairs_of([mine], order, "response_ms")
        assert (round(through.p50 or 0), round(direct.p50 or 0)) == (35, 30)


def test_an_accepted_run_farther_off_is_preferred_to_a_rejected_one() -> None:
    """What does not count is compared with only where nothing else is there."""
    near = at(BASELINE, 1, 34, 0.5, accepted=False, reason=Reason.of("steal"))
    far = at(BASELINE, 1, 2, 0.02, attempt=2)
    mine = at(CELL, 1, 35, 0.025)
    for baselines, p50 in (([near, far], 20), ([near], 500)):
        ((_, direct),) = pairs_of([mine], baselines, "response_ms")
        assert round(direct.p50 or 0) == p50


def test_how_far_it_lay_is_a_figure_of_the_cell() -> None:
    """Median over the runs between the middles of the windows; the baseline has none, nor a cell without a pair."""
    runs = [
        at(BASELINE, 1, 10, 0.02),
        at(BASELINE, 1, 30, 0.02, attempt=2),
        at(BASELINE, 2, 45, 0.02, attempt=3),
        at(CELL, 1, 26, 0.025),
        at(CELL, 2, 47, 0.025, window_s=90.0),
    ]
    found = summary_of(runs)
    figure = found[CELL].baseline_distance_s
    assert isinstance(figure, Figure)
    assert (figure.value, figure.low, figure.high, figure.run_count) == (195.0, 150.0, 240.0, 2)
    assert found[BASELINE].baseline_distance_s == Absent(absent="baseline")
    assert summary_of(runs[3:])[CELL].baseline_distance_s == Absent(absent="no_baseline")


def test_a_baseline_that_is_run_twice_a_block_is_wanted_so_often() -> None:
    """By the order of the campaign: three runs of the baseline beside two of the cell, and one that is missing."""
    order = ((BASELINE, CELL, BASELINE), (CELL, BASELINE))
    runs = [at(BASELINE, 1, 10, 0.02), at(BASELINE, 2, 45, 0.02), at(CELL, 1, 12, 0.025), at(CELL, 2, 47, 0.025)]
    found = summary_of(runs, order)
    assert {name: one.runs_wanted for name, one in found.items()} == {BASELINE: 3, CELL: 2}
    assert found[BASELINE].flags == ("few_runs",)
