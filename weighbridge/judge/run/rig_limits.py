"""Limits of our own rig, which are never charged to a gateway: load, mock provider, generator lag.

A run is thrown away when the p99 of the lag exceeds half of the median response time (METHOD section 2), for then a
headline is the generator's own; of fewer than 100 requests, which have no p99, the median lag stands for it. oha
releases 0.4–1.0 ms late (median) on two cores, which no 20 ms response loses a run for. Whether such a lateness is
much beside a *difference* is told of the cell (`judge.cell.yardsticks`), never here: no rule of acceptance looks at
an overhead.
"""

from __future__ import annotations

from collections.abc import Iterator

from weighbridge.judge.inputs import Attempted
from weighbridge.judge.run.background_load import is_loaded
from weighbridge.judge.run.sentences import client_text
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Percentile
from weighbridge.record.measured import RunFigures
from weighbridge.record.metrics import TimeKey

GROSS_SHARE = 0.50
# METHOD 2: generator or mock above 70 % of a core.
MOCK_LIMIT_CORES = 0.70
GENERATOR_LIMIT_CORES = 0.70


def breach(inputs: Attempted) -> Reason | None:
    """Return the reason when the machine's load or the mock provider voids the run."""
    window = inputs.window
    if window is None:
        return None
    readings = (("before", window.load_before), ("after", window.load_after))
    for when, reading in readings:
        load = None if reading is None else reading.load_1m
        if inputs.load_limit is not None and load is not None and load >= inputs.load_limit:
            text = f"the one-minute load {when} the window was {load:.2f}; the limit is {inputs.load_limit:g}"
            return Reason.of("load_limit", text)
    for client in window.clients:
        if client.cpu_cores is not None and client.cpu_cores > GENERATOR_LIMIT_CORES:
            took = f"{client_text(client.role)} took {client.cpu_cores:.2f} of a core"
            return Reason.of("generator_saturated", f"{took}; the limit is {GENERATOR_LIMIT_CORES:g}")
    cpu = window.provider.cpu_cores
    if cpu is not None and cpu > MOCK_LIMIT_CORES:
        sentence = f"the mock provider took {cpu:.2f} of a core; the limit is {MOCK_LIMIT_CORES:g}"
        return Reason.of("mock_saturated", sentence)
    late_s, smallest_ms = window.provider.lateness_p50_s, smallest_figure_ms(inputs.figures)
    if late_s is not None and smallest_ms is not None and late_s * 1000 > GROSS_SHARE * smallest_ms:
        return Reason.of("mock_saturated", f"the mock provider answered {late_s * 1000:.1f} ms late (median)")
    return None


def gross_lag(inputs: Attempted, *, missed: bool) -> Reason | None:
    """Return the reason when the generator's lag p99 is more than half of the median response time.

    `missed` says that the rate was not kept, so that lag is the lane's queue.
    """
    if inputs.figures is None or missed:
        return None
    connections, response_ms = inputs.load.connections, inputs.figures.percentile("response_ms", "p50")
    names: tuple[Percentile, ...] = ("p99", "p50")
    lags = ((name, lag_ms(inputs.figures, name, connections)) for name in names)
    name, late_ms = next(((name, lag) for name, lag in lags if lag is not None), ("", None))
    if late_ms is None or response_ms is None or late_ms <= GROSS_SHARE * response_ms:
        return None
    return Reason.of(
        "generator_lag",
        f"the generator sent {late_ms:.1f} ms late ({name}) where a response took {response_ms:.1f} ms (p50)",
    )


def flags(inputs: Attempted) -> Iterator[str]:
    """Yield flags of what the machine did."""
    window = inputs.window
    readings = (None, None) if window is None else (window.load_before, window.load_after)
    if inputs.gate_text is not None or is_loaded(*readings):
        yield "loaded_machine"
    if inputs.load_limit is not None and any(one is None or one.load_1m is None for one in readings):
        yield "load_unknown"


def smallest_figure_ms(figures: RunFigures | None) -> float | None:
    """Return the smallest median of response, service and first-byte time, ms; None when there is none."""
    if figures is None:
        return None
    keys: tuple[TimeKey, ...] = ("response_ms", "service_ms", "ttfb_ms")
    medians = [figures.percentile(key, "p50") for key in keys]
    return min((value for value in medians if value is not None), default=None)


def lag_ms(figures: RunFigures, name: Percentile, connections: int) -> float | None:
    """Return how late a run's requests were sent, ms: by the pacer and behind it.

    Percentiles of the two parts are added: at most a little too much. Where all connections were in use at a time, a
    request that waits for one waits for the lane, and the second part is none of the generator's.
    """
    is_full = (figures.count("in_flight_max_count") or 0) >= connections
    lateness = figures.percentile("release_lateness_ms", name)
    dispatch = None if is_full else figures.percentile("dispatch_lag_ms", name)
    known = [value for value in (lateness, dispatch) if value is not None]
    return sum(known) if known else None
