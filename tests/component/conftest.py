"""Fixtures of the component tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.component.project import Project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """An empty foreign project; nothing of it runs any more when the test is over."""
    made = Project(tmp_path / "project")
    yield made
    try:
        made.assert_nothing_left()
    finally:
        made.end_survivors()
