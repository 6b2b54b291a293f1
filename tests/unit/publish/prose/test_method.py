"""Sentences on the method that depend on what a campaign did."""

from __future__ import annotations

import pytest

from tests.examples import judge_examples as given
from weighbridge.judge.cell.summarise import summarise
from weighbridge.publish.prose.method import limits, method, prompts_text
from weighbridge.record.figures import Figure
from weighbridge.record.summary import PromptFacts, Summary

LOAD = given.rate_load(50, 200)
CELLS = [f"{gateway}.none.work.plain.rate-50" for gateway in ("direct", "reference")]


def _summary(driver: str, shares: tuple[float, ...], **facts: object) -> Summary:
    """A campaign of two lanes whose prompts were so."""
    runs = [given.run(cell, 1, given.window(LOAD, given.open_loop(LOAD, 0.02))) for cell in CELLS]
    made = summarise(given.campaign(*(given.plan(cell, LOAD, driver=driver) for cell in CELLS), runs=1), runs, None)
    cells = tuple(
        cell.with_figures({**cell.figures, "prompts_repeated_ratio": Figure(value=share)})
        for cell, share in zip(made.cells, shares, strict=True)
    )
    return made.changed(cells=cells, prompts=PromptFacts(**facts))


GIVEN = "In each block all lanes were given the same prompts, drawn from the seed;"
APART = "Prompts are drawn from the seed; lanes of a block were given different ones of the same size;"
REPEATED = "Up to 3.0 % of the requests of a window repeated an earlier prompt of it."
ONCE = "No prompt was sent twice in a window."


@pytest.mark.parametrize(
    ("driver", "shares", "facts", "said"),
    [
        (
            "probe",
            (0.0, 0.0),
            {"same_in_block": True, "drawn_by": ()},
            f"{GIVEN} probe sent them in their order. {ONCE}",
        ),
        (
            "oha",
            (0.018, 0.03),
            {"same_in_block": True, "drawn_by": ("oha",)},
            f"{GIVEN} oha drew from them at random, with replacement. {REPEATED}",
        ),
        (
            "wrk",
            (0.0, 0.0),
            {"same_in_block": False, "drawn_by": ()},
            f"{APART} wrk sent them in their order. {ONCE}",
        ),
        ("oha", (0.0, 0.0), {}, f"Prompts are drawn from the seed. {ONCE}"),
    ],
)
def test_the_sentence_on_prompts_says_what_was_done(
    driver: str, shares: tuple[float, ...], facts: dict[str, object], said: str
) -> None:
    """Who got which prompts, who drew them, and how many were sent twice: never that each one is different."""
    summary = _summary(driver, shares, **facts)
    assert prompts_text(summary) == said
    assert any(said in step for step in method(summary))
    assert not any("every prompt" in step.lower() for step in method(summary))


def test_only_calls_in_the_path_add_network_time() -> None:
    """Three calls that a request waits for and four beside it: told apart, so that nobody multiplies seven."""
    found = _summary("probe", (0.0, 0.0))
    gateway = found.cells[1]
    calls = {"admission_calls_per_request": Figure(value=3.0), "background_calls_per_request": Figure(value=4.0)}
    text = next(
        fact.text
        for fact in limits(found.changed(cells=(found.cells[0], gateway.with_figures({**gateway.figures, **calls}))))
        if fact.name == "Control plane"
    )
    assert "made 3.00 calls in the path of a request, and 4.00 beside it" in text
    assert "each call in the path adds a round trip" in text
