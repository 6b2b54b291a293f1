"""The tables of codes are closed: what the package makes stands in them, and what stands in them is made."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from weighbridge.record import codes
from weighbridge.record.metrics import METRICS

PACKAGE = Path(__file__).parents[2] / "weighbridge"
# Where codes are defined or only translated from older documents.
APART = ("record/codes.py", "record/migrations.py")
TABLES = {
    "absences": set(codes.ABSENCES),
    "reasons": set(codes.REASONS),
    "flags": set(codes.FLAGS),
    "warnings": set(codes.WARNINGS),
}


def trees() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the package but those that define or translate codes."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name not in APART:
            yield name, ast.parse(path.read_text(encoding="utf-8"))


def literals(node: ast.AST) -> Iterator[str]:
    """Every text of a node."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
            yield inner.value


def chosen(expression: ast.expr) -> Iterator[str]:
    """The literal codes that an expression can be: itself, or both sides of a condition."""
    if isinstance(expression, ast.IfExp):
        yield from chosen(expression.body)
        yield from chosen(expression.orelse)
    elif isinstance(expression, ast.Constant) and isinstance(expression.value, str):
        yield expression.value


def made(call: ast.Call) -> Iterator[tuple[str, ast.expr]]:
    """The table that a call takes a code from, and the expression of the code."""
    name = ast.unparse(call.func)
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    if name == "Absent" and "absent" in keywords:
        yield "absences", keywords["absent"]
    if name == "Reason.of" and call.args:
        yield "reasons", call.args[0]
    if name == "LaneFailed" and "reason" in keywords:
        yield "reasons", keywords["reason"]
    if name == "CampaignWarning" and "code" in keywords:
        yield "warnings", keywords["code"]


def test_every_code_that_is_made_stands_in_its_table() -> None:
    """No literal code of an absence, a reason or a warning is unknown to the tables."""
    unknown = [
        f"{name}:{call.lineno}: {text}"
        for name, tree in trees()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for table, expression in made(call)
        for text in chosen(expression)
        if text not in TABLES[table]
    ]
    assert not unknown


def test_every_code_is_made_somewhere() -> None:
    """A code that nothing produces is no code; a verdict is an absence too, by `absent_by`."""
    reported = {text for _, tree in trees() for text in literals(tree)} | set(codes.VERDICTS)
    for table, known in TABLES.items():
        assert sorted(known - reported) == [], table


def test_every_reason_and_flag_is_found_by_a_test() -> None:
    """What a run is rejected for or remarked with is produced by an injected fault somewhere in the tests."""
    tests = Path(__file__).parents[1]
    named = {
        text
        for path in tests.rglob("*.py")
        if path.parent.name not in ("contract", "golden")
        for text in literals(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert sorted({*codes.REASONS, *codes.FLAGS} - named) == []


def test_every_verdict_has_an_entry_and_every_reason_speaks_for_one() -> None:
    """The words of the type and of the table are the same; no rig's doing is charged to a gateway."""
    assert set(codes.VERDICTS) == set(get_args(codes.Verdict))
    for code, entry in codes.REASONS.items():
        assert entry.verdict in codes.VERDICTS, code
        if entry.of_run:  # what is said of a whole cell is charged to nobody
            assert (entry.verdict == "rig_limited") == (entry.class_ == "rig"), code


def test_every_flag_and_meaning_is_a_sentence() -> None:
    """Legends end in a full stop, short texts do not."""
    for text in (*codes.FLAGS.values(), *(entry.meaning for entry in codes.REASONS.values())):
        assert text.endswith("."), text
    for text in (*codes.ABSENCES.values(), *(entry.text for entry in codes.REASONS.values())):
        assert not text.endswith("."), text


def test_every_figure_is_measured_somewhere() -> None:
    """No entry of the catalogue is without a line in the judge room that makes it."""
    reported = {text for name, tree in trees() if name.startswith("judge/") for text in literals(tree)}
    shifts = {key for key, one in METRICS.items() if one.shift_of is not None}
    assert sorted(set(METRICS) - reported - shifts) == []
