"""Patterns of the files that a gateway writes itself: what each leaves out, and no more."""

from __future__ import annotations

import pytest

from weighbridge.matrix.written_files import matcher

NAME = "env/lib/python3.11/site-packages/gate/cache/a/b.json"


@pytest.mark.parametrize(
    ("pattern", "name", "is_written"),
    [
        (NAME, NAME, True),
        ("env/**/cache/**", NAME, True),
        ("env/**/cache/*", NAME, False),
        ("env/lib/python3.*/site-packages/gate/cache/?/*.json", NAME, True),
        ("env/lib/*/gate/cache/**", NAME, False),
        ("gate/cache/**", NAME, False),
        ("**/b.json", NAME, True),
        ("**/b.json", "b.json", True),
        ("**/b.json", "ab.json", False),
        ("env/**/b-json", NAME, False),
        ("logs/**", "logs", False),
    ],
)
def test_a_pattern_is_for_whole_names(pattern: str, name: str, is_written: bool) -> None:
    """`*` and `?` stay within a name, `**` is any folders or none, a dot is a dot, and all of the name counts."""
    assert matcher([pattern])(name) is is_written
    assert matcher(["nothing/else", pattern])(name) is is_written


def test_without_a_pattern_every_file_counts() -> None:
    """A recipe that lists nothing leaves nothing out."""
    assert not matcher([])(NAME)
