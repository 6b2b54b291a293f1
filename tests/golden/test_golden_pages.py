"""Pages and terminal tables against files that people have read. Charts and style have tests of their own."""

from __future__ import annotations

import dataclasses
import difflib
import re
from pathlib import Path

import pytest
from markupsafe import Markup

from tests.examples.calibration_examples import certificate
from tests.golden.campaigns import smoke, whole
from weighbridge.publish.site import templating
from weighbridge.publish.site.page import page_of
from weighbridge.publish.terminal.terminal import campaign_text

FILES = Path(__file__).resolve().parent / "files"


def page(summary):
    """The page with a stand-in for each picture: its bytes depend on the version of the renderer."""
    made = page_of([summary])
    campaigns = tuple(
        dataclasses.replace(
            campaign, charts=tuple(dataclasses.replace(chart, svg=Markup("<svg></svg>")) for chart in campaign.charts)
        )
        for campaign in made.campaigns
    )
    return dataclasses.replace(made, campaigns=campaigns)


def calibration():
    """A small campaign that carries a certificate of its own: its page begins with what the calibration showed."""
    made = smoke()
    return made.model_copy(update={"certificate": certificate().model_copy(update={"campaign": made.campaign}).short})


MADE = {
    "smoke.html": lambda: re.sub(r"(?s)(<style>).*(</style>)", r"\1\2", templating.html(page(smoke()))),
    "smoke.md": lambda: templating.markdown_text(page(smoke())),
    "whole.md": lambda: templating.markdown_text(page(whole())),
    "smoke.txt": lambda: campaign_text(smoke()),
    "calibration.md": lambda: templating.markdown_text(page(calibration())),
}


@pytest.mark.parametrize("name", MADE)
def test_a_page_is_what_was_read_and_accepted(name: str, request: pytest.FixtureRequest) -> None:
    """Every word, number and tag of the rendered text equals the kept file."""
    made, kept = MADE[name](), FILES / name
    expected = kept.read_text(encoding="utf-8") if kept.exists() else ""
    if made == expected:
        return
    if request.config.getoption("--update-golden", default=False):
        kept.parent.mkdir(exist_ok=True)
        kept.write_text(made, encoding="utf-8")
    lines = difflib.unified_diff(expected.splitlines(), made.splitlines(), f"kept {name}", "now", lineterm="", n=1)
    pytest.fail(
        "\n".join(lines) + f"\n{name} differs; read it, then pytest tests/golden --update-golden", pytrace=False
    )
