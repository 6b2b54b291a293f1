"""Limits of our own rig, which are never charged to a gateway: load, mock provider, generator lag.

The smallest figure shown, against which a lateness is measured, is the smallest median of response, service and
first-byte time: times at the client, never an overhead.

Where the line lies. A lag p99 above 10 % of the smallest figure spoils the p99 and little else: a flag. The run is
thrown away only when the *median* lag exceeds half of the median response time, for then most of the headline is
the generator's own. oha releases 0.4–1.0 ms late (median) on two cores: a flag at times beside a 20 ms response,
never a rejection. The mock provider's lateness is measured in the same way.
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

LAG_SHARE = 0.10
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
    """Return the reason when the generator's median lag is more than half of the median response time."""
    if inputs.figures is None or missed:
        return None
    lag_ms = _lag_ms(inputs.figures, "p50", with_dispatch=not _full(inputs))
    response_ms = inputs.figures.percentile("response_ms", "p50")
    if lag_ms is None or response_ms is None or lag_ms <= GROSS_SHARE * response_ms:
        return None
    return Reason.of(
        "generator_lag",
        f"the generator sent {lag_ms:.1f} ms late (median) where a response took {response_ms:.1f} ms",
    )


def flags(inputs: Attempted, *, missed: bool) -> Iterator[str]:
    """Yield flags of what the rig did; `missed` says that the rate was not kept, so that lag is the lane's queue."""
    smallest_ms = smallest_figure_ms(inputs.figures)
    if inputs.figures is not None and smallest_ms is not None:
        lag_ms = _lag_ms(inputs.figures, "p99", with_dispatch=not missed and not _full(inputs))
        if lag_ms is not None and lag_ms > LAG_SHARE * smallest_ms:
            yield "generator_lag"
        late_s = None if inputs.window is None else inputs.window.provider.lateness_p99_s
        if late_s is not None and late_s * 1000 > LAG_SHARE * smallest_ms:
            yield "mock_late"
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


def _lag_ms(figures: RunFigures, name: Percentile, *, with_dispatch: bool) -> float | None:
    # Percentiles of the two parts are added: at most a little too much, for a flag on the safe side.
    lateness = figures.percentile("release_lateness_ms", name)
    dispatch = figures.percentile("dispatch_lag_ms", name) if with_dispatch else None
    known = [value for value in (lateness, dispatch) if value is not None]
    return sum(known) if known else None


def _full(inputs: Attempted) -> bool:
    """Tell whether all connections were in use at a time: a request that waits for one waits for the lane."""
    figures = inputs.figures
    return figures is not None and (figures.count("in_flight_max_count") or 0) >= inputs.load.connections
