"""A few failed requests: they are counted and said, and a window that they spoil is not tried away."""

from __future__ import annotations

import pytest

from tests.component.project import MATRIX, Project

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(200)]

COUNT = 1100
# The window sends one more for each of its two connections.
SENT = COUNT + 2


def _cell(fault: str) -> str:
    return f"faulty@fault={fault}.none.work.plain.clients-2"


def test_one_failed_request_in_a_thousand_is_said_and_more_are_not_tried_away(project: Project) -> None:
    """Of 1,102 requests one 500: figures, a flag, and its share everywhere; every tenth: errored at the first try."""
    project.matrix(
        gateways=project.faulty("error500-900", "error500-10"),
        subject="faulty",
        recipes=["recipes"],
        driver="probe",  # it leads, so no pass of its own with as many requests follows
        loads={"clients": {**MATRIX["loads"]["clients"], "requests": COUNT}},
        accept={**MATRIX["accept"], "attempts_per_run": 2},
    )

    ran = project.invoke("bench", within_s=150)

    ran.ends_with(3)
    cells = project.cells()
    rare, often = cells[_cell("error500-900")], cells[_cell("error500-10")]
    assert (rare["verdict"], rare["error_count"]) == ("valid", 1)
    assert "failed_in_some_runs" in rare["flags"]
    assert (rare["failed"]["failed_count"], rare["failed"]["request_count"]) == (1, SENT)
    assert (often["verdict"], often["reason"]["code"], often["runs_attempted"]) == ("errored", "errors", 1)
    said = f"failed in 1 of 1 windows, 1 of {SENT:,} requests (0.09 %, 0.002–0.50)"
    assert said in ran.out
    assert said in (project.folder / "results" / "site" / "index.html").read_text()
