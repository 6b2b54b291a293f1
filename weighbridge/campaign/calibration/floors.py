"""The direct lane by itself: each driver's floor, what stamps cost, and how much the mock provider can answer.

Called by `calibrate`. All of it is shown and none of it judged.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from weighbridge.campaign.calibration.kept import inband_of
from weighbridge.campaign.calibration.lanes import first_answer
from weighbridge.campaign.calibration.windows import (
    CellSpec,
    Manner,
    Steps,
    clients_load,
    folder_of,
    rate_load,
    run_cell,
)
from weighbridge.campaign.stage import Stage
from weighbridge.judge.mixture import quantile_ns
from weighbridge.judge.weighed import good_rows
from weighbridge.load.drivers import DRIVERS, STAMP_READER
from weighbridge.matrix.calibration import Floors
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.record.certificate import DriverFloor, StampingResult
from weighbridge.record.figures import Absent, Figure, FigureOrAbsent, Timing
from weighbridge.record.run import RunRecord
from weighbridge.rig.installing import Tool
from weighbridge.rig.lane import Lane

_CONNECTIONS = 50
_CEILING_CLIENTS = 32
_AT_ONCE = AnswerSpec("at-once", 0.0, 1, 0.0)
# Small prompts: the ceiling asks how many answers a second, not how many bytes.
_SMALL = PayloadSpec("small", 0, 64)


@dataclass(frozen=True)
class DriverTools:
    """The programs of the drivers that are there, and why each other one is not."""

    tools: Mapping[str, Tool]
    absent: Mapping[str, str]


def with_driver(stage: Stage, driver: str, tools: DriverTools) -> Stage:
    """The stage with another load generator."""
    return replace(stage, request=replace(stage.request, driver=DRIVERS[driver], tool=tools.tools[driver]))


def driver_floors(
    stage: Stage, steps: Steps, lane: Lane, floors: Floors, tools: DriverTools
) -> tuple[DriverFloor, ...]:
    """Service time of the direct lane above the provider's own, by each driver: medians over interleaved windows."""
    load = rate_load(floors.rate_rps, floors.request_count, _CONNECTIONS)
    there = [driver for driver in floors.drivers if driver in tools.tools]
    found: dict[str, list[RunRecord]] = {driver: [] for driver in there}
    for number in range(1, floors.window_count + 1):
        for driver in there if number % 2 else reversed(there):
            cell = CellSpec(f"floor.{driver}", "plain", load, driver)
            found[driver].append(run_cell(with_driver(stage, driver, tools), steps, lane, cell, Manner(number)))
    provider_ms = first_answer(stage).provider_time_s("plain") * 1000
    return tuple(_floor(driver, floors, found.get(driver, ()), provider_ms, tools) for driver in floors.drivers)


def stamping(stage: Stage, steps: Steps, lane: Lane, floors: Floors, tools: DriverTools) -> StampingResult:
    """Stamped minus unstamped answers on the direct lane, medians over pairs of windows whose order turns."""
    found: dict[bool, list[RunRecord]] = {True: [], False: []}
    load = rate_load(floors.rate_rps, floors.request_count, _CONNECTIONS)
    by_probe = with_driver(stage, STAMP_READER, tools)
    for number in range(1, floors.window_count + 1):
        for stamped in (True, False) if number % 2 else (False, True):
            told = replace(by_probe, mocks=replace(stage.mocks, manner={"stamps": stamped}))
            cell = CellSpec("stamped" if stamped else "unstamped", "plain", load)
            found[stamped].append(run_cell(told, steps, lane, cell, Manner(number)))
    totals = [_median(_total_p50_ms(stage, run) for run in found[stamped]) for stamped in (True, False)]
    cpus = [_median(_provider_cpu_ms(run) for run in found[stamped]) for stamped in (True, False)]
    return StampingResult(shift_p50_ms=_minus(*totals), cpu_ms_per_request=_minus(*cpus))


def mock_ceiling(stage: Stage, steps: Steps, lane: Lane, tools: DriverTools) -> FigureOrAbsent:
    """Return the plain answers a second that the mock provider gives to 32 clients, by the fastest driver."""
    driver = max(tools.tools, key=lambda name: DRIVERS[name].capabilities.ceiling_count)
    load = clients_load(_CEILING_CLIENTS, DRIVERS[driver].capabilities.ceiling_count)
    cell = CellSpec(f"ceiling.{driver}", "plain", load, driver, _SMALL, _AT_ONCE)
    record = run_cell(with_driver(stage, driver, tools), steps, lane, cell)
    # That the mock is saturated is what is wanted here, so it does not matter whether the run is accepted.
    rps = record.figures.achieved_rps if record.figures else None
    return Absent(absent=record.reason or "not_measured") if rps is None else Figure(value=rps)


def _floor(
    driver: str, floors: Floors, runs: Sequence[RunRecord], provider_ms: float, tools: DriverTools
) -> DriverFloor:
    times = [run.figures.service_ms for run in runs if run.accepted and run.figures]
    known = [one for one in times if isinstance(one, Timing)]
    why = tools.absent.get(driver) or next((run.reason_text for run in runs if not run.accepted), None)
    p50, p99 = (_median(getattr(one, name) for one in known) for name in ("p50", "p99"))
    return DriverFloor(
        driver=driver,
        p50_ms=None if p50 is None else p50 - provider_ms,
        p99_ms=None if p99 is None else p99 - provider_ms,
        rate_rps=floors.rate_rps,
        absent=None if known else why or "no window was accepted",
    )


def _total_p50_ms(stage: Stage, run: RunRecord) -> float | None:
    if not run.accepted:
        return None
    facts = inband_of(folder_of(stage.store, run), "plain", first_answer(stage))
    rows = good_rows(facts, _CONNECTIONS)
    times = facts.requests.end_ns[rows] - facts.requests.sent_ns[rows]
    return quantile_ns(times, 0.5) / 1e6 if len(times) else None


def _provider_cpu_ms(run: RunRecord) -> float | None:
    used, counts = run.resources.mock_cpu_cores, run.counts
    if used is None or counts is None or not counts.provider_request_count:
        return None
    return 1000 * used * run.window_s / counts.provider_request_count


def _median(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return statistics.median(known) if known else None


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other
