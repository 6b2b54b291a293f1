"""What a campaign does: blocks of visits, yielded one by one by a generator that is told how each visit ended.

A generator can therefore decide by what was seen which visit comes next; matrix and calibration are two of them. They
know no process and no file: `runner` makes each visit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Literal, TypeVar

from weighbridge.judge.inputs import Attempted, Judgement
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.matrix.calibration import Neighbour
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.record.run import RunRecord

Judge = Callable[[Attempted], Judgement]

# Tried: preflight and warm-up of each mode before its first window; warm: warm-up alone; bare: neither.
Preparation = Literal["tried", "warm", "bare"]


@dataclass(frozen=True)
class Route:
    """Where requests of a window go: a lane of the visit by its number, further headers, its share of the draws."""

    lane: int = 0
    headers: tuple[tuple[str, str], ...] = ()
    share: float = 1.0


@dataclass(frozen=True)
class WindowSpec:
    """One window of a visit: its cell, and by which rules it counts.

    With several `routes` the lane of each request is drawn among them. `manner` is what the provider is told beside
    its response. A `neighbour` is busy beside the window.
    """

    cell: Cell
    routes: tuple[Route, ...] = (Route(),)
    manner: Mapping[str, float | bool] = field(default_factory=dict)
    neighbour: Neighbour | None = None
    judge: Judge = judge_run


@dataclass(frozen=True)
class Visit:
    """Lanes that are up together, and the windows measured meanwhile; the first lane is the one whose cost is read.

    `round` is 1, and more where windows are tried again; `waits_idle` asks for an idle machine first. `shelf` is the
    folder of the campaign that keeps the runs, empty for those of the matrix. `is_planned` is false for what the
    estimate did not count.
    """

    lanes: tuple[LaneKey, ...]
    windows: tuple[WindowSpec, ...]
    block: int = 1
    round: int = 1
    preparation: Preparation = "tried"
    shelf: str = ""
    waits_idle: bool = False
    is_planned: bool = True


@dataclass(frozen=True)
class VisitOutcome:
    """The record of each window of a visit, in the order of its windows."""

    records: tuple[RunRecord, ...]


Result = TypeVar("Result")
Schedule = Generator[Visit, VisitOutcome, Result]


def matrix_schedule(order: Sequence[Sequence[Cell]], attempts_per_run: int) -> Schedule[None]:
    """Yield every block of a matrix in its order; over all of them no cell has more retries than wanted runs."""
    retries_left = Counter(cell.id for cells in order for cell in cells)
    for number, cells in enumerate(order, 1):
        visits = [
            Visit((lane,), tuple(WindowSpec(cell) for cell in group), number)
            for lane, group in groupby(cells, key=lambda cell: cell.lane)
        ]
        yield from block(visits, attempts_per_run, retries_left)


def block(
    visits: Sequence[Visit], attempts_per_run: int, retries_left: Counter[str] | None = None
) -> Schedule[tuple[RunRecord, ...]]:
    """Yield the visits of one block, then once more what was rejected, and return the records of all attempts.

    `retries_left` counts by cell id how often a cell may still be tried again, and is counted down; without it only
    `attempts_per_run` is a limit.
    """
    records: list[RunRecord] = []
    pending = list(visits)
    for number in range(1, attempts_per_run + 1):
        again: list[Visit] = []
        for place, visit in enumerate(pending):
            outcome = yield replace(
                visit, round=number, waits_idle=place == 0, is_planned=visit.is_planned and number == 1
            )
            records += outcome.records
            rejected = tuple(
                window
                for window, record in zip(visit.windows, outcome.records, strict=True)
                if is_worth_retrying(record) and _may_retry(window, retries_left)
            )
            again += [replace(visit, windows=rejected)] if rejected else []
        pending = again
        if not pending:
            break
    return tuple(records)


def is_worth_retrying(record: RunRecord) -> bool:
    """Tell whether an attempt may be made again: only the rig's doing is, for what a gateway spoiled counts.

    A gateway that is no longer the one that was installed stays so.
    """
    reason = record.reason
    return not record.accepted and reason is not None and reason.class_ == "rig" and reason.code != "unavailable"


def _may_retry(window: WindowSpec, retries_left: Counter[str] | None) -> bool:
    if retries_left is None:
        return True
    retries_left[window.cell.id] -= 1
    return retries_left[window.cell.id] >= 0
