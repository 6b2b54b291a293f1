"""Two load generators on the lane without a gateway say the same of it, within what they know of their own lag."""

from __future__ import annotations

import itertools
import sys
from pathlib import Path

import pytest

from tests.examples.judge_examples import client, window_of
from tests.real.driving import Driven, Provider, Windows, mock_provider, rate, windows
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.requests import Mode
from weighbridge.record.figures import Timing, TimingOrAbsent
from weighbridge.record.run import RunFigures

pytestmark = pytest.mark.real

LOAD = rate(50, 80, 6)
# The provider takes 20 ms; what two clients add of their own differs by far less than this share of it.
SHARE = 0.04
# A busy machine moves one window or the other; a driver that counts wrongly is wrong in every round.
ROUNDS = 4


def figures_of(driven: Driven) -> RunFigures:
    """Figures of a window as a campaign takes them."""
    reading = driven.reading
    assert (reading.report.verdict, reading.report.answered_count) == ("ok", LOAD.window_count)
    found = run_figures(window_of(client(LOAD, reading.samples, report=reading.report)))
    assert found is not None
    return found


def p50(timing: TimingOrAbsent) -> float:
    """Median in ms."""
    assert isinstance(timing, Timing)
    assert timing.p50 is not None
    return timing.p50


def lag_ms(figures: RunFigures) -> float:
    """How late the driver itself was, by its own account (median)."""
    return p50(figures.release_lateness_ms) + p50(figures.dispatch_lag_ms)


def summary_of(figures: RunFigures) -> str:
    """The three medians that are compared."""
    return f"{p50(figures.service_ms):.2f} {p50(figures.response_ms):.2f} {lag_ms(figures):.2f}"


def agree(one: RunFigures, other: RunFigures) -> bool:
    """Whether service times agree, and response times once each driver's own lag is allowed for."""
    service, others = p50(one.service_ms), p50(other.service_ms)
    allowed = SHARE * min(service, others)
    late = lag_ms(one) + lag_ms(other)
    apart = abs(p50(one.response_ms) - p50(other.response_ms))
    return abs(service - others) <= allowed and apart <= allowed + late


class Lane:
    """The lane without a gateway: every window is checked against the provider's own count."""

    def __init__(self, made: Windows, provider: Provider, programs: dict[str, Path]) -> None:
        self._made, self._provider, self._programs = made, provider, programs

    def figures(self, name: str, mode: Mode) -> RunFigures:
        """Figures of one window by a driver."""
        self._provider.reset(delay_s=0.02, chunk_count=4, gap_s=0.005)
        plan = self._made.plan(self._programs[name], self._provider.port, LOAD, mode)
        driven = self._made.drive(DRIVERS[name], plan)
        assert self._provider.counters()["request_count"] == LOAD.window_count
        return figures_of(driven)


@pytest.mark.parametrize("mode", ["plain", "stream"])
def test_drivers_agree_at_a_low_rate(tool, tmp_path: Path, mode: Mode) -> None:
    """Every two of them agree at the median in at least one of a few rounds of interleaved windows."""
    programs = {name: Path(sys.executable) if name == "probe" else tool(name) for name in DRIVERS}
    open_pairs = set(itertools.combinations(DRIVERS, 2))
    seen: list[str] = []
    with windows(tmp_path) as made, mock_provider(tmp_path) as provider:
        lane = Lane(made, provider, programs)
        for _ in range(ROUNDS):
            wanted = sorted({name for pair in open_pairs for name in pair})
            found = {name: lane.figures(name, mode) for name in wanted}
            seen.append(", ".join(f"{name} {summary_of(figures)}" for name, figures in found.items()))
            open_pairs = {pair for pair in open_pairs if not agree(*(found[name] for name in pair))}
            if not open_pairs:
                return
    pytest.fail(f"{sorted(open_pairs)} disagree (p50 of service, response and lag in ms): {seen}")
