"""Idle use in a whole campaign: a gateway that burns CPU in the background gets no CPU figure that is not there."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.component.project import Project

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(200)]

CELL = "faulty@fault={}.none.work.plain.rate-20"


@pytest.fixture(scope="module")
def weighed(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A gateway without a fault beside one that burns 0.3 s of CPU every 4 s, each looked at for 4 s twice."""
    project = Project(tmp_path_factory.mktemp("idle") / "project")
    project.matrix(
        gateways=project.faulty("none", "bg-cpu"),
        subject="faulty",
        recipes=["recipes"],
        loads={"rate": {"per_second": [20], "duration": "2s", "warmup": 4, "timeout": "5s"}},
        idle={"gateway": "4s"},
    )
    project.ends_well(project.invoke("bench", "--json"))
    project.assert_nothing_left()
    return project


def resources(project: Project, fault: str) -> Any:
    """What the gateway used, as its run tells."""
    return project.record(CELL.format(fault))["resources"]


def test_bursts_in_the_background_hide_the_cost_or_are_flagged(weighed: Project) -> None:
    """No 0.0 and no burst as the cost of requests: absent with what was seen, or flagged beside its uncertainty."""
    cell = weighed.cells()[CELL.format("bg-cpu")]
    cpu = cell["cpu_ms_per_request"]
    assert cell["cpu_idle_cores"]["value"] == pytest.approx(0.075, rel=0.35)
    if "absent" in cpu:
        assert cpu["absent"] == "hidden_by_idle_use"
        assert "s were used, and idle" in cpu["detail"]
    else:
        assert "idle_cpu_large" in cell["flags"]
        assert cpu["value"] > cell["cpu_uncertainty_ms"]["value"] > 0


def test_a_quiet_gateway_has_its_cost_with_its_uncertainty(weighed: Project) -> None:
    """Without the fault the figure is there, positive, and busy is a share of a core."""
    cell = weighed.cells()[CELL.format("none")]
    assert cell["cpu_ms_per_request"]["value"] > cell["cpu_uncertainty_ms"]["value"] > 0
    assert cell["cpu_idle_cores"]["value"] < 0.05
    assert 0 < cell["busy_ratio"]["value"] < 1


def test_the_look_after_a_visit_stands_beside_its_runs(weighed: Project) -> None:
    """run.json has the look before; the document that it names has the look after, four slices of a second each."""
    folder: Path = weighed.campaign
    for fault in ("none", "bg-cpu"):
        run = weighed.runs(CELL.format(fault))["b01"]
        visit = json.loads((folder / "visits" / f"{run['visit']}.json").read_text())
        assert visit["lane"].startswith(f"faulty@fault={fault}")
        for look in (resources(weighed, fault)["idle_before"], visit["idle_after"]):
            assert len(look["cores"]) == 4
            assert look["slice_s"] == pytest.approx(1.0, rel=0.2)
        assert resources(weighed, fault)["idle_after"] is None
