"""More mixed blocks where a percentile is off: when they are asked for, and that all of them count."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from tests.examples.calibration_examples import MS, constant, lane
from weighbridge.campaign.calibration.blocks import TWINS, BlockKind, Made, MixedBlock, blocks_of
from weighbridge.campaign.calibration.setting import SHELF, CalibrationContext
from weighbridge.campaign.schedule import Schedule, Visit, VisitOutcome
from weighbridge.judge.calibration.lane_samples import MeasuredLane
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.calibration import MixedLoad
from weighbridge.matrix.load import read_matrix
from weighbridge.record.coded import Reason

KIND = BlockKind("plain", "busy")
MATRIX = Path(__file__).resolve().parents[4] / "calibration.yaml"


def setting() -> CalibrationContext:
    """The shipped calibration with one delay, and nothing that runs."""
    loaded = read_matrix(MATRIX, TRAITS)
    assert loaded.matrix.calibration is not None
    spec = loaded.matrix.calibration.model_copy(update={"known_delays": ("delay-3ms",), "two_valued": ()})
    nothing: Any = None
    request: Any = SimpleNamespace(loaded=loaded)
    return CalibrationContext(request, nothing, nothing, spec)


class Planned:
    """Makes visits: block `n` is off by the n-th of the errors; the attempts in `spoilt` do not count."""

    def __init__(self, *errors_us: int, spoilt: tuple[int, ...] = ()) -> None:
        self._errors_us, self._spoilt = errors_us, spoilt
        self.visits: list[Visit] = []

    def made(self, schedule: Schedule[Made]) -> Made:
        """What the schedule returns when all its visits were made."""
        outcome: VisitOutcome | None = None
        while True:
            try:
                visit = next(schedule) if outcome is None else schedule.send(outcome)
            except StopIteration as end:
                result: Made = end.value
                return result
            self.visits.append(visit)
            outcome = VisitOutcome((self._record(visit),))

    def read(self, record: Any, kind: BlockKind) -> MixedBlock:
        """The lanes of a block that counts."""
        error_ns = self._errors_us[record.block - 1] * 1000
        mine = MeasuredLane(lane(record.block, slept_ns=3 * MS, error_ns=error_ns), constant(700, 3 * MS))
        twins = {
            name: MeasuredLane(lane(record.block + seed), constant(700, 0)) for seed, name in enumerate(TWINS, 50)
        }
        return MixedBlock(kind, record.block, {"delay-3ms": mine, **twins})

    @property
    def asked(self) -> list[tuple[int, int]]:
        """Block and round of each visit."""
        return [(visit.block, visit.round) for visit in self.visits]

    def _record(self, visit: Visit) -> Any:
        is_bad = len(self.visits) in self._spoilt
        reason = Reason.of("steal", "much was stolen") if is_bad else None
        return SimpleNamespace(block=visit.block, accepted=not is_bad, reason=reason)


def load(more: int) -> MixedLoad:
    """Three blocks, and so many more where something is off."""
    return MixedLoad.model_validate({"per_second": 100, "blocks": 3, "more_if_off": more})


@pytest.mark.parametrize(
    ("errors_us", "more", "asked"),
    [
        ((0, 0, 0), 2, [1, 2, 3]),
        ((0, 0, 900), 2, [1, 2, 3]),
        ((0, 900, 900, 0, 0), 2, [1, 2, 3, 4, 5]),
        ((0, 900, 900), 0, [1, 2, 3]),
    ],
)
def test_more_blocks_are_run_where_the_median_block_is_off(
    errors_us: tuple[int, ...], more: int, asked: list[int]
) -> None:
    """Neither a clean kind nor a single bad block asks for more; all blocks that were run count."""
    planned = Planned(*errors_us)
    made = planned.made(blocks_of(setting(), KIND, load(more), 5, planned.read))

    assert planned.asked == [(number, 1) for number in asked]
    assert [one.number for one in made.blocks.blocks] == asked
    assert [visit.is_planned for visit in planned.visits] == [number <= 3 for number in asked]
    assert made.repeats_remaining == 5


def test_a_spoilt_block_is_repeated_as_often_as_the_matrix_allows() -> None:
    """A repeat is another round of the same block; with none left, the kind has a gap and no block more."""
    planned = Planned(0, 900, 900, spoilt=(1,))
    made = planned.made(blocks_of(setting(), KIND, load(0), 1, planned.read))
    assert (planned.asked, made.repeats_remaining) == ([(1, 1), (1, 2), (2, 1), (3, 1)], 0)

    planned = Planned(900, 900, 900, spoilt=(2,))
    made = planned.made(blocks_of(setting(), KIND, load(2), 0, planned.read))
    assert planned.asked == [(1, 1), (2, 1), (3, 1)]
    assert made.blocks.gaps == ("block 2 of mixed.plain.busy was not accepted: much was stolen",)
    assert np.all(made.blocks.blocks[0].lanes["delay-3ms"].sleeps.ns == 3 * MS)


def test_a_block_waits_for_an_idle_machine_and_has_two_lanes_up() -> None:
    """Each block is gated, its lanes are started for it alone, and its runs are kept apart from the matrix's."""
    planned = Planned(0, 0, 0)
    planned.made(blocks_of(setting(), KIND, load(0), 0, planned.read))

    for visit in planned.visits:
        assert visit.waits_idle
        assert [one.gateway for one in visit.lanes] == ["direct", "control"]
        assert (visit.shelf, visit.preparation) == (SHELF, "bare")
        (window,) = visit.windows
        assert [route.lane for route in window.routes] == [0, 1, 1, 1]
        assert window.neighbour is not None
