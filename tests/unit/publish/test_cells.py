"""Cells of a table: a value with its interval and what that is, of how many runs, or a dash with a reason."""

from __future__ import annotations

import pytest

from tests.golden.campaigns import cell, rate, spread_figure, summary
from weighbridge.publish.site.page import page_of
from weighbridge.publish.terminal.terminal import campaign_text
from weighbridge.publish.text.numbers import Digits
from weighbridge.publish.views.cells import Notes, span_text, timing_cells
from weighbridge.publish.views.columns import Show, cells_of
from weighbridge.publish.views.conditions import runs_text
from weighbridge.record.figures import Interval, IntervalKind, PercentileIntervals, Timing


def timing(interval: Interval | None, run_count: int, missing: int = 0) -> Timing:
    """A p50 alone."""
    kept = None if interval is None else PercentileIntervals(p50=interval)
    return Timing(
        p50=2.0, p95=None, p99=None, mean=2.0, n=100, interval=kept, run_count=run_count, missing_run_count=missing
    )


@pytest.mark.parametrize(
    ("kind", "runs", "said"),
    [
        ("range", 3, "lowest to highest of 3 runs"),
        ("ranks", 6, "95 % interval, ranks 1 to 6 of 6 runs"),
        ("ranks", 10, "95 % interval, ranks 2 to 9 of 10 runs"),
        ("batches", 1, "95 % interval of this run, by ranks, widened by the scatter of 20 consecutive batches"),
        ("t", 3, "95 % interval by Student's t over 3 runs"),
    ],
)
def test_an_interval_says_what_it_is_and_what_it_covers(kind: IntervalKind, runs: int, said: str) -> None:
    """Below the value its ends, without a ±; on hover the rule, and one boot of one host."""
    found = timing_cells(timing(Interval(low=1.5, high=2.5, kind=kind), runs), Notes(Digits()), "added", ("p50",))[0]
    assert found.small == "1.50 to 2.50"
    assert found.title == f"{said}; it covers blocks on one machine without a reboot"


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (1.5, None, "from 1.50, no upper end"),
        (None, 2.5, "up to 2.50, no lower end"),
        (None, None, "no lower and no upper end"),
    ],
)
def test_an_end_beyond_the_sample_is_said(low: float | None, high: float | None, said: str) -> None:
    """An open end is words, never a number."""
    assert span_text(Interval(low=low, high=high, kind="batches"), lambda value: f"{value:.2f}") == said


def test_a_figure_of_some_runs_says_of_how_many() -> None:
    """Times and single numbers alike; nothing is said where all accepted runs have it."""
    found = timing_cells(timing(Interval(low=1.5, high=2.5, kind="range"), 2, 1), Notes(Digits()), "added", ("p50",))[
        0
    ]
    assert found.small == "1.50 to 2.50 · 2 of 3 runs"
    figure = spread_figure(2.0, 1.0, 3.0).changed(run_count=2, missing_run_count=1)
    one = cell("reference", rate(50), cpu_ms_per_request=figure)
    assert cells_of(one, [Show("cpu_ms_per_request")], Notes(Digits()))[0].small == "1.00 to 3.00 · 2 of 3 runs"
    whole = cell("reference", rate(50), cpu_ms_per_request=spread_figure(2.0, 1.0, 3.0))
    assert cells_of(whole, [Show("cpu_ms_per_request")], Notes(Digits()))[0].small == "1.00 to 3.00"


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (1, "that of one run, below it its 95 % interval by ranks, widened by the scatter of 20 consecutive batches"),
        (3, "the median of 3 accepted runs, below it the lowest to the highest of them"),
        (6, "the median of 6 accepted runs, below it its 95 % interval, ranks 1 and 6 of 6"),
    ],
)
def test_every_heading_says_what_stands_below_a_value(runs: int, said: str) -> None:
    """By the wanted runs, and what it covers; the terminal says the same once."""
    made = summary([cell("reference", rate(50))])
    made = made.changed(provenance=made.provenance.changed(runs=runs))
    assert runs_text(made) == f"each value is {said}: it covers blocks on one machine without a reboot"
    assert said.partition("below it ")[2] in campaign_text(made)


def test_a_smoke_run_has_two_digits() -> None:
    """It claims nothing: 22.9 ms read 23 in tables, sentence and terminal, and 22.9 at grade ci."""
    cells = [cell("direct", rate(20)), cell("reference", rate(20))]
    page, text = page_of([summary(cells, grade="smoke")]), campaign_text(summary(cells, grade="smoke"))
    row = page.campaigns[0].tables[0].sections[0].rows[1]
    assert [one.text for one in row.cells[2:8]] == ["2.5", "3.2", "4.8", "23", "24", "26"]
    assert "shifts the median by 2.5 ms" in page.campaigns[0].answer[1]
    assert " 22.9 " not in text
    assert " 22.9 " in campaign_text(summary(cells, grade="ci"))
