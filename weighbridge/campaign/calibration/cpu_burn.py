"""A known CPU burn beside the control, both read at one rate by the meter of every gateway.

The known burn is what the gateway's thread recorded of itself, not what it was asked for.
"""

from __future__ import annotations

from weighbridge.campaign.calibration.setting import SHELF, CalibrationContext, rate_load
from weighbridge.campaign.schedule import Schedule, Visit, WindowSpec, block
from weighbridge.judge.calibration.known_delays import burn
from weighbridge.judge.calibration.lane_samples import burnt_ms
from weighbridge.judge.cell.cpu_cost import cpu_cost
from weighbridge.matrix.calibration import CONTROL, KnownBurn
from weighbridge.record.certificate import CpuResult
from weighbridge.record.figures import Absent

_CONNECTIONS = 32


def measure_burn(setting: CalibrationContext, asked: KnownBurn) -> Schedule[CpuResult | str]:
    """Yield a window of the control and one of the burn; return what was read above it, or why nothing was."""
    visits = [_visit(setting, delay, asked) for delay in (CONTROL, asked.delay)]
    control, burning = yield from block(visits, 1)
    for run in (control, burning):
        if run.reason is not None:
            return f"the window {run.cell} was not accepted: {run.reason.detail}"
    quiet, busy = cpu_cost(control), cpu_cost(burning)
    if isinstance(quiet, Absent) or isinstance(busy, Absent):
        why = next(found.text for found in (quiet, busy) if isinstance(found, Absent))
        return f"the CPU of {setting.spec.recipe} is not known: {why}"
    stored = setting.stored(burning)
    known_ms = burnt_ms(stored.trace("plain", setting.answer, _CONNECTIONS), stored.truth())
    if known_ms is None:
        return f"{asked.delay} did not record what it burnt"
    return burn(known_ms, busy.ms - quiet.ms, asked.rate_rps, asked.request_count)


def _visit(setting: CalibrationContext, delay: str, asked: KnownBurn) -> Visit:
    lane = setting.lane(delay)
    load = rate_load(asked.rate_rps, asked.request_count, _CONNECTIONS)
    cell = setting.cell(f"cpu.{delay}", lane, "plain", load)
    return Visit((lane,), (WindowSpec(cell),), preparation="warm", shelf=SHELF)
