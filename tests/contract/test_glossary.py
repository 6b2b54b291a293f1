"""One vocabulary: what stands in table headings and in records is explained in the glossary."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import get_args

from docs.generate import ROOTS
from tests.contract.texts import CHECKOUT, assert_none
from tests.golden import campaigns, probed
from weighbridge.publish.site.page import page_of
from weighbridge.publish.views.views import TableColumn, TableGroup
from weighbridge.record.run import Verdict

# Units, percentiles and little words that join others in a heading.
JOINING = {"ms", "µs", "s", "per", "of", "with", "the", "p50", "p95", "p99"}


def glossary() -> set[str]:
    """Return the words that the glossary explains, in small letters."""
    text = (CHECKOUT / "docs" / "glossary.md").read_text(encoding="utf-8")
    cells = re.findall(r"(?m)^\| ([^|]+?) \|", text)
    found = {cell.lower() for cell in cells}
    return found | {word.strip() for cell in found for word in cell.split(",")}


def unexplained(heading: str, known: set[str]) -> list[str]:
    """Return the words of a table heading that are left when all that the glossary has is taken away."""
    text = heading.lower()
    for term in sorted(known, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(term)}s?(?!\w)", " ", text)
    return [word for word in re.findall(r"[^\W\d_]\w*", text) if word not in JOINING]


def headings(value: object) -> Iterator[str]:
    """Every heading of the tables below a view."""
    if isinstance(value, TableColumn):
        yield value.full
    elif isinstance(value, TableGroup):
        yield value.text
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        for item in dataclasses.fields(value):
            yield from headings(getattr(value, item.name))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from headings(item)


def test_headings_of_tables_are_words_of_the_glossary() -> None:
    """No page has a heading whose words the glossary does not explain."""
    known = glossary()
    made = (campaigns.smoke(), campaigns.whole(), probed.probed(), probed.sloped())
    found = {heading for one in made for heading in headings(page_of([one]))}

    assert found
    assert_none(f"{heading}: {missing}" for heading in sorted(found) if (missing := unexplained(heading, known)))


def test_a_new_word_is_noticed() -> None:
    """A heading with a word of its own is found."""
    assert unexplained("Latency p99, ms", glossary()) == ["latency"]


def test_verdicts_are_explained() -> None:
    """Every verdict of a record has a row."""
    assert set(get_args(Verdict)) <= glossary()


def test_no_field_is_called_latency() -> None:
    """Response time or service time: a bare latency does not say where it starts."""
    fields = [
        f"{name}: {field}"
        for name, model in ROOTS.items()
        for part in (model.model_json_schema(), *model.model_json_schema().get("$defs", {}).values())
        for field in part.get("properties", {})
    ]

    assert fields
    assert_none(field for field in fields if "latency" in field)
