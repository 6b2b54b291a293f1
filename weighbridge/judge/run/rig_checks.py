"""Arithmetic checks on our own rig: does the driver tell its true rate, do delayed acknowledgements hold responses.

As every arithmetic check, a failed one is a flag and changes no verdict.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weighbridge.judge.figures.row_masks import good_answers
from weighbridge.judge.window import Trace, Window
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_tables import UNKNOWN
from weighbridge.record.samples import SampleTable

RATE_TOLERANCE = 0.05
# Windows of fewer responses have no rate to within 5 %: their ends weigh too much.
RATE_NEEDS_COUNT = 100
# A driver's process may start up and wait for its last response so much longer than its window.
PROCESS_FACTOR = 1.25
PROCESS_SLACK_S = 5.0

# Linux delays an acknowledgement by 40 ms at least; Nagle's sender waits for it. A tick of 250 Hz is 4 ms.
DELAYED_FROM_S, DELAYED_TO_S = 0.038, 0.046
DELAYED_SHARE = 0.01
DELAYED_COUNT = 5
# A step holds this many times what lies on both sides of it; a long tail is no step.
STEP_FACTOR = 3


def driver_rate_differs(window: Window, achieved_rps: float | None) -> bool:
    """Tell whether the achieved rate disagrees with what cannot be wrong at the same time.

    That is: of an arrival rate, with the report's own rate by more than 5 %; with the time that the driver's process
    ran (too long for that rate); or, with a probe, the span of its ends with that of the provider's arrivals by more
    than 5 % (a lane that queues stretches both).
    """
    count = sum(report.answered_count or 0 for report in window.reports)
    if window.lead.cut or achieved_rps is None or count < RATE_NEEDS_COUNT:
        return False
    reported = [report.completed_rps for report in window.reports]
    claimed = None if None in reported else sum(rps for rps in reported if rps is not None)
    if window.load.has_schedule and claimed is not None and _apart(claimed, achieved_rps):
        return True
    longest_s = PROCESS_FACTOR * count / achieved_rps + PROCESS_SLACK_S if achieved_rps > 0 else None
    process_s = window.lead.wall_s
    if process_s is not None and longest_s is not None and process_s > longest_s:
        return True
    return window.trace is not None and _arrivals_differ(window.trace)


def delayed_acks(samples: SampleTable, provider_time_s: float) -> bool:
    """Tell whether responses of the direct lane pile up 38–46 ms above the provider's time: a Nagle-like plateau.

    At least 1 % (and 5) of them lie there, three times as many as in the two bands of half the width beside it.
    """
    good = good_answers(samples)
    excess_s = samples.end_s[good] - samples.sent_s[good] - provider_time_s
    half = (DELAYED_TO_S - DELAYED_FROM_S) / 2
    inside = _between(excess_s, DELAYED_FROM_S, DELAYED_TO_S)
    beside = _between(excess_s, DELAYED_FROM_S - half, DELAYED_FROM_S)
    beside += _between(excess_s, DELAYED_TO_S, DELAYED_TO_S + half)
    return inside >= max(DELAYED_COUNT, DELAYED_SHARE * len(excess_s)) and inside > STEP_FACTOR * beside


def _between(values: npt.NDArray[np.float64], low: float, high: float) -> int:
    return int(np.count_nonzero((values >= low) & (values < high)))


def _apart(one: float, other: float) -> bool:
    return abs(one - other) > RATE_TOLERANCE * max(abs(one), abs(other))


def _arrivals_differ(trace: Trace) -> bool:
    ended = trace.requests.end_ns != UNKNOWN
    arrivals = _arrivals_ns(trace)
    if min(int(np.count_nonzero(ended)), len(arrivals)) < RATE_NEEDS_COUNT:
        return False
    return _apart(float(np.ptp(trace.requests.end_ns[ended])), float(np.ptp(arrivals)))


def _arrivals_ns(trace: Trace) -> Ints:
    """Return when the provider received these requests, by its own record; by the stamps where it has none of them.

    The stamp of another request, or one out of a cache, is no arrival of this window.
    """
    requests, provider = trace.requests, trace.provider
    known: Ints = requests.recv_ns[(requests.recv_ns != UNKNOWN) & (requests.end_ns != UNKNOWN)]
    if provider is None:
        return known
    mine = np.isin(provider.reference, requests.reference) & (provider.reference != UNKNOWN)
    return provider.recv_ns[mine] if mine.any() else known
