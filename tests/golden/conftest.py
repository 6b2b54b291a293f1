"""The option that rewrites golden files."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update-golden: rewrite what differs, then fail, so that the difference is looked at."""
    parser.addoption("--update-golden", action="store_true", help="rewrite golden files that differ, then fail")
