"""What weakens the figures of a matrix without making it wrong: coded sentences, never errors.

Pure; the same thing is said once, not for each cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weighbridge.matrix.cells import Cell
from weighbridge.matrix.load import LoadedMatrix
from weighbridge.matrix.loads.contract import Remark
from weighbridge.matrix.model import GRADE_RUNS


@dataclass(frozen=True)
class Advice:
    """A code of `record.codes.WARNINGS` and its sentence `FILE:LINE:COLUMN: key: remark`."""

    code: str
    text: str


def advise(loaded: LoadedMatrix, cells: Sequence[Cell]) -> tuple[Advice, ...]:
    """Return every advice in the order of the file, each once."""
    supported = [cell for cell in cells if cell.not_supported is None]
    found = [*_few_runs(loaded), *_of_loads(supported), *_unused_chains(loaded, cells)]
    places = {(code, path, remark): loaded.place(path) for code, path, remark in found}
    ordered = sorted(places.items(), key=lambda item: (item[1].line or 0, item[1].column or 0))
    return tuple(Advice(code, f"{place}: {remark}") for (code, _, remark), place in ordered)


def _few_runs(loaded: LoadedMatrix) -> Iterator[Remark]:
    matrix = loaded.matrix
    asked = GRADE_RUNS[matrix.grade]
    if matrix.runs < asked:
        fitting = max((g for g, runs in GRADE_RUNS.items() if runs <= matrix.runs), key=GRADE_RUNS.__getitem__)
        yield (
            "runs_below_grade",
            ("runs",),
            f"the grade {matrix.grade} asks for {asked} runs, not {matrix.runs}; {fitting} is what they allow",
        )


def _of_loads(cells: Sequence[Cell]) -> Iterator[Remark]:
    for cell in cells:
        yield from cell.load.advice(cell.answer, cell.mode)


def _unused_chains(loaded: LoadedMatrix, cells: Sequence[Cell]) -> Iterator[Remark]:
    """Chains that the subject does not claim: its page compares nothing there."""
    subject = [cell for cell in cells if cell.lane.gateway == loaded.matrix.subject]
    for number, chain in enumerate(loaded.matrix.chains):
        of_chain = [cell for cell in subject if cell.lane.chain == chain]
        if of_chain and all(cell.not_supported for cell in of_chain):
            yield (
                "chain_not_claimed",
                ("chains", number),
                f"the subject {loaded.matrix.subject} does not claim the chain {chain}",
            )
