"""Small rooms: module, function and parameter limits, and no drawers that collect everything."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    [
        *CHECKOUT.glob("weighbridge/**/*.py"),
        *CHECKOUT.glob("mocks/**/*.py"),
        CHECKOUT / "noxfile.py",
        CHECKOUT / "tasks.py",
    ]
)
DRAWERS = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: str(p.relative_to(CHECKOUT)))
def test_module_and_functions_are_small(path: Path) -> None:
    """A module has at most 300 lines, a function 50, and no catch-all name."""
    text = path.read_text()
    long_functions = [
        f"{node.name} ({node.end_lineno - node.lineno + 1} lines)"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno - node.lineno + 1 > 50
    ]

    assert text.count("\n") <= 300
    assert not long_functions
    assert path.stem not in DRAWERS
