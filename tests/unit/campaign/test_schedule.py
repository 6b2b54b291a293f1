"""The schedule: blocks of visits in order, once more what was rejected, and a search that decides by outcomes."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar

import pytest

from weighbridge.campaign.schedule import (
    Schedule,
    Visit,
    VisitOutcome,
    WindowSpec,
    block,
    matrix_schedule,
)
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.matrix.loads import ClientsLoad
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.record.coded import Reason

Result = TypeVar("Result")
Verdict = Callable[[str, int], str | None]


def cell(lane: str, clients: int) -> Cell:
    """A cell of a lane."""
    load = ClientsLoad(clients, 10, clients, 0, 5.0)
    name = f"{lane}.none.work.plain.clients-{clients}"
    key = LaneKey(lane, (), "none", "work")
    return Cell(name, key, "plain", PayloadSpec("p", 1, 64), AnswerSpec("a", 0.0, 1, 0.0), load, "probe", name)


def run(schedule: Schedule[Result], reason_of: Verdict = lambda _cell, _visit: None) -> tuple[list[Visit], Result]:
    """Make every visit of a schedule; `reason_of` gives the reason code of a cell's run in the n-th visit."""
    visits: list[Visit] = []
    outcome: VisitOutcome | None = None
    while True:
        try:
            visit = next(schedule) if outcome is None else schedule.send(outcome)
        except StopIteration as end:
            return visits, end.value
        visits.append(visit)
        outcome = VisitOutcome(
            tuple(_record(window.cell.id, reason_of(window.cell.id, len(visits))) for window in visit.windows)
        )


def _record(name: str, code: str | None) -> Any:
    reason = None if code is None else Reason.of(code)
    return SimpleNamespace(cell=name, accepted=code is None, reason=reason)


ORDER = [[cell("a", 1), cell("a", 2), cell("b", 1)], [cell("b", 1), cell("a", 2), cell("a", 1)]]


def test_a_matrix_is_blocks_of_lanes() -> None:
    """Neighbours of one lane share a visit; the first visit of each block waits for an idle machine."""
    visits, _ = run(matrix_schedule(ORDER, 2))

    assert [(visit.block, visit.lanes[0].gateway) for visit in visits] == [(1, "a"), (1, "b"), (2, "b"), (2, "a")]
    assert [[window.cell.load.name for window in visit.windows] for visit in visits] == [
        ["clients-1", "clients-2"], ["clients-1"], ["clients-1"], ["clients-2", "clients-1"],
    ]  # fmt: skip
    assert [visit.waits_idle for visit in visits] == [True, False, True, False]
    assert all(visit.is_planned and visit.preparation == "tried" and not visit.shelf for visit in visits)


@pytest.mark.parametrize("theirs", ["errors", "crashed", "not_served", "incomplete", "provider_count", "unavailable"])
def test_the_rigs_doing_is_tried_again_within_its_block_and_the_gateways_is_not(theirs: str) -> None:
    """Only what the rig spoiled, behind the others of its block: a gateway's failed window is not tried away.

    Nor is one before which its files were found changed.
    """
    bad = {"a.none.work.plain.clients-2": "load_limit", "b.none.work.plain.clients-1": theirs}
    visits, _ = run(matrix_schedule(ORDER[:1], 2), lambda name, _: bad.get(name))

    reported = [
        (visit.round, visit.is_planned, [window.cell.load.name for window in visit.windows]) for visit in visits
    ]
    assert reported == [(1, True, ["clients-1", "clients-2"]), (1, True, ["clients-1"]), (2, False, ["clients-2"])]
    assert [visit.waits_idle for visit in visits] == [True, False, True]


def test_no_cell_has_more_attempts_than_twice_its_wanted_runs() -> None:
    """Four wanted runs that the rig always spoils: eight attempts, however many a block allows."""
    name = "a.none.work.plain.clients-2"
    visits, _ = run(matrix_schedule(ORDER * 2, 5), lambda cell, _: "generator_lag" if cell == name else None)

    tried = [window.cell.id for visit in visits for window in visit.windows]
    assert tried.count(name) == 8
    assert {other: tried.count(other) for other in set(tried) - {name}} == dict.fromkeys(set(tried) - {name}, 4)


def test_a_block_returns_every_attempt() -> None:
    """A part that yields a block has all its records, rejected ones first where they were first."""
    visit = Visit((cell("a", 1).lane,), (WindowSpec(cell("a", 1)),))
    _, records = run(block([visit], 2), lambda _, number: "steal" if number == 1 else None)

    assert [record.accepted for record in records] == [False, True]


def test_a_search_decides_by_what_was_seen() -> None:
    """A generator that is told each outcome can look for the most clients that a lane serves: nothing else is new."""

    def ceiling(limit: int) -> Schedule[int]:
        clients = 1
        while clients < limit:
            one = cell("a", 2 * clients)
            outcome = yield Visit((one.lane,), (WindowSpec(one),))
            if not outcome.records[0].accepted:
                break
            clients *= 2
        return clients

    visits, found = run(ceiling(64), lambda name, _: "errors" if name.endswith("-16") else None)

    assert found == 8
    assert [visit.windows[0].cell.load.name for visit in visits] == [f"clients-{n}" for n in (2, 4, 8, 16)]
