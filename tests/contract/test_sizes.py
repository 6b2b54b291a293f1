"""Small rooms: module, function and parameter limits, and no catch_alls that collect everything."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import PurePath

import pytest

from tests.contract.texts import Text, hold, offenders, sources

LINES_OF_MODULE = 400
LINES_OF_FUNCTION = 50
POSITIONAL = 5
CATCH_ALLS = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def long_modules(source: Text) -> Iterator[str]:
    """Yield a module with too many lines."""
    lines = source.text.count("\n")
    if lines > LINES_OF_MODULE:
        yield source.at(lines, f"{lines} lines, at most {LINES_OF_MODULE}")


def long_functions(source: Text) -> Iterator[str]:
    """Yield functions with too many lines."""
    for node in _functions(source):
        lines = (node.end_lineno or node.lineno) - node.lineno + 1
        if lines > LINES_OF_FUNCTION:
            yield source.at(node.lineno, f"{node.name} has {lines} lines, at most {LINES_OF_FUNCTION}")


def long_signatures(source: Text) -> Iterator[str]:
    """Yield functions that take too much by position; what must be named is clear, a task's flags are named too."""
    for node in _functions(source):
        if any(isinstance(one, ast.Call) and ast.unparse(one.func) == "task" for one in node.decorator_list):
            continue
        taken = [one.arg for one in (*node.args.posonlyargs, *node.args.args)]
        count = len(taken) - (taken[:1] in (["self"], ["cls"]))
        if count > POSITIONAL:
            yield source.at(node.lineno, f"{node.name} takes {count} by position, at most {POSITIONAL}")


def catch_alls(source: Text) -> Iterator[str]:
    """Yield modules and folders whose name says nothing."""
    for part in PurePath(source.name).with_suffix("").parts:
        if part in CATCH_ALLS:
            yield source.at(1, f"{part} is a catch-all that collects everything")


def _functions(source: Text) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(source.tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def test_modules_are_small() -> None:
    """A module has at most 400 lines."""
    hold(long_modules, sources())


def test_functions_are_small() -> None:
    """A function has at most 50 lines."""
    hold(long_functions, sources())


def test_signatures_are_small() -> None:
    """A function takes at most five parameters by position."""
    hold(long_signatures, sources())


def test_there_is_no_catch_all() -> None:
    """No module and no folder has a catch-all name."""
    hold(catch_alls, sources())


@pytest.mark.parametrize(
    ("rule", "name", "text"),
    [
        (long_modules, "weighbridge/x.py", "x = 1\n" * 401),
        (long_functions, "weighbridge/x.py", "class A:\n  async def long(self):\n" + "    x = 1\n" * 50),
        (long_signatures, "weighbridge/x.py", "def wide(a, b, /, c, d, e, f=1): ..."),
        (long_signatures, "weighbridge/x.py", "class A:\n  def wide(self, a, b, c, d, e, f): ..."),
        (catch_alls, "weighbridge/rig/helpers.py", ""),
        (catch_alls, "weighbridge/common/rig.py", ""),
    ],
)
def test_an_offence_is_found(rule, name: str, text: str) -> None:
    """Each limit is noticed when it is passed by one."""
    (found,) = offenders(rule, [Text(name, text)])

    assert found.startswith(f"{name}:")


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        (long_modules, "x = 1\n" * 400),
        (long_functions, "def long():\n" + "    x = 1\n" * 49),
        (long_signatures, "class A:\n  def wide(self, a, b, c, d, e, *rest, f, g, **more): ..."),
        (long_signatures, "@task(help={})\ndef wide(_context, a, b, c, d, e, f): ..."),
    ],
)
def test_a_limit_itself_is_allowed(rule, text: str) -> None:
    """The limit itself holds, and keyword-only parameters do not count."""
    assert offenders(rule, [Text("weighbridge/x.py", text)]) == []
