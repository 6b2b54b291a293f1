"""The probe's part of an offered rate: how large it is, when it is left out, and that both parts make the whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.examples.matrix_samples import cells
from weighbridge.matrix.loads import Load, RateLoad
from weighbridge.matrix.loads.companion import CompanionRate, most_rps

LOADS = [(50, 30, 32), (20, 8, 32), (150, 30, 44), (300, 30, 87), (5, 60, 32), (1000, 12, 140)]


def _load(rate_rps: float, duration_s: float, connections: int = 32) -> Load:
    return RateLoad(rate_rps, duration_s, round(rate_rps * duration_s), connections, 25, 60.0)


def _shared(rate_rps: float, duration_s: float, connections: int = 32, asked: CompanionRate = "auto") -> Load:
    found = _load(rate_rps, duration_s, connections).with_companion("probe", asked)
    assert found.companion is not None, found.no_companion
    return found


def _parts(load: RateLoad) -> tuple[RateLoad, RateLoad]:
    main, companion = load.parts()
    assert (main.role, companion.role, companion.driver) == ("driver", "companion", "probe")
    return main.load, companion.load


@pytest.mark.parametrize(("rate", "duration", "connections"), LOADS)
def test_both_parts_make_the_whole(rate: float, duration: float, connections: int) -> None:
    """Rates, requests and measured requests of driver and probe sum up; both parts last equally long."""
    whole = _shared(rate, duration, connections)
    main, companion = _parts(whole)

    assert main.rate_rps + companion.rate_rps == pytest.approx(rate, abs=1e-9)
    assert main.window_count + companion.window_count == whole.window_count
    assert main.request_count + companion.request_count == whole.request_count == round(rate * duration)
    assert (main.connections, main.companion, companion.companion) == (connections, None, None)
    span_s = whole.window_count / rate
    assert companion.window_count / companion.rate_rps == pytest.approx(span_s, abs=0.51 / companion.rate_rps)
    assert main.window_count / main.rate_rps == pytest.approx(span_s, abs=0.51 / main.rate_rps)


@pytest.mark.parametrize(("rate", "duration", "connections"), LOADS)
def test_the_share_is_a_quarter_at_most(rate: float, duration: float, connections: int) -> None:
    """Whatever is wanted, the driver keeps three quarters of the rate."""
    _, companion = _parts(_shared(rate, duration, connections))

    assert companion.rate_rps <= rate / 4
    assert most_rps(rate) == rate / 4


@pytest.mark.parametrize(("rate", "duration", "connections"), [one for one in LOADS if one[0] * one[1] >= 1000])
def test_two_hundred_samples_are_left_with_a_tenth_in_reserve(rate: float, duration: float, connections: int) -> None:
    """Where the rate allows it, p95 is a figure even when a tenth of the stamps is lost."""
    _, companion = _parts(_shared(rate, duration, connections))

    assert 0.9 * companion.request_count >= 198
    assert companion.request_count <= 240


def test_a_long_window_has_one_a_second() -> None:
    """The rate does not fall below 1/s: an hour of it gives a p99 too."""
    _, companion = _parts(_shared(300, 3600, 87))

    assert companion.rate_rps == 1.0
    assert companion.request_count >= 1000


def test_own_connections_are_a_share_of_the_cap() -> None:
    """The probe meets a slow lane with the same room as the driver: C × r ÷ R, at least 4."""
    assert _shared(20, 8, 32).companion.connections == 8  # type: ignore[union-attr]
    assert _shared(300, 30, 87).companion.connections == 4  # type: ignore[union-attr]
    assert _shared(50, 30, 320).companion.connections > 40  # type: ignore[union-attr]


def test_more_connections_keep_the_parts_whole() -> None:
    """With twice the connections the counts still sum up: the parts follow from rate and caps."""
    more = _shared(50, 30).with_connections(2)
    main, companion = _parts(more)

    assert main.window_count + companion.window_count == more.window_count == 1500 + 64 + 10 + 25


@pytest.mark.parametrize(
    ("load", "asked", "reason"),
    [
        (_load(20, 2), "auto", "20 are the least that give a median"),
        (_load(50, 30), 0.5, "20 are the least that give a median"),
        (_load(100, 1, 2000), "auto", "less than half of the requests"),
        (_load(50, 30), "off", "off: the matrix wants no probe"),
    ],
)
def test_no_probe_runs(load: RateLoad, asked: CompanionRate, reason: str) -> None:
    """It is left out where it would give nothing or take too much, with a reason, and the load stays as it was."""
    found = load.with_companion("probe", asked)

    assert found.companion is None
    assert [part.load for part in found.parts()] == [replace(load, no_companion=found.no_companion)]
    assert reason in (found.no_companion or "")


def test_every_lane_has_it_and_the_baseline_too(tmp_path: Path) -> None:
    """At one rate the direct lane and each gateway are measured with the same probe beside the same driver."""
    rates = [cell for cell in cells(tmp_path) if cell.load.kind == "rate"]

    assert len({cell.load.companion for cell in rates if cell.mode == "plain"}) == 1
    assert any(cell.is_baseline for cell in rates)
    assert all(cell.load.companion for cell in rates)
    assert not any(cell.load.companion for cell in cells(tmp_path) if cell.load.kind == "clients")


def test_the_matrix_sets_it(tmp_path: Path) -> None:
    """A rate is taken as it is, off is off, and the driver that sees everything itself has none beside it."""
    asked = cells(tmp_path, ("duration: 30s", "duration: 30s, companion: 3"))
    off = cells(tmp_path, ("duration: 30s", "duration: 30s, companion: off"))
    probe = cells(tmp_path, ("runs: 3", "runs: 3\ndriver: probe"))

    assert {cell.load.companion.rate_rps for cell in asked if cell.load.companion} == {3.0}
    assert not any(cell.load.companion for cell in (*off, *probe))
