"""The direct lane by itself: each driver's baseline, what stamps cost, and how much the mock provider can serve.

All of it is shown and none of it judged.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weighbridge.campaign.calibration.setting import SHELF, CalibrationContext, clients_load, rate_load
from weighbridge.campaign.schedule import Schedule, Visit, WindowSpec, block
from weighbridge.judge.calibration.joined_quantiles import quantile_ns
from weighbridge.judge.calibration.lane_samples import good_rows
from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.calibration import Baselines
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.record.certificate import (
    NO_CEILING,
    CeilingOrUnknown,
    DriverBaseline,
    StampingResult,
    UnknownCeiling,
)
from weighbridge.record.figures import Figure, Timing
from weighbridge.record.run import RunRecord

_CONNECTIONS = 50
_CEILING_CLIENTS = 32
_ANSWER_AT_ONCE = AnswerSpec("at-once", 0.0, 1, 0.0)
# Small prompts: the ceiling asks how many responses per second, not how many bytes.
_SMALL_PAYLOAD = PayloadSpec("small", 0, 64)


@dataclass(frozen=True)
class Direct:
    """What the direct lane alone showed."""

    baselines: tuple[DriverBaseline, ...] = ()
    stamping: StampingResult | None = None
    ceiling: CeilingOrUnknown = NO_CEILING


def direct_lane(setting: CalibrationContext, baselines: Baselines | None) -> Schedule[Direct]:
    """Yield every window of the direct lane, and return what they showed."""
    if baselines is None:
        return Direct()
    return Direct(
        baselines=(yield from driver_baselines(setting, baselines)),
        stamping=(yield from stamping(setting, baselines)),
        ceiling=(yield from mock_ceiling(setting)),
    )


def driver_baselines(setting: CalibrationContext, baselines: Baselines) -> Schedule[tuple[DriverBaseline, ...]]:
    """Yield windows of each driver, interleaved; return the medians of service time above the provider's own."""
    even = rate_load(baselines.rate_rps, baselines.request_count, _CONNECTIONS, arrivals="even")
    there = [driver for driver in baselines.drivers if driver in setting.programs.tools]
    turns = [there if number % 2 else list(reversed(there)) for number in range(1, baselines.window_count + 1)]
    cells = {
        driver: setting.cell(f"baseline.{driver}", setting.direct, "plain", even, driver=driver) for driver in there
    }
    records = yield from _direct(setting, [[WindowSpec(cells[driver]) for driver in turn] for turn in turns])
    provider_ms = setting.answer.provider_time_s("plain") * 1000
    return tuple(
        _baseline(
            driver,
            baselines,
            [record for record in records if record.cell == f"baseline.{driver}"],
            provider_ms,
            setting.programs.absent.get(driver),
        )
        for driver in baselines.drivers
    )


def stamping(setting: CalibrationContext, baselines: Baselines) -> Schedule[StampingResult]:
    """Yield pairs of windows, stamped and not, whose order turns; return stamped minus unstamped, medians."""
    load = rate_load(baselines.rate_rps, baselines.request_count, _CONNECTIONS)
    names = {True: "stamped", False: "unstamped"}
    windows = {
        stamped: WindowSpec(setting.cell(name, setting.direct, "plain", load), manner={"stamps": stamped})
        for stamped, name in names.items()
    }
    turns = [(True, False) if number % 2 else (False, True) for number in range(1, baselines.window_count + 1)]
    records = yield from _direct(setting, [[windows[stamped] for stamped in turn] for turn in turns])
    found = [[record for record in records if record.cell == names[stamped]] for stamped in (True, False)]
    totals = [_median(_total_p50_ms(setting, run) for run in runs) for runs in found]
    cpus = [_median(_provider_cpu_ms(run) for run in runs) for runs in found]
    return StampingResult(shift_p50_ms=_minus(*totals), cpu_ms_per_request=_minus(*cpus))


def mock_ceiling(setting: CalibrationContext) -> Schedule[CeilingOrUnknown]:
    """Yield a window of 32 clients, by the fastest driver; return the responses per second of the mock."""
    driver = max(setting.programs.tools, key=lambda name: DRIVERS[name].capabilities.ceiling_count)
    load = clients_load(_CEILING_CLIENTS, DRIVERS[driver].capabilities.ceiling_count)
    cell = setting.cell(
        f"ceiling.{driver}",
        setting.direct,
        "plain",
        load,
        driver=driver,
        payload=_SMALL_PAYLOAD,
        answer=_ANSWER_AT_ONCE,
    )
    (record,) = yield from _direct(setting, [[WindowSpec(cell)]])
    # That the mock is saturated is what is wanted here, so it does not matter whether the run is accepted.
    rps = record.figures.known("achieved_rps") if record.figures else None
    if rps is not None:
        return Figure(value=rps)
    return UnknownCeiling(absent="not_measured" if record.reason is None else record.reason.code)


def _direct(setting: CalibrationContext, turns: Sequence[Sequence[WindowSpec]]) -> Schedule[tuple[RunRecord, ...]]:
    """Yield a visit for each turn, numbered as a block, after one wait for an idle machine."""
    visits = [
        Visit((setting.direct,), tuple(windows), number, preparation="bare", shelf=SHELF)
        for number, windows in enumerate(turns, 1)
    ]
    return (yield from block(visits, 1))


def _baseline(
    driver: str, baselines: Baselines, runs: Sequence[RunRecord], provider_ms: float, absent: str | None
) -> DriverBaseline:
    times = [run.figures.timing("service_ms") for run in runs if run.accepted and run.figures]
    known = [one for one in times if isinstance(one, Timing)]
    why = absent or next((run.reason.detail for run in runs if run.reason is not None), None)
    p50, p99 = _median(one.p50 for one in known), _median(one.p99 for one in known)
    return DriverBaseline(
        driver=driver,
        p50_ms=None if p50 is None else p50 - provider_ms,
        p99_ms=None if p99 is None else p99 - provider_ms,
        rate_rps=baselines.rate_rps,
        absent=None if known else why or "no window was accepted",
    )


def _total_p50_ms(setting: CalibrationContext, run: RunRecord) -> float | None:
    if not run.accepted:
        return None
    trace = setting.stored(run).trace("plain", setting.answer, _CONNECTIONS)
    rows = good_rows(trace)
    times = trace.requests.end_ns[rows] - trace.requests.sent_ns[rows]
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
