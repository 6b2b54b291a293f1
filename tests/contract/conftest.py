"""The option that rewrites the generated parts of the documentation."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update-docs: rewrite stale generated parts, then fail, so that the difference is looked at."""
    parser.addoption("--update-docs", action="store_true", help="rewrite stale generated parts of docs, then fail")
