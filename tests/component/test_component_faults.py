"""What gateways do wrong: each fault becomes a verdict with a reason, and the other cells go on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.component.project import MATRIX, Project, Ran

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(400)]

# A gateway whose 131st request is its last gets through preflight, warm-up (at most 80 and 4) and the small window
# of the clients (22), and never through the window at a rate (160).
SEED = 2  # the rate comes before the clients
RATE, CLIENTS = "rate-60", "clients-2"
SOUND = ("reference.none.work.plain.clients-2", "reference.none.work.stream.clients-2")


def _cell(fault: str, mode: str, load: str) -> str:
    return f"faulty@fault={fault}.none.work.{mode}.{load}"


SELECTED = [
    *SOUND,
    _cell("never-ready", "plain", CLIENTS),
    _cell("late-ready-3s", "plain", CLIENTS),
    _cell("die-130", "plain", "*"),
    _cell("hang-130", "plain", RATE),
    _cell("ignore-term", "plain", CLIENTS),
    _cell("error500", "plain", CLIENTS),
    _cell("error500-10", "plain", CLIENTS),
    _cell("html", "plain", CLIENTS),
    _cell("no-end", "*", CLIENTS),
    _cell("drop-chunk-5", "*", CLIENTS),
    _cell("orphan", "plain", CLIENTS),
]
FAULTS = list(dict.fromkeys(cell.partition("=")[2].partition(".")[0] for cell in SELECTED if "@" in cell))


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ran]:
    """One campaign with a sound gateway among faulty ones."""
    project = Project(tmp_path_factory.mktemp("faults") / "project")
    project.matrix(
        gateways=["reference", *project.faulty(*FAULTS)],
        recipes=["recipes"],
        seed=SEED,
        modes=["plain", "stream"],
        include=SELECTED,
        loads={
            "rate": {"per_second": [60], "duration": "2s", "warmup": 4, "timeout": "1s"},
            "clients": {**MATRIX["loads"]["clients"], "timeout": "2s"},
        },
    )
    ran = project.invoke("bench", within_s=300)
    return project, ran


def test_the_campaign_ends_in_order(measured: tuple[Project, Ran]) -> None:
    """Bad cells are data: the walk goes through every block, ends with exit 3 and leaves no process and no port."""
    project, ran = measured
    ran.ends_with(3)
    assert project.finished()["status"] == "complete"
    project.assert_nothing_left()


@pytest.mark.parametrize(
    "cell",
    [
        *SOUND,
        *(f"direct.none.work.{mode}.{CLIENTS}" for mode in ("plain", "stream")),
        f"direct.none.work.plain.{RATE}",
        _cell("ignore-term", "plain", CLIENTS),
        _cell("orphan", "plain", CLIENTS),
        _cell("late-ready-3s", "plain", CLIENTS),
        _cell("no-end", "plain", CLIENTS),
        _cell("drop-chunk-5", "plain", CLIENTS),
        _cell("die-130", "plain", CLIENTS),
    ],
)
def test_what_works_is_valid(measured: tuple[Project, Ran], cell: str) -> None:
    """A cell that its gateway serves is valid, whatever its neighbours or its own other cells did."""
    project, _ = measured
    found = project.cells()[cell]
    is_valid = (found["verdict"], found["reason"], found["runs_accepted"]) == ("valid", None, 1)
    assert is_valid or cell in project.spoilt(), found


@pytest.mark.parametrize(
    ("cell", "verdict", "reason", "sentence"),
    [
        (_cell("never-ready", "plain", CLIENTS), "errored", "never_ready", "did not become ready within 6 s"),
        (_cell("never-ready", "plain", CLIENTS), "errored", "never_ready", "/readyz returns 503"),
        (
            _cell("die-130", "plain", RATE),
            "errored",
            "crashed",
            "ended in the window: Faulty gateway ended with exit code 70",
        ),
        (_cell("hang-130", "plain", RATE), "errored", "errors", "timeout"),
        (_cell("error500", "plain", CLIENTS), "not_served", "not_served", "status 500"),
        (_cell("error500-10", "plain", CLIENTS), "errored", "errors", "of 44 requests failed"),
        (_cell("error500-10", "plain", CLIENTS), "errored", "errors", "× status 500"),
        (
            _cell("html", "plain", CLIENTS),
            "not_served",
            "not_served",
            "text/html where application/json was expected",
        ),
        (_cell("no-end", "stream", CLIENTS), "not_served", "not_served", "the body "),
        (_cell("drop-chunk-5", "stream", CLIENTS), "not_served", "not_served", "number 5 did not arrive"),
    ],
)
def test_a_fault_has_verdict_and_reason(
    measured: tuple[Project, Ran], cell: str, verdict: str, reason: str, sentence: str
) -> None:
    """What a gateway did wrong is the reason of its cell, in a sentence that the terminal shows as well."""
    project, ran = measured
    found = project.cells()[cell]
    assert found["verdict"] == verdict
    assert [one["reason"]["code"] for one in found["rejected"]] == [reason]
    assert sentence in found["reason"]["detail"]
    assert found["reason"]["detail"] in ran.out
    assert found["response_ms"]["absent"] == verdict


def test_a_dead_gateway_is_started_afresh(measured: tuple[Project, Ran]) -> None:
    """A gateway that died in one window has a new process for the next: it is prepared twice."""
    project, _ = measured
    prepared = [event for event in project.events("prepared") if event["lane"] == "faulty@fault=die-130.none.work"]
    order = [event["cell"] for event in project.events("run") if "die-130" in event["cell"]]
    assert order == [_cell("die-130", "plain", RATE), _cell("die-130", "plain", CLIENTS)]
    assert len(prepared) == 2


def test_a_gateway_that_is_ready_too_early_is_tried_again_and_remarked(measured: tuple[Project, Ran]) -> None:
    """Requests refused right after "ready" are a start and no inability: flagged, with how long."""
    project, ran = measured
    cell = _cell("late-ready-3s", "plain", CLIENTS)
    (run,) = project.runs(cell).values()
    (seen,) = run["evidence"]
    assert "ready_early" in project.cells()[cell]["flags"]
    assert (seen["ok"], seen["refused_with"]) == (True, "status 503")
    assert f"the first plain request got status 503, for {seen['refused_s']:g} s" in ran.err


@pytest.mark.parametrize("fault", ["never-ready", "die-130", "error500"])
def test_the_end_of_the_log_is_kept(measured: tuple[Project, Ran], fault: str) -> None:
    """A rejected attempt keeps what the gateway had written last."""
    project, _ = measured
    load = RATE if fault == "die-130" else CLIENTS
    folder = project.campaign / "cells" / _cell(fault, "plain", load) / "b01.rejected-1"
    assert (folder / "gateway-log-tail.txt").read_text().strip()


def test_a_gateway_that_ignores_term_is_named(measured: tuple[Project, Ran]) -> None:
    """That a gateway had to be killed is told: in the event log and to the user."""
    project, ran = measured
    reported = [event for event in project.events("stopped") if event["lane"].startswith("faulty@fault=ignore-term")]
    assert [event["by"] for event in reported] == ["kill"]
    assert "had to be killed" in ran.err


def _saturated(project: Project) -> dict[str, Any]:
    return project.cells()["faulty@fault=slow-capacity-5.none.work.plain.rate-20"]


def test_a_lane_that_does_not_keep_the_rate_is_a_result(project: Project) -> None:
    """A saturated cell is published, not retried: exit 0, cut at twice its window, with what it served of what."""
    project.matrix(
        gateways=project.faulty("slow-capacity-5"),
        subject="faulty",
        recipes=["recipes"],
        loads={"rate": {"per_second": [20], "duration": "1s", "warmup": 0, "connections": 8}},
        accept={**MATRIX["accept"], "attempts_per_run": 2},
    )

    ran = project.invoke("bench")

    ran.ends_with(0)
    found = _saturated(project)
    assert (found["verdict"], found["runs_accepted"], found["runs_attempted"]) == ("saturated", 1, 1)
    assert found["achieved_rps"]["value"] == pytest.approx(5, rel=0.4)
    assert "of 20 per second" in found["served_text"]
    assert found["served_text"] in ran.out
    assert found["shift_ms"]["absent"] == "saturated"
    assert project.runs(found["cell"])["b01"]["clients"][0]["driver"]["cut"] is True
