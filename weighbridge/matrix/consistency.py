"""Checks of a matrix that need more than one of its values and no gateway.

Pure; it raises and changes nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

from weighbridge.errors import InputError
from weighbridge.matrix.cells import BASELINE
from weighbridge.matrix.loads import LOADS
from weighbridge.matrix.loads.contract import CheckContext, Locate
from weighbridge.matrix.model import Matrix
from weighbridge.matrix.suggest import listed, nearest
from weighbridge.matrix.yamltext import KeyPath


def check_matrix(matrix: Matrix, locate: Locate) -> None:
    """Raise InputError with the place of the first value that does not fit the others."""
    _refuse_repeats(matrix, locate)
    _check_gateways(matrix, locate)
    asked = matrix.loads.asked
    if not asked:
        raise InputError(
            "holds no load", place=locate(("loads",)), expected=f"expected one or more of {listed(LOADS, last='and')}"
        )
    answers = {name: answer.spec(name) for name, answer in matrix.answers.items()}
    for schema in asked:
        schema.check(CheckContext(matrix.modes, answers, locate))


def _refuse_repeats(matrix: Matrix, locate: Locate) -> None:
    lists: list[tuple[KeyPath, Iterable[Hashable]]] = [
        (("gateways",), [entry.name for entry in matrix.gateways]),
        (("chains",), matrix.chains),
        (("modes",), matrix.modes),
        (("recipes",), matrix.recipes),
        *(one for schema in matrix.loads.asked for one in schema.lists()),
    ]
    for path, values in lists:
        seen: set[Hashable] = set()
        for number, value in enumerate(values):
            if value in seen:
                problem = f"{value} is listed twice"
                raise InputError(problem, place=locate((*path, number)), expected="expected each entry once")
            seen.add(value)


def _check_gateways(matrix: Matrix, locate: Locate) -> None:
    ids = [entry.id for entry in matrix.gateways]
    for number, entry in enumerate(matrix.gateways):
        if entry.id == BASELINE and entry.settings:
            problem = f"{BASELINE} has no settings"
            raise InputError(
                problem, place=locate(("gateways", number)), expected=f"expected {BASELINE} alone or not at all"
            )
    if matrix.subject == BASELINE:
        problem = f"{BASELINE} is the lane without a gateway"
        raise InputError(problem, place=locate(("subject",)), expected="expected the gateway under test")
    if matrix.subject not in ids:
        raise InputError(
            f"{matrix.subject!r} is not listed under {locate(('gateways',)).key}",
            place=locate(("subject",)),
            expected=f"expected {listed(name for name in dict.fromkeys(ids) if name != BASELINE)}",
            suggestion=nearest(matrix.subject, ids),
        )
