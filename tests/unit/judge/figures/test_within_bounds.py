"""Goodput within stated bounds, from the intended start: by samples, and by a probe where first contents count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.examples.judge_examples import clients_load, closed_loop, open_loop, rate_load, window
from tests.examples.trace_examples import streams, tables, traced_window
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.window import Window
from weighbridge.matrix.requests import GoodputBounds
from weighbridge.record.figures import Absent

LOAD = rate_load(50.0, 1000)


def share(facts: Window) -> float:
    """Goodput as a share of the achieved rate."""
    found = run_figures(facts)
    assert found is not None
    good, achieved = found.known("goodput_rps"), found.known("achieved_rps")
    assert good is not None
    assert achieved is not None
    return good / achieved


@pytest.mark.parametrize(("end_s", "within"), [(None, 1.0), (1.0, 0.9), (0.01, 0.0)])
def test_what_came_late_is_no_goodput(end_s: float | None, within: float) -> None:
    """Every tenth response takes 1.5 s: within 1 s there are 90 %."""
    samples = open_loop(LOAD, 0.02)
    late = np.where(np.arange(len(samples.end_s)) % 10 == 0, 1.48, 0.0)
    facts = window(LOAD, replace(samples, end_s=samples.end_s + late))
    assert share(replace(facts, goodput_bounds=GoodputBounds(None, end_s))) == pytest.approx(within, abs=0.002)


def test_waiting_before_the_start_counts() -> None:
    """Sent 100 ms after they should have been, responses of 20 ms are none within 50 ms; of clients they are."""
    bounds = GoodputBounds(None, 0.05)
    late, serial = window(LOAD, open_loop(LOAD, 0.02, pacer_s=0.1)), clients_load(1, 1000)
    assert share(replace(late, goodput_bounds=bounds)) == 0.0
    assert share(replace(window(serial, closed_loop(serial, 0.02)), goodput_bounds=bounds)) == 1.0


def test_a_bound_on_first_content_is_told_by_a_probe() -> None:
    """A stream's own first content counts, not its first byte; without a probe there is no figure."""
    facts = traced_window(*tables(streams(1100)))
    assert share(facts) == pytest.approx(1.0)
    for ttft_s, within in ((60.0, 1.0), (0.001, 0.0)):
        assert share(replace(facts, goodput_bounds=GoodputBounds(ttft_s, None))) == pytest.approx(within)

    alone = replace(window(LOAD, open_loop(LOAD, 0.02)), mode="stream", goodput_bounds=GoodputBounds(0.2, 1.0))
    found = run_figures(alone)
    assert found is not None
    absent = found.value("goodput_rps")
    assert isinstance(absent, Absent)
    assert absent.text == "no probe saw when the first content came"
