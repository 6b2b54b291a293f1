"""A known CPU burn beside the tare, both read at one rate by the meter of every gateway.

Called by `calibrate`. The known burn is what the gateway's thread recorded of itself, not what it was asked for.
"""

from __future__ import annotations

from weighbridge.campaign.calibration.kept import inband_of, weights_of
from weighbridge.campaign.calibration.lanes import first_answer, weight_up
from weighbridge.campaign.calibration.windows import CellSpec, Steps, folder_of, rate_load, run_cell
from weighbridge.campaign.calibration.witness import forget
from weighbridge.campaign.stage import Stage
from weighbridge.judge.calibration import burn
from weighbridge.judge.numbers import cpu_ms_of
from weighbridge.judge.weighed import burnt_ms
from weighbridge.matrix.calibration import TARE, Calibration, KnownBurn
from weighbridge.record.certificate import CpuResult
from weighbridge.record.run import RunRecord

_CONNECTIONS = 32


def weigh_burn(stage: Stage, steps: Steps, spec: Calibration, asked: KnownBurn) -> CpuResult | str:
    """The burn that was read above the tare's CPU, or why it could not be read."""
    tare, burning = (_run(stage, steps, spec, weight, asked) for weight in (TARE, asked.weight))
    for run in (tare, burning):
        if run.reason is not None:
            return f"the window {run.cell} was not accepted: {run.reason.detail}"
    tare_ms, burning_ms = cpu_ms_of(tare), cpu_ms_of(burning)
    if tare_ms is None or burning_ms is None:
        return f"the CPU of {spec.recipe} could not be read"
    folder = folder_of(stage.store, burning)
    known_ms = burnt_ms(inband_of(folder, "plain", first_answer(stage)), weights_of(folder))
    if known_ms is None:
        return f"{asked.weight} did not record what it burnt"
    return burn(known_ms, burning_ms - tare_ms, asked.rate_rps, asked.request_count)


def _run(stage: Stage, steps: Steps, spec: Calibration, weight: str, asked: KnownBurn) -> RunRecord:
    with weight_up(stage, spec, weight) as lane:
        if lane.usage is not None:
            lane.usage.measure_idle()
        forget(lane)
        load = rate_load(asked.rate_rps, asked.request_count, _CONNECTIONS)
        return run_cell(stage, steps, lane, CellSpec(f"cpu.{weight}", "plain", load))
