"""Commands beside a campaign: what is planned, checked and read, and mocks that stay up for use by hand."""

from __future__ import annotations

import json
import re
import signal
import urllib.request

import pytest

from tests.component.project import CHECKOUT, Project, wait_for

pytestmark = pytest.mark.component


def _assert_nothing_began(project: Project) -> None:
    assert not project.campaigns()
    assert not project.survivors()


def test_a_plan_starts_nothing(project: Project) -> None:
    """Each cell stands in it, with what it takes; nothing is started or written."""
    project.matrix()

    ran = project.invoke("plan")

    ran.ends_with(0)
    for lane in ("direct", "reference"):
        for load in ("rate-20", "clients-2"):
            assert f"{lane}.none.work.plain.{load}" in ran.out
    assert not project.results.exists()
    _assert_nothing_began(project)


def test_a_check_names_tool_gateway_and_host(project: Project) -> None:
    """The versions that a campaign would use are told; nothing is measured."""
    project.matrix()

    ran = project.invoke("check")

    ran.ends_with(0)
    assert re.search(r"^matrix .*: 4 cells$", ran.out, re.MULTILINE)
    assert re.search(r"^oha +1\.16\.0$", ran.out, re.MULTILINE)
    assert re.search(r"^gateway +reference: ", ran.out, re.MULTILINE)
    assert re.search(r"^host .* CPUs$", ran.out, re.MULTILINE)
    _assert_nothing_began(project)


def test_a_stored_report_is_read(project: Project) -> None:
    """As text and as the document; the status that every answer had is in both."""
    file = CHECKOUT / "tests" / "data" / "oha" / "1.16.0" / "all500.json"
    words = ("read", str(file), "--argv-file", str(file.with_suffix(".argv")))

    shown, document = project.invoke(*words), project.invoke(*words, "--json")

    shown.ends_with(0)
    document.ends_with(0)
    assert "500" in shown.out
    assert json.loads(document.out)["schema"].startswith("weighbridge.load")


def test_a_report_that_is_none_is_one_sentence(project: Project) -> None:
    """A file of something else ends with exit 2 and its name."""
    ran = project.invoke("read", str(project.folder / "tasks.py"))

    ran.ends_with(2)
    assert "tasks.py" in ran.sentences[-1]


def test_mocks_are_held_up_until_a_signal(project: Project) -> None:
    """The addresses that are printed answer; INT ends the mocks with 130 and leaves nothing."""
    began = project.begin("mocks")
    try:
        wait_for(lambda: "Ctrl-C ends them." in began.out.read_text(), 60, began.err.read_text)
        address = re.search(r"http://\S+/counters", began.out.read_text())
        assert address is not None
        with urllib.request.urlopen(address[0], timeout=10) as answer:
            assert isinstance(json.load(answer), dict)
        began.process.send_signal(signal.SIGINT)
        ran = began.ended(40)
    finally:
        began.kill()

    ran.ends_with(130)
    assert ran.sentences[-1] == "The mocks are down."
    assert not list((project.folder / ".weighbridge" / "work").iterdir())
    _assert_nothing_began(project)
