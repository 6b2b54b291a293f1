"""A gateway that is slow to warm up: its warm-up is not steady, its window drifts, and both values are shown."""

from __future__ import annotations

import pytest

from tests.component.project import Project

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(200)]

CELL = "faulty@fault=drift-300.none.work.plain.rate-40"


def test_added_time_that_falls_within_the_window_is_flagged(tmp_path_factory: pytest.TempPathFactory) -> None:
    """30 ms that are gone after 300 requests: the window sees their last third, and says from what to what."""
    project = Project(tmp_path_factory.mktemp("drift") / "project")
    project.matrix(
        gateways=project.faulty("drift-300"),
        subject="faulty",
        recipes=["recipes"],
        loads={"rate": {"per_second": [40], "duration": "4s", "warmup": 4, "timeout": "5s"}},
        driver="probe",
        warmup={"requests": 100, "within": "5s"},
    )
    ran = project.invoke("bench", "--only", CELL)
    ran.ends_with(0)
    cell = project.cells()[CELL]
    assert {"not_steady", "drifts"} <= set(cell["flags"])
    first_ms, last_ms = cell["drift_first_ms"]["value"], cell["drift_last_ms"]["value"]
    assert first_ms > 2 * last_ms
    assert "added time fell from" in ran.out
    prepared = [one for one in project.events("prepared") if one["lane"].startswith("faulty")]
    assert [one["steady"] for one in prepared] == [False]
    assert prepared[0]["warm_up_count"] > 100
