"""What all tasks share: how errors become exit codes, and how flags become values."""

from __future__ import annotations

from pathlib import Path

import pytest

from weighbridge import units
from weighbridge.errors import InputError, Interrupted
from weighbridge.tasks import cli


def test_an_error_is_one_sentence_and_its_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    """What a user got wrong ends with 2 and the sentence on stderr, without a traceback."""

    def task() -> None:
        raise InputError("the matrix is empty")

    with pytest.raises(SystemExit) as left:
        cli.guarded(task)()
    told = capsys.readouterr()

    assert (left.value.code, told.out, told.err) == (2, "", "the matrix is empty\n")


def test_a_signal_is_128_and_its_number() -> None:
    """A task that a signal ended says so by its exit code, as shells do."""

    def task() -> None:
        raise Interrupted(15)

    with pytest.raises(SystemExit) as left:
        cli.guarded(task)()

    assert left.value.code == 143


def test_a_bug_keeps_its_traceback() -> None:
    """What is no error of ours is not turned into a sentence."""

    def task() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cli.guarded(task)()


def test_a_flag_that_is_no_number_is_named() -> None:
    """The flag stands in the sentence; one that was not given has no value."""
    assert cli.number("runs", "3", units.parse_count) == 3
    assert cli.number("runs", "", units.parse_count) is None
    with pytest.raises(InputError, match="--runs: "):
        cli.number("runs", "three", units.parse_count)


def test_the_project_is_the_nearest_folder_with_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """From a folder below, results and tools still lie in the project; without one, here."""
    below = tmp_path / "project" / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    assert cli.project() == below

    (tmp_path / "project" / "tasks.py").touch()

    assert cli.project() == tmp_path / "project"
    assert cli.home() == tmp_path / "project" / ".weighbridge"
    assert cli.results_folder("") == tmp_path / "project" / "results"
    assert cli.results_folder("out") == below / "out"
