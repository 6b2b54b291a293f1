"""A dialect has one reader: its words stand in `weighbridge/dialects` and nowhere else in the package."""

from __future__ import annotations

import ast

import pytest

from tests.contract.texts import CHECKOUT

WORDS = {"choices", "delta", "finish_reason", "[DONE]"}


def words(source: str) -> list[str]:
    """The dialect's words among the constants of a module; text that only speaks of them is none."""
    values = [node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant)]
    texts = [value.decode("latin-1") if isinstance(value, bytes) else value for value in values]
    return [text for text in texts if isinstance(text, str) and text.removeprefix("data:").strip() in WORDS]


def test_no_other_package_looks_into_an_answer() -> None:
    """Outside of the dialects no module names a part of a chat response."""
    package = CHECKOUT / "weighbridge"
    paths = [path for path in package.rglob("*.py") if not path.is_relative_to(package / "dialects")]
    offenders = {str(path.relative_to(CHECKOUT)): found for path in paths if (found := words(path.read_text()))}

    assert offenders == {}


@pytest.mark.parametrize("source", ["a['choices']", "a.get('delta')", "a == b'[DONE]'", "a = 'data: [DONE]'"])
def test_a_second_reader_is_found(source: str) -> None:
    """Each way to look is noticed, a sentence that names them is not."""
    assert words(source)
    assert not words("'ended with [DONE], or had no choices'")
