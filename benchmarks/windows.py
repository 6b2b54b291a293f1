"""One window of a load generator against the mock provider, direct: its samples and what they say.

Real drivers are run exactly as a campaign runs them.
"""

from __future__ import annotations

import math
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.place import Place, Standing
from weighbridge.command import Command
from weighbridge.errors import LaneFailed
from weighbridge.judge.figures.row_masks import good_answers, untrimmed
from weighbridge.judge.figures.run_figures import send_rate_error
from weighbridge.load.contract.driver import LoadPlan
from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.loads import Load, RateLoad
from weighbridge.matrix.requests import AnswerSpec
from weighbridge.quantiles import percentile
from weighbridge.record.samples import SAMPLE_OUTCOMES, SampleTable

ANSWER = AnswerSpec("20ms", 0.02, 1, 0.0)
CLIENT = "aiohttp client"
_FEWEST_CONNECTIONS = 32
_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Seen:
    """Figures of one window in microseconds: service and response time above the provider's delay, lag of the sends.

    The first request of each connection is left out. `rate_error_ratio` is achieved ÷ offered − 1.
    """

    service_p50_us: float
    service_p99_us: float
    response_p50_us: float
    response_p99_us: float
    lag_p50_us: float
    lag_p95_us: float
    lag_p99_us: float
    lag_max_us: float
    rate_error_ratio: float
    request_count: int


def load_of(rate_rps: float, seconds: float) -> Load:
    """Return the load of a window, with as many connections as a matrix gives by itself."""
    connections = max(_FEWEST_CONNECTIONS, math.ceil(2 * rate_rps * ANSWER.delay_s))
    return RateLoad(rate_rps, seconds, round(rate_rps * seconds), connections, 0, _TIMEOUT_S)


def drive(place: Place, provider: Standing, generator: str, load: Load, program: Path | None = None) -> Seen:
    """Drive one window and return what it showed. Raises LaneFailed when not every request was answered.

    `generator` is a driver's name or `aiohttp client`; `program` is the driver's, ours when None.
    """
    folder = Path(tempfile.mkdtemp(dir=place.folder))
    if generator == CLIENT:
        samples = _client(place, provider, load, folder / "samples.npz")
    else:
        plan = LoadPlan(
            program=program or Path(sys.executable),
            url=provider.url,
            mode="plain",
            load=load,
            headers=(("authorization", "Bearer none"),),
            secrets=(),
            bodies=place.bodies(10 * load.window_count),
            out_dir=folder,
            expected_s=load.expected_s(ANSWER, "plain"),
            seed=11,
        )
        samples = _driver(place, generator, plan)
    good = int(np.count_nonzero(good_answers(samples)))
    if good != load.window_count:
        kinds = {name: int(np.count_nonzero(samples.outcome == code)) for code, name in enumerate(SAMPLE_OUTCOMES)}
        sentence = f"{generator} at {load.name}: {good} of {load.window_count} requests got a good response ({kinds})"
        raise LaneFailed(sentence, reason="errors", phase="window")
    return _seen(samples, load)


def _driver(place: Place, name: str, plan: LoadPlan) -> SampleTable:
    driver = DRIVERS[name]
    ended = place.supervisor.run(driver.command(plan))
    reading = driver.read(driver.outputs(plan, ended.exit_code, ended.stderr))
    if reading.samples is None:
        raise LaneFailed(f"{name} kept no samples", reason="generator_failed", phase="window")
    return reading.samples


def _client(place: Place, provider: Standing, load: Load, out: Path) -> SampleTable:
    given = {
        "url": provider.url,
        "bodies": place.bodies(10 * load.window_count),
        "rate": load.offered_rps,
        "count": load.window_count,
        "connections": load.connections,
        "out": out,
    }
    arguments = [word for name, value in given.items() for word in (f"--{name}", str(value))]
    argv = place.python("benchmarks.equivalents.aiohttp_client", *arguments)
    deadline_s = 3 * load.expected_s(ANSWER, "plain") + 30
    ended = place.supervisor.run(Command(argv, cwd=out.parent, deadline_s=deadline_s, env=place.environment))
    if ended.exit_code:
        lines = ended.stderr.decode("utf-8", "replace").strip().splitlines() or ["no word of why"]
        raise LaneFailed(f"{CLIENT} failed: {lines[-1]}", reason="generator_failed", phase="window")
    return SampleTable.from_bytes(out.read_bytes(), origin=str(out))


def _seen(samples: SampleTable, load: Load) -> Seen:
    rows = samples.where(untrimmed(samples, load.connections))
    service = np.sort(rows.end_s - rows.sent_s - ANSWER.delay_s) * 1e6
    response = np.sort(rows.end_s - rows.intended_s - ANSWER.delay_s) * 1e6
    lag = np.sort(rows.sent_s - rows.intended_s) * 1e6
    error = send_rate_error(samples, load.offered_rps)
    return Seen(
        service_p50_us=percentile(service.tolist(), 0.50),
        service_p99_us=percentile(service.tolist(), 0.99),
        response_p50_us=percentile(response.tolist(), 0.50),
        response_p99_us=percentile(response.tolist(), 0.99),
        lag_p50_us=percentile(lag.tolist(), 0.50),
        lag_p95_us=percentile(lag.tolist(), 0.95),
        lag_p99_us=percentile(lag.tolist(), 0.99),
        lag_max_us=float(lag[-1]),
        rate_error_ratio=math.nan if error is None else error,
        request_count=len(rows),
    )
