"""A load generator that fails in its window: what is said, what is kept, what is tried again."""

from __future__ import annotations

import os

import pytest

from tests.component.project import MATRIX, Project, Ran

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(300)]

FAULTS = ("die", "truncate", "silent", "hang")
CELL = "direct.none.work.plain.rate-20"


@pytest.fixture(scope="module")
def retried(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ran]:
    """One cell whose window fails in another way at each of four attempts and is sound then.

    There are as many retries as wanted runs, so five of them leave one for a busy machine.
    """
    project = Project(tmp_path_factory.mktemp("tools") / "project")
    project.script(faults=list(FAULTS))
    project.matrix(
        runs=5,
        loads={"rate": {"per_second": [20], "duration": "1s", "warmup": 4, "connections": 4}},
        accept={**MATRIX["accept"], "attempts_per_run": 6},
    )
    ran = project.invoke("bench", "--only", CELL)
    project.assert_nothing_left()
    return project, ran


def test_a_rejected_attempt_is_kept_and_tried_again(retried: tuple[Project, Ran]) -> None:
    """Each failed attempt stays with its reason beside the one that counts, and is told."""
    project, ran = retried
    runs = {name: run for name, run in project.runs(CELL).items() if name.startswith("b01")}
    assert list(runs)[:5] == ["b01", *(f"b01.rejected-{number}" for number in range(1, 5))]
    assert [runs[f"b01.rejected-{number}"]["attempt"] for number in range(1, 5)] == [1, 2, 3, 4]
    assert runs["b01"]["attempt"] == len(runs)
    codes = [run["reason"]["code"] for name, run in runs.items() if name != "b01"]
    assert codes[:4] == ["generator_failed"] * 4
    assert sum("rejected: generator_failed: " in line for line in ran.sentences) >= 4, ran.err
    cell, finished = project.cells()[CELL], project.finished()
    assert (cell["runs_wanted"], cell["runs_attempted"]) == (5, len(project.runs(CELL)))
    assert sum(one["count"] for one in cell["rejected"]) == finished["rejected_count"] >= 4
    assert cell["runs_accepted"] == finished["accepted_count"]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ("die", "ended with signal 9"),
        ("truncate", "the report is truncated ("),
        ("silent", "No space left on device"),
        ("hang", "was interrupted, did not stop, and was killed"),
    ],
)
def test_what_the_generator_did_is_said(retried: tuple[Project, Ran], fault: str, sentence: str) -> None:
    """A generator that was killed, cut its report, wrote none or hung is the rig's fault, with a sentence each."""
    project, ran = retried
    run = project.runs(CELL)[f"b01.rejected-{FAULTS.index(fault) + 1}"]
    assert run["verdict"] == "rig_limited"
    assert sentence in run["reason"]["detail"]
    assert sentence in ran.err
    assert str(project.folder) not in run["reason"]["detail"]


def test_the_broken_report_is_kept(retried: tuple[Project, Ran]) -> None:
    """What a failing generator left is kept as it was, so that the reason can be checked."""
    project, _ = retried
    folder = project.campaign / "cells" / CELL
    number = FAULTS.index("truncate") + 1
    assert (folder / f"b01.rejected-{number}" / "driver" / "report.json").read_text().startswith("{")
    assert not (folder / f"b01.rejected-{number}" / "driver" / "report.json").read_text().rstrip().endswith("}")
    stderr = folder / f"b01.rejected-{FAULTS.index('silent') + 1}" / "driver" / "stderr.txt"
    assert stderr.read_text() == f"Error: No space left on device (os error 28){os.linesep}"
