"""What weakens the figures of a matrix without making it wrong: coded sentences, never errors.

Called by `check`, `plan` and `bench`. Pure; the same thing is said once, not for each cell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weighbridge import quantiles
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.expand import GATEWAY_ALLOWANCE_S
from weighbridge.matrix.load import LoadedMatrix
from weighbridge.matrix.model import GRADE_RUNS
from weighbridge.matrix.suggest import listed
from weighbridge.matrix.yamltext import KeyPath

SHARES = {"p95": 0.95, "p99": 0.99}
# Room that a cap on connections should leave (METHOD section 2).
ROOM = 1.5


@dataclass(frozen=True)
class Advice:
    """A code of `record.codes.WARNINGS` and its sentence `FILE:LINE:COLUMN: key: remark`."""

    code: str
    text: str


def advise(loaded: LoadedMatrix, cells: Sequence[Cell]) -> tuple[Advice, ...]:
    """Return every advice in the order of the file, each once."""
    supported = [cell for cell in cells if cell.not_supported is None]
    found = {
        "runs_below_grade": _few_runs(loaded),
        "requests_below_percentile": _few_samples(supported),
        "connections_few": _low_caps(supported),
        "chain_not_claimed": _unused_chains(loaded, cells),
    }
    places = {(code, path, remark): loaded.place(path) for code, each in found.items() for path, remark in each}
    ordered = sorted(places.items(), key=lambda item: (item[1].line or 0, item[1].column or 0))
    return tuple(Advice(code, f"{place}: {remark}") for (code, _, remark), place in ordered)


def _few_runs(loaded: LoadedMatrix) -> Iterator[tuple[KeyPath, str]]:
    matrix = loaded.matrix
    asked = GRADE_RUNS[matrix.grade]
    if matrix.runs < asked:
        fitting = max((g for g, runs in GRADE_RUNS.items() if runs <= matrix.runs), key=GRADE_RUNS.__getitem__)
        yield (
            ("runs",),
            f"the grade {matrix.grade} asks for {asked} runs, not {matrix.runs}; {fitting} is what they allow",
        )


def _few_samples(cells: Sequence[Cell]) -> Iterator[tuple[KeyPath, str]]:
    for cell in cells:
        if cell.load.held is not None:
            continue  # it has no percentiles
        count = cell.load.main.request_count
        weak = [name for name, share in SHARES.items() if quantiles.beyond(count, share) < quantiles.SAMPLES_BEYOND]
        if not weak:
            continue
        needed = listed((f"{name} needs {quantiles.needed(SHARES[name]):,}" for name in weak), last="and")
        absent = [name for name in weak if quantiles.beyond(count, SHARES[name]) == 0]
        shown = "shown grey with its rank" if not absent else f"{listed(absent, last='and')} will be absent"
        if cell.load.rate_rps is None:
            yield ("loads", "clients", "requests"), f"{count:,} requests are measured in a run; {needed}: {shown}"
        else:
            by = " by the driver, beside the probe that rides along" if cell.load.ride else ""
            remark = f"{cell.load.rate_rps:g} per second measures {count:,} requests in a run{by}; {needed}: {shown}"
            yield ("loads", "rate", "duration"), remark


def _low_caps(cells: Sequence[Cell]) -> Iterator[tuple[KeyPath, str]]:
    for cell in cells:
        rate_rps = cell.load.rate_rps
        if rate_rps is None:
            continue
        needed = ROOM * rate_rps * (cell.answer.provider_time_s(cell.mode) + GATEWAY_ALLOWANCE_S)
        if cell.load.connections < needed:
            remark = (
                f"{cell.load.connections} connections are few for {rate_rps:g} requests/s of mode {cell.mode}; "
                f"{math.ceil(needed)} leave room for a gateway that adds 50 ms"
            )
            yield ("loads", "rate", "connections"), remark


def _unused_chains(loaded: LoadedMatrix, cells: Sequence[Cell]) -> Iterator[tuple[KeyPath, str]]:
    """Chains that the subject does not claim: its page compares nothing there."""
    subject = [cell for cell in cells if cell.lane.gateway == loaded.matrix.subject]
    for number, chain in enumerate(loaded.matrix.chains):
        of_chain = [cell for cell in subject if cell.lane.chain == chain]
        if of_chain and all(cell.not_supported for cell in of_chain):
            yield ("chains", number), f"the subject {loaded.matrix.subject} does not claim the chain {chain}"
