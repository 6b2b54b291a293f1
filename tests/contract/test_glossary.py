"""One vocabulary: what stands in table headings and in records is explained in the glossary."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterator
from typing import get_args

import pytest
from pydantic import BaseModel

from tests.contract.doc_tables import ROOTS
from tests.contract.texts import CHECKOUT
from tests.golden import campaigns, probed
from weighbridge.publish.model import Column, Group
from weighbridge.publish.page import page_of
from weighbridge.record.run import Verdict
from weighbridge.record.summary import Summary

# Words that only join others in a heading.
_JOINED = ("with rejected runs", "accepted runs", "with rejected", "accepted")


def glossary() -> set[str]:
    """Words that the glossary explains, in small letters."""
    text = (CHECKOUT / "docs" / "glossary.md").read_text(encoding="utf-8")
    cells = re.findall(r"(?m)^\| ([^|]+?) \|", text)
    found = {cell.lower() for cell in cells}
    return found | {word.strip() for cell in found for word in cell.split(",")}


def unexplained(heading: str, known: set[str]) -> list[str]:
    """Parts of a table heading that the glossary does not have."""
    text = re.sub(r", (ms|µs|per s)$|/s$", "", heading.strip())
    text = re.sub(r"\s*\bp(50|95|99)\b", "", text).strip(" ,").lower()
    for joined in _JOINED:
        text = text.removesuffix(f", {joined}")
    if not text or text in known:
        return []
    parts = re.split(r" of (?=ttfb)| response time$|, ", text)
    return [part for part in parts if part and part not in known and part != "response"]


def headings(value: object) -> Iterator[str]:
    """Every heading of the tables below a view."""
    if isinstance(value, Column):
        yield value.full
    elif isinstance(value, Group):
        yield value.text
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for item in dataclasses.fields(value):
            yield from headings(getattr(value, item.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from headings(item)


@pytest.mark.parametrize("made", [campaigns.smoke, campaigns.whole, probed.probed, probed.sloped])
def test_headings_of_tables_are_words_of_the_glossary(made: Callable[[], Summary]) -> None:
    """No page has a heading whose words the glossary does not explain."""
    known = glossary()
    found = set(headings(page_of([made()])))

    assert len(found) > 20
    assert {heading: missing for heading in sorted(found) if (missing := unexplained(heading, known))} == {}


def test_a_new_word_is_noticed() -> None:
    """A heading with a word of its own is found."""
    assert unexplained("Latency p99, ms", glossary()) == ["latency"]


def test_verdicts_are_explained() -> None:
    """Every verdict of a record has a row."""
    assert set(get_args(Verdict)) <= glossary()


@pytest.mark.parametrize("model", ROOTS.values(), ids=ROOTS.keys())
def test_no_field_is_called_latency(model: type[BaseModel]) -> None:
    """Response time or service time: a bare latency does not say where it starts."""
    assert "latency" not in str(model.model_json_schema()["properties"].keys())
