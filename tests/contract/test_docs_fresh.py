"""Parts of the documentation that are made from the code say what the code says today."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.contract.doc_tables import PARTS, with_part

CHECKOUT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("page", "part"), list(PARTS), ids=lambda word: str(word).replace("/", "-"))
def test_a_generated_part_is_fresh(page: str, part: str, request: pytest.FixtureRequest) -> None:
    """What stands between the markers is what the code makes; `--update-docs` rewrites it and fails once more."""
    file = CHECKOUT / page
    text = file.read_text(encoding="utf-8")
    fresh = with_part(text, part, PARTS[page, part]())
    if text != fresh and request.config.getoption("--update-docs", default=False):
        file.write_text(fresh, encoding="utf-8")
        pytest.fail(f"{page} was rewritten: look at the difference")

    assert text == fresh, f"{page} is stale; run: pytest tests/contract --update-docs"


@pytest.mark.parametrize(("page", "part"), list(PARTS), ids=lambda word: str(word).replace("/", "-"))
def test_a_stale_part_is_noticed(page: str, part: str) -> None:
    """A part that lost a line differs from what the code makes."""
    made = PARTS[page, part]()
    text = with_part((CHECKOUT / page).read_text(encoding="utf-8"), part, made)
    stale = text.replace(made.splitlines()[-1], "")

    assert with_part(stale, part, made) == text != stale
