"""Windows of a known CPU burn: which are asked for, and what is said where one does not count."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from weighbridge.campaign.calibration.cpu_burn import measure_burn
from weighbridge.campaign.calibration.setting import SHELF, CalibrationContext
from weighbridge.campaign.schedule import Visit, VisitOutcome
from weighbridge.load.drivers import TRAITS
from weighbridge.matrix.load import read_matrix
from weighbridge.record.coded import Reason

MATRIX = Path(__file__).resolve().parents[4] / "calibration.yaml"


def _asked(rejected: int | None) -> tuple[list[Visit], Any]:
    """The visits of the shipped calibration's burn and what came of them; the window of that number is rejected."""
    loaded = read_matrix(MATRIX, TRAITS)
    spec = loaded.matrix.calibration
    assert spec is not None
    assert spec.burn is not None
    nothing: Any = None
    request: Any = SimpleNamespace(loaded=loaded)
    schedule = measure_burn(CalibrationContext(request, nothing, nothing, spec), spec.burn)
    visits = [next(schedule)]
    while True:
        number = len(visits) - 1
        reason = Reason.of("steal", "much was stolen") if number == rejected else None
        record: Any = SimpleNamespace(cell=visits[-1].windows[0].cell.id, accepted=reason is None, reason=reason)
        try:
            visits.append(schedule.send(VisitOutcome((record,))))
        except StopIteration as end:
            return visits, end.value


@pytest.mark.parametrize("rejected", [0, 1])
def test_the_burn_is_read_above_the_control_at_the_same_load(rejected: int) -> None:
    """Two lanes of one gateway, warm, at one rate; where either does not count it is named, without a figure."""
    visits, said = _asked(rejected)
    settings = [dict(visit.lanes[0].settings) for visit in visits]
    loads = {visit.windows[0].cell.load for visit in visits}

    assert len(visits) == 2
    assert settings[0] != settings[1]
    assert len(loads) == 1
    assert {(visit.preparation, visit.shelf) for visit in visits} == {("warm", SHELF)}
    assert said == f"the window {visits[rejected].windows[0].cell.id} was not accepted: much was stolen"
