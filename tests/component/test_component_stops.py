"""A campaign that is stopped from outside: by a signal, by KILL, by a second one that wants the same folder."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.component.project import CODES, Began, Project, wait_for

pytestmark = pytest.mark.timeout(240)

SEED = 1  # the reference comes before the baseline, and its clients before the rate
FIRST, SECOND = "reference.none.work.plain.clients-2", "reference.none.work.plain.rate-20"


def _length(name: str, to_group: bool) -> pytest.MarkDecorator:
    """One of the signals stands for all in the quick session."""
    return pytest.mark.component if (name, to_group) == ("TERM", False) else pytest.mark.campaign


@contextmanager
def in_the_window(project: Project, *words: str) -> Iterator[Began]:
    """A campaign that has committed one run and is in the middle of a window through the gateway."""
    touched = project.folder / "touched"
    project.script(touch=str(touched))
    project.matrix(
        seed=SEED,
        loads={
            "rate": {"per_second": [20], "duration": "60s", "warmup": 4},
            "clients": {"counts": [2], "requests": 20, "warmup": 4},
        },
    )
    began = project.begin("bench", *words)
    try:
        wait_for(
            lambda: touched.exists() or began.process.poll() is not None, 60, lambda: f"no window: {project.events()}"
        )
        assert began.process.poll() is None, began.err.read_text()
        assert list(project.runs(FIRST)) == ["b01"], "the first run was not committed before the second window"
        yield began
    finally:
        began.kill()


def _assert_readable(project: Project, campaign: Path) -> None:
    """The committed run is whole and shown; the run that was cut left nothing."""
    assert list(project.runs(FIRST, campaign)) == ["b01"]
    assert project.runs(SECOND, campaign) == {}
    shown = project.invoke("show", campaign.name)
    shown.ends_with(0)
    assert " 1/1 " in shown.out
    cells = project.cells(campaign)
    assert cells[FIRST]["verdict"] == "valid"
    assert cells[SECOND]["verdict"] == "incomplete"


@pytest.mark.parametrize(
    ("name", "to_group"),
    [
        pytest.param(name, to_group, id=f"{name}-{'group' if to_group else 'alone'}", marks=_length(name, to_group))
        for name in CODES
        for to_group in (False, True)
    ],
)
def test_a_signal_in_the_window(project: Project, name: str, to_group: bool) -> None:
    """INT, TERM and HUP end the campaign with 128 + n, written down as interrupted, with nothing left running."""
    number = signal.Signals[f"SIG{name}"]
    with in_the_window(project) as began:
        (os.killpg if to_group else os.kill)(began.process.pid, number)
        ran = began.ended(within_s=40)

    ran.ends_with(CODES[name])
    assert ran.sentences[-1].startswith(f"Stopped by signal {int(number)}.")
    project.assert_nothing_left()
    finished = project.finished()
    assert (finished["status"], finished["exit_code"], finished["accepted_count"]) == ("interrupted", CODES[name], 1)
    assert project.summary()["status"] == "interrupted"
    _assert_readable(project, project.campaign)


def _guardian(project: Project, began: Began) -> psutil.Process:
    children = psutil.Process(began.process.pid).children()
    return next(child for child in children if "weighbridge.rig.processes.guardian" in child.cmdline())


@pytest.mark.campaign
def test_a_killed_task_is_cleaned_up_by_its_guardian(project: Project) -> None:
    """After KILL nothing runs on, what was committed can be shown, and the next campaign works at once.

    Keys and states that the killed one left in its working folder are gone after the next.
    """
    with in_the_window(project) as began:
        began.process.kill()
        began.process.wait()
        wait_for(lambda: not project.survivors(), 40, lambda: f"left running: {project.survivors()}")

    campaign = project.campaign
    assert not (campaign / "finished.json").exists()
    _assert_readable(project, campaign)

    project.script()
    ran = project.invoke("bench", "--only", FIRST)

    assert len(project.campaigns()) == 2
    project.ends_well(ran, project.campaigns()[1])
    assert list(project.runs(FIRST, campaign)) == ["b01"]


@pytest.mark.campaign
def test_what_a_killed_guardian_left_is_stopped_by_the_next_run(project: Project) -> None:
    """When task and guardian are killed, the next campaign stops what they had left, says so, and works."""
    with in_the_window(project) as began:
        guardian = _guardian(project, began)
        began.process.send_signal(signal.SIGSTOP)  # so that it does not start another guardian
        guardian.kill()
        began.process.kill()
        began.process.wait()
        left = project.survivors()
    assert any("mocks.provider" in line for line in left), left

    project.script()
    ran = project.invoke("bench", "--only", FIRST)

    project.ends_well(ran, project.campaigns()[-1])
    assert "Stopped what an earlier run that was killed had left" in ran.err
    assert not [line for line in left if line in project.survivors()]


@pytest.mark.campaign
def test_one_campaign_at_a_time(project: Project, tmp_path: Path) -> None:
    """A second campaign of the same project, or in the same results folder, is exit 2; the first goes on."""
    other = Project(tmp_path / "other")
    other.matrix()
    with in_the_window(project) as began:
        second = project.invoke("bench")
        third = other.invoke("bench", "--out", str(project.results))
        assert began.process.poll() is None
        began.process.terminate()
        began.ended(within_s=40).ends_with(143)

    second.ends_with(2)
    assert f"(pid {began.process.pid})" in second.sentences[-1]
    third.ends_with(2)
    assert "another campaign is running there; wait for it or choose another folder with --out" in third.sentences[-1]
    assert not other.survivors()
    assert len(project.campaigns()) == 1
