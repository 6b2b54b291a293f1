"""Planted faults: a small window of streams through each faulty gateway, and which check caught it.

Called by `calibrate`. There is no preflight here: it would refuse some of the faults before a window could show them.
"""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.campaign.calibration.lanes import direct_up, weight_up
from weighbridge.campaign.calibration.windows import CellSpec, Steps, rate_load, run_cell
from weighbridge.campaign.stage import Stage
from weighbridge.judge.planted import caught
from weighbridge.matrix.calibration import FAULT_RATE_RPS, Calibration
from weighbridge.matrix.loads import RateLoad
from weighbridge.record.certificate import FaultResult

_CONNECTIONS = 32
_WARMUP_COUNT = 4


def plant_faults(stage: Stage, steps: Steps, spec: Calibration) -> tuple[FaultResult, ...]:
    """Each fault of the matrix, and what was seen of it beside the direct lane."""
    return tuple(_planted(stage, steps, spec))


def fault_load(spec: Calibration) -> RateLoad:
    """The load of each fault's window."""
    return rate_load(FAULT_RATE_RPS, spec.fault_request_count, _CONNECTIONS, _WARMUP_COUNT)


def _planted(stage: Stage, steps: Steps, spec: Calibration) -> Iterator[FaultResult]:
    load = fault_load(spec)
    with direct_up(stage) as lane:
        floor = run_cell(stage, steps, lane, CellSpec("fault.none", "stream", load))
    for fault in spec.faults:
        with weight_up(stage, spec, fault, warm=False) as lane:
            record = run_cell(stage, steps, lane, CellSpec(f"fault.{fault}", "stream", load))
        yield caught(fault, (record,), (floor,))
