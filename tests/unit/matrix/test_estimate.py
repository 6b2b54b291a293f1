"""What a campaign will take."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.examples.matrix_samples import cells
from weighbridge.matrix.estimate import Estimate, Waits, estimate, window_s


def test_nothing_to_run_takes_nothing(tmp_path: Path) -> None:
    """Cells that no recipe claims cost neither time nor space."""
    unsupported = [cell for cell in cells(tmp_path) if cell.not_supported]

    assert unsupported
    assert estimate(unsupported, 3, Waits(idle_look_s=10.0)) == Estimate(0.0, 0, 0)
    assert estimate([], 3, Waits(idle_look_s=10.0)) == Estimate(0.0, 0, 0)


def test_runs_multiply(tmp_path: Path) -> None:
    """Three runs take three times what one takes."""
    found = cells(tmp_path)
    one, three = estimate(found, 1, Waits(idle_look_s=10.0)), estimate(found, 3, Waits(idle_look_s=10.0))

    assert three.seconds == pytest.approx(3 * one.seconds)
    assert three.bytes == 3 * one.bytes
    assert one.window_count == len([cell for cell in found if cell.not_supported is None])


def test_the_wait_for_an_idle_machine_counts_once_a_block(tmp_path: Path) -> None:
    """A matrix that asks for another quiet time is estimated with it."""
    found = cells(tmp_path)

    assert estimate(found, 3, Waits(quiet_s=1.0)).seconds == pytest.approx(estimate(found, 3).seconds - 3 * 4.0)


def test_a_window_takes_at_least_its_load(tmp_path: Path) -> None:
    """A rate window lasts as long as its requests at that rate, a closed loop as its rounds of responses."""
    for cell in cells(tmp_path):
        assert window_s(cell) > cell.load.expected_s(cell.answer, cell.mode)


def test_more_requests_take_more_time_and_space(tmp_path: Path) -> None:
    """The estimate grows with the load."""
    cell = next(c for c in cells(tmp_path) if c.id == "beta.none.work.plain.clients-10")
    longer = replace(cell, load=replace(cell.load, request_count=5000))

    assert estimate([longer], 1, Waits(idle_look_s=0.0)).seconds > estimate([cell], 1, Waits(idle_look_s=0.0)).seconds
    assert estimate([longer], 1, Waits(idle_look_s=0.0)).bytes > estimate([cell], 1, Waits(idle_look_s=0.0)).bytes


def test_open_streams_take_their_steps_and_little_room(tmp_path: Path) -> None:
    """A window of open streams takes as long as its streams and keeps no row for a percentile."""
    found = cells(tmp_path, ("  rate: {per_second: [50], duration: 30s}\n", "  streams: {held: [0, 20], hold: 3s}\n"))
    kept = [cell for cell in found if cell.load.kind == "streams" and cell.not_supported is None]
    found = estimate(kept, 1, Waits(idle_look_s=0.0))

    assert found.window_count == len(kept) > 1
    assert all(9 > window_s(cell) - cell.load.expected_s(cell.answer, cell.mode) > 0 for cell in kept)
    assert found.bytes < 300_000 * len(kept)


def test_looks_at_idle_use_are_counted_once_a_gateway(tmp_path: Path) -> None:
    """Two looks for each start of a gateway, however many windows it has, and none for the lane without one."""
    found = [cell for cell in cells(tmp_path) if cell.not_supported is None]
    starts = {cell.lane for cell in found if cell.lane.gateway != "direct"}

    assert len(starts) < len([cell for cell in found if cell.lane.gateway != "direct"])
    longer, shorter = (estimate(found, 2, Waits(idle_look_s=look_s)) for look_s in (10.0, 4.0))
    assert longer.seconds - shorter.seconds == pytest.approx(2 * 2 * 6 * len(starts))
