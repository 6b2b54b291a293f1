"""Whose a response is, and what a gateway passed on, through the probe: each fault has its reason or its flag."""

from __future__ import annotations

from typing import Any

import pytest

from tests.component.project import Project, Ran

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(400)]

MODES = ("plain", "stream")
CLIENTS = "clients-2"
FAULTS = ("none", "crossed-5", "repeat-5", "old-5", "wrong-usage-5", "change-request", "re-pace-5ms")


def _cell(fault: str, mode: str) -> str:
    return f"faulty@fault={fault}.none.work.{mode}.{CLIENTS}"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ran]:
    """One campaign of two clients that the probe drives, whose two requests are open at the same time."""
    project = Project(tmp_path_factory.mktemp("identity") / "project")
    project.matrix(
        gateways=project.faulty(*FAULTS),
        subject="faulty",
        recipes=["recipes"],
        driver="probe",
        modes=list(MODES),
        answers={"quick": {"delay": "20ms", "chunks": 8, "gap": "4ms"}},
        loads={"clients": {"counts": [2], "requests": 60, "warmup": 4, "timeout": "5s"}},
    )
    ran = project.invoke("bench", within_s=300)
    ran.ends_with(3)
    return project, ran


def _reason(project: Project, cell: str) -> dict[str, Any] | None:
    reason: dict[str, Any] | None = project.cells()[cell]["reason"]
    return reason


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("fault", "code", "sentence"),
    [
        (
            "crossed-5",
            "crossed_answers",
            "responses carry the stamp of another request: they were given to the wrong one",
        ),
        ("repeat-5", "cache_hit", "were given to an earlier request too"),
        ("old-5", "cache_hit", "responses are older than their request"),
    ],
)
def test_a_response_of_another_request_rejects_the_run(
    measured: tuple[Project, Ran], fault: str, code: str, sentence: str, mode: str
) -> None:
    """Crossed, repeated and old responses make the cell errored, with a reason that says which of them they are."""
    project, ran = measured
    reason = _reason(project, _cell(fault, mode))
    assert reason is not None
    assert (reason["code"], reason["class"]) == (code, "gateway")
    assert sentence in reason["detail"]
    assert reason["detail"] in ran.out


@pytest.mark.parametrize("mode", MODES)
def test_a_repeated_response_is_remarked(measured: tuple[Project, Ran], mode: str) -> None:
    """That two open requests got one response is told beside the reason, and no sound lane has that remark."""
    cells = measured[0].cells()
    assert "repeated_answers" in cells[_cell("repeat-5", mode)]["flags"]
    assert cells[_cell("repeat-5", mode)]["stamps"]["repeated_count"] > 0
    for sound in ("none", "old-5", "crossed-5"):
        assert "repeated_answers" not in cells[_cell(sound, mode)]["flags"]


@pytest.mark.parametrize("mode", MODES)
def test_a_sound_lane_passes_on_what_it_got(measured: tuple[Project, Ran], mode: str) -> None:
    """Without a fault every response is its request's own and tells the provider's usage, on the baseline as well."""
    cells = measured[0].cells()
    for cell in (cells[_cell("none", mode)], cells[f"direct.none.work.{mode}.{CLIENTS}"]):
        assert cell["verdict"] == "valid", cell["reason"]
        assert cell["request_changes"] == []
        assert cell["usage"]["same_count"] == cell["usage"]["response_count"] == 62
        assert cell["stamps"]["crossed_count"] == cell["stamps"]["repeated_count"] == 0
        assert not {"usage_differs", "repeated_answers", "responses_changed"} & set(cell["flags"])


@pytest.mark.parametrize("mode", MODES)
def test_a_wrong_usage_is_flagged_and_no_failure(measured: tuple[Project, Ran], mode: str) -> None:
    """Every fifth response tells one more token: counted, with the first difference, and the cell stays valid."""
    cell = measured[0].cells()[_cell("wrong-usage-5", mode)]
    assert cell["verdict"] == "valid"
    assert "usage_differs" in cell["flags"]
    assert 10 <= cell["usage"]["differing_count"] <= 14
    assert "instead of" in cell["usage"]["example"]


def test_what_a_gateway_changed_in_the_request_is_on_the_page(measured: tuple[Project, Ran]) -> None:
    """Parameters that were added and dropped stand in the record and in a table of the page; so does the usage."""
    project, _ = measured
    cells = project.cells()
    page = next((project.campaign / "site").rglob("index.html"), None) or next(project.folder.rglob("index.html"))
    text = page.read_text()
    assert cells[_cell("change-request", "plain")]["request_changes"] == ["adds temperature"]
    assert cells[_cell("change-request", "stream")]["request_changes"] == ["adds temperature", "drops stream_options"]
    assert cells[_cell("change-request", "stream")]["usage"]["missing_count"] == 62
    assert "What the gateway passed on" in text
    assert "adds temperature, drops stream_options" in text
    assert "62 without any" in text


def test_a_stream_that_is_held_and_replayed_is_called_so(measured: tuple[Project, Ran]) -> None:
    """Held to the provider's end and let out at its pace is no passing through."""
    cells = measured[0].cells()
    assert cells[_cell("re-pace-5ms", "stream")]["buffering"] == "held, then re-paced"
    assert cells[_cell("none", "stream")]["buffering"] != "held, then re-paced"
