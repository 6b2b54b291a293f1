"""One suite of campaigns at a time: who waits for whom, and who shares a worker."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from tests.one_suite import MARKERS, SuiteLock, group_of


class Item:
    """What is asked of a test: its id and its markers."""

    def __init__(self, nodeid: str, *markers: str) -> None:
        self.nodeid = nodeid
        self._markers = markers

    def get_closest_marker(self, name: str) -> str | None:
        """The marker of that name."""
        return name if name in self._markers else None


def test_a_second_suite_waits_until_the_first_is_over(tmp_path: Path) -> None:
    """It is told once that it waits, and goes on when the lock is let go."""
    first, second = SuiteLock(tmp_path / "lock"), SuiteLock(tmp_path / "lock")
    told = threading.Event()
    first.take()
    waiting = threading.Thread(target=second.take, args=(told.set,), daemon=True)
    waiting.start()

    assert told.wait(10)
    assert waiting.is_alive()
    first.release()
    waiting.join(10)
    assert not waiting.is_alive()
    second.release()


def test_a_suite_does_not_wait_for_itself(tmp_path: Path) -> None:
    """Every campaign of a suite takes the lock; only the first of them has to."""
    lock = SuiteLock(tmp_path / "lock")
    waits: list[bool] = []
    for _ in range(2):
        lock.take(lambda: waits.append(True))
    lock.release()

    assert not waits


@pytest.mark.parametrize("marker", MARKERS)
def test_tests_that_measure_share_a_worker(marker: str) -> None:
    """Whatever file they stand in, campaigns are one group; other tests stay with their file."""
    measuring = {group_of(Item(f"tests/x/test_{name}.py::test_it", marker)) for name in ("a", "b")}
    others = {group_of(Item(f"tests/x/test_{name}.py::test_it")) for name in ("a", "b")}

    assert len(measuring) == 1
    assert len(others) == 2


def test_every_test_that_starts_a_campaign_is_marked() -> None:
    """A file that runs a project's command line or brings a lane up says so, or it would run beside others."""
    tests = Path(__file__).resolve().parents[1]
    starting = [
        path
        for path in sorted(tests.rglob("test_*.py"))
        if path != Path(__file__)
        and any(word in path.read_text() for word in ("import Project", "lane_up(", "Project,"))
    ]

    assert len(starting) > 10
    assert not [
        path.name for path in starting if not any(f"pytest.mark.{name}" in path.read_text() for name in MARKERS)
    ]
