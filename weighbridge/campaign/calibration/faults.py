"""Injected faults: a small window of streams through each faulty gateway, and which check detected it.

There is no preflight here: it would refuse some of the faults before a window could show them.
"""

from __future__ import annotations

from weighbridge.campaign.calibration.setting import SHELF, CalibrationContext, rate_load
from weighbridge.campaign.schedule import Schedule, Visit, WindowSpec, block
from weighbridge.judge.calibration.fault_checks import detected
from weighbridge.matrix.calibration import FAULT_RATE_RPS
from weighbridge.matrix.cells import LaneKey
from weighbridge.record.certificate import FaultResult

_CONNECTIONS = 32
_FAULT_WARMUP_COUNT = 4


def inject_faults(setting: CalibrationContext) -> Schedule[tuple[FaultResult, ...]]:
    """Yield a window of each fault of the matrix, and return what was seen of it beside the direct lane."""
    lanes = {"none": setting.direct, **{fault: setting.lane(fault) for fault in setting.spec.faults}}
    visits = [_visit(setting, fault, lane) for fault, lane in lanes.items()]
    baseline, *records = yield from block(visits, 1)
    return tuple(
        detected(fault, (record,), (baseline,)) for fault, record in zip(setting.spec.faults, records, strict=True)
    )


def _visit(setting: CalibrationContext, fault: str, lane: LaneKey) -> Visit:
    load = rate_load(FAULT_RATE_RPS, setting.spec.fault_request_count, _CONNECTIONS, _FAULT_WARMUP_COUNT)
    cell = setting.cell(f"fault.{fault}", lane, "stream", load)
    return Visit((lane,), (WindowSpec(cell),), preparation="bare", shelf=SHELF)
