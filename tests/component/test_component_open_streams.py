"""Open streams in a whole campaign: an injected delay of each is found, what did not open is reported."""

from __future__ import annotations

from typing import Any

import pytest

from tests.component.project import Project, Ran

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(300)]

OPEN = [0, 10, 30, 60]
LOAD = "streams-60"
PLANTED_BYTES = 100 * 1024
SOUND, HEAVY, LOST, BUFFERED = "none", "heavy-100", "slow-capacity-5", "buffer"


def _cell(fault: str) -> str:
    return f"faulty@fault={fault}.none.work.stream.{LOAD}"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ran]:
    """One gateway as it is, with a delay on each stream, too slow to open all, and one that holds responses back."""
    project = Project(tmp_path_factory.mktemp("streams") / "project")
    project.matrix(
        subject="faulty",
        gateways=project.faulty(SOUND, HEAVY, LOST, BUFFERED),
        recipes=["recipes"],
        modes=["stream"],
        loads={"streams": {"held": OPEN, "hold": "700ms"}},
    )
    ran = project.invoke("bench", within_s=250)
    project.assert_nothing_left()
    return project, ran


def _points(project: Project, cell: str) -> list[dict[str, Any]]:
    (record,) = project.runs(cell).values()
    points: list[dict[str, Any]] = record["open_streams"]["points"]
    return points


@pytest.mark.parametrize("fault", [SOUND, HEAVY])
def test_every_step_is_opened_and_read(measured: tuple[Project, Ran], fault: str) -> None:
    """At each step as many streams are open at the provider as at the client, all with content; each ends whole."""
    project, _ = measured
    cell = project.cells()[_cell(fault)]
    assert cell["verdict"] == "valid" or _cell(fault) in project.spoilt()
    points = _points(project, _cell(fault))
    assert [(p["client_open_count"], p["content_count"], p["open_count"]) for p in points] == [
        (n, n, n) for n in OPEN
    ]
    assert all(point["rss_bytes"] > 0 and point["pss_bytes"] > 0 for point in points)
    record = project.record(_cell(fault))
    assert (record["open_streams"]["whole_count"], record["counts"]["provider_request_count"]) == (OPEN[-1], OPEN[-1])
    assert record["counts"]["provider_aborted_count"] == 0


def test_the_injected_delay_of_a_stream_is_found(measured: tuple[Project, Ran]) -> None:
    """Two slopes of one gateway differ by the delay that was injected on each stream, and by little else."""
    cells = measured[0].cells()
    light, heavy = (cells[_cell(fault)]["memory_per_stream_bytes"]["value"] for fault in (SOUND, HEAVY))
    assert 0.85 < (heavy - light) / PLANTED_BYTES < 1.2
    assert light < heavy / 2


def test_nothing_is_timed(measured: tuple[Project, Ran]) -> None:
    """Open streams have no times and no rate: each of these figures is absent with that reason."""
    cell = measured[0].cells()[_cell(SOUND)]
    timings = {name: value for name, value in cell.items() if name.endswith("_ms")}
    assert len(timings) > 10
    assert {value["absent"] for value in timings.values()} == {"open_streams"}
    assert cell["achieved_rps"] == cell["cpu_ms_per_request"] == {"absent": "open_streams", "detail": ""}


def test_the_lane_without_a_gateway_has_no_memory(measured: tuple[Project, Ran]) -> None:
    """The baseline holds the same streams, which shows that the rig can, and has no gateway to measure."""
    cell = measured[0].cells()[f"direct.none.work.stream.{LOAD}"]
    assert (cell["verdict"], cell["memory_per_stream_bytes"]) == ("valid", {"absent": "no_gateway", "detail": ""})


def test_streams_that_do_not_open_are_told(measured: tuple[Project, Ran]) -> None:
    """A gateway that lets five requests per second through does not open thirty at once: errored, with the counts."""
    project, ran = measured
    cell = project.cells()[_cell(LOST)]
    assert (cell["verdict"], [one["reason"]["code"] for one in cell["rejected"]]) == ("errored", ["errors"])
    assert "streams open when" in cell["reason"]["detail"]
    assert cell["reason"]["detail"] in ran.out
    assert cell["memory_per_stream_bytes"] == {"absent": "errored", "detail": ""}
    ran.ends_with(3)


def test_a_lane_that_holds_answers_back_is_weighed_all_the_same(measured: tuple[Project, Ran]) -> None:
    """Without content at the client the provider's count says that the streams are open; a flag tells it."""
    project, _ = measured
    cell = project.cells()[_cell(BUFFERED)]
    assert cell["verdict"] == "valid"
    assert "buffered" in cell["flags"]
    assert [point["content_count"] for point in _points(project, _cell(BUFFERED))] == [0, 0, 0, 0]


def test_figures_reach_the_page(measured: tuple[Project, Ran]) -> None:
    """The page has the row of open streams with its memory, and the gateway that failed to hold them."""
    project, _ = measured
    page = (project.results / "site" / "index.html").read_text()
    assert "60 open streams" in page
    assert "Memory per open stream" in page
