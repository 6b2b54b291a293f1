"""What a user gets wrong on the command line: one sentence, exit 2, nothing started, nothing written."""

from __future__ import annotations

import os

import pytest

from tests.component.project import Project, listening

pytestmark = pytest.mark.component


def _assert_untouched(project: Project) -> None:
    assert not project.campaigns()
    assert not project.results.exists()
    assert not (project.folder / ".weighbridge").exists()


@pytest.mark.parametrize(
    ("edit", "at", "key", "advice"),
    [
        (("gateways:", "gatways:"), "gatways", "gatways", "Did you mean gateways?"),
        (("- reference", "- reference\n- litelm"), "litelm", "gateways[1]", "Did you mean litellm?"),
        (("- plain", "- plian"), "plian", "modes[0]", "Did you mean plain?"),
        (("duration: 2s", "duration: 2 parsecs"), "2 parsecs", "loads.rate.duration", "such as 20ms"),
        (("warmup: 4", "warm_up: 4"), "warm_up", "loads.rate.warm_up", "Did you mean warmup?"),
        (("runs: 1", "runs: 1\nruns: 2"), "runs: 2", "runs", "is given twice"),
    ],
)
def test_a_typo_in_the_matrix(project: Project, edit: tuple[str, str], at: str, key: str, advice: str) -> None:
    """A typo is told with file, line, column, key and a way out, before anything is started or written."""
    path = project.matrix()
    text = path.read_text().replace(*edit, 1)
    path.write_text(text)
    before = text[: text.index(at)].splitlines(keepends=True)
    line, column = (len(before), len(before[-1]) + 1) if not before[-1].endswith("\n") else (len(before) + 1, 1)

    ran = project.invoke("bench")

    ran.ends_with(2)
    assert ran.out == ""
    assert len(ran.sentences) == 1, ran.err
    assert ran.sentences[0].startswith(f"matrix.yaml:{line}:{column}: {key}: ")
    assert advice in ran.sentences[0]
    _assert_untouched(project)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--runs", "two"], "--runs: "),
        (["--port-base", "99999"], "--port-base: "),
        (["--state-root", "nowhere"], "--state-root: nowhere is not a directory; expected an existing folder"),
        (["--only", "referense.*"], "referense.*"),
        (["--matrix", "matrx.yaml"], "matrx.yaml"),
        (["--recipes", "nowhere"], "nowhere"),
    ],
)
def test_a_flag_that_cannot_be(project: Project, words: list[str], sentence: str) -> None:
    """A wrong value of a flag is exit 2 with one sentence that quotes it, and nothing is started or written."""
    project.matrix()

    ran = project.invoke("bench", *words)

    ran.ends_with(2)
    assert len(ran.sentences) == 1, ran.err
    assert sentence in ran.sentences[0]
    _assert_untouched(project)


def test_a_port_that_is_taken(project: Project) -> None:
    """A taken port in the asked range is exit 2 and names port, program and pid; no campaign is begun."""
    project.matrix()
    with listening() as port:
        ran = project.invoke("bench", "--port-base", str(port - 2))

    ran.ends_with(2)
    assert f"Port {port} " in ran.sentences[-1]
    assert f"(pid {os.getpid()})" in ran.sentences[-1]
    assert "--port-base" in ran.sentences[-1]
    assert not project.campaigns()


@pytest.mark.parametrize("task", ["bench", "plan", "read", "show", "pages"])
def test_help_is_had_behind_the_task_as_well(project: Project, task: str) -> None:
    """`--help` is no campaign and no file, although Invoke hands it to the argument of a task that has one."""
    ran = project.invoke(task, "--help")

    ran.ends_with(0)
    assert "Docstring:" in ran.out
    assert "Options:" in ran.out
    _assert_untouched(project)
