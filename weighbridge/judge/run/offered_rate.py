"""Whether a lane kept the offered rate, and whose fault it is when it did not.

Looks at the schedule and the responses only, never at an overhead.

Achieved below 99 % of offered is METHOD 2's line, but in a short window one slow last response moves it: 160
requests at 20/s last 8 s, and a response 80 ms later than the first looks like 1 % too slow. So the rate counts
as missed only when the *backlog* says so as well. A lane with capacity μ below the rate R responds to every request
later than the one before: response time climbs by (R − μ) ÷ μ seconds a second, through the whole window.
The climb is 1.5 × (median response time of the last third of the schedule − that of the first third): one
freeze, a slow first connection or a late last response moves no median of a third. All four must hold:

1. achieved < 99 % of offered, as printed;
2. window ÷ (window + climb) < 99 %: the climb explains the loss;
3. climb × R ≥ 5 requests: below that no lane can be told from jitter (this resolves 3 % in 160 requests and
   1 % in 500; what lies under it is flagged `rate_low`);
4. the difference of the two medians is above three of its standard errors.

A lane that serves 66 of 150/s builds 56 requests of backlog a hundred, and meets all four in 20 requests.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures.in_flight import in_flight_at_start, in_flight_max
from weighbridge.judge.window import Client, Window
from weighbridge.record.arrays import Floats
from weighbridge.record.samples import SampleTable

SENT_SHARE = 0.99
BACKLOG_COUNT = 5.0
STANDARD_ERRORS = 3.0
# Connections carry C ÷ quiet service time; a lane that serves two thirds of that has hardly slowed down.
CARRIED_SHARE = 2 / 3
# METHOD 2: twice the connections must achieve more than 3 % more to show that they were the limit.
DOUBLED_GAIN = 1.03
QUIET_COUNT = 5
# A cut run whose last response lies before this share of its wall clock has stopped answering.
ALIVE_SHARE = 0.5


@dataclass(frozen=True)
class RateCheck:
    """What became of an offered rate.

    `missed`: the lane (or the rig) did not keep it. `low`: achieved is under 99 % without a backlog that shows
    it. `generator_missed`: the pacer itself released too slowly. `stopped`: a cut run had long stopped
    answering. `connections_full`: the cap was reached; `connections_limited`: the cap was the limit, None when
    that cannot be told.
    """

    missed: bool
    low: bool
    generator_missed: bool
    stopped: bool
    connections_full: bool
    connections_limited: bool | None


def check_rate(window: Window, achieved_rps: float | None, doubled_rps: float | None = None) -> RateCheck | None:
    """Return what became of the offered rate; None for clients, which offer none.

    `doubled_rps` is what one more window with twice the connections achieved, where there was one.
    """
    rate = window.load.offered_rps
    if rate is None:
        return None
    below = achieved_rps is None or achieved_rps < SENT_SHARE * rate
    missed = window.lead.cut or (below and _backlog_grew(window, rate, achieved_rps))
    samples = window.lead.samples
    full = samples is not None and (in_flight_max(samples) or 0) >= window.lead.load.connections
    return RateCheck(
        missed=missed,
        low=below and not missed,
        generator_missed=samples is not None and _released_too_slowly(samples, rate),
        stopped=window.lead.cut and _stopped(window.lead),
        connections_full=full,
        connections_limited=_connections_limited(window, achieved_rps, doubled_rps) if missed else False,
    )


@dataclass(frozen=True)
class Climb:
    """How much later the end of the schedule was served than its begin: seconds over the whole window."""

    climb_s: float
    span_s: float
    significant: bool

    def explains_miss(self, rate_rps: float) -> bool:
        """Tell whether it costs more than 1 % of the window and 5 requests, and is no scatter."""
        kept = self.span_s / (self.span_s + max(self.climb_s, 0.0))
        return self.significant and kept < SENT_SHARE and self.climb_s * rate_rps >= BACKLOG_COUNT


def climb(intended_s: Floats, delay_s: Floats) -> Climb | None:
    """Return the climb of `delay_s` over the schedule by medians of its first and last third; None below 9 values.

    The standard error of a median is 1.2533 σ ÷ √n, with σ = 1.4826 × the median absolute deviation.
    """
    known = np.isfinite(intended_s) & np.isfinite(delay_s)
    order = np.argsort(intended_s[known], kind="stable")
    intended, delay = intended_s[known][order], delay_s[known][order]
    third = len(delay) // 3
    if third < 3:
        return None
    first, last = delay[:third], delay[-third:]
    difference = float(np.median(last) - np.median(first))
    error = float(np.hypot(_median_error(first), _median_error(last)))
    span_s = float(intended[-1] - intended[0])
    return Climb(1.5 * difference, span_s, difference > STANDARD_ERRORS * error) if span_s > 0 else None


def _median_error(values: Floats) -> float:
    deviation = float(np.median(np.abs(values - np.median(values))))
    return float(1.2533 * 1.4826 * deviation / np.sqrt(len(values)))


def _backlog_grew(window: Window, rate: float, achieved_rps: float | None) -> bool:
    found = None
    samples = window.lead.samples
    if samples is not None:
        found = climb(samples.intended_s, samples.end_s - samples.intended_s)
    if found is not None:
        return found.explains_miss(rate)
    # Without a schedule only the length of the window tells: what it lacks must be 5 requests as well.
    answered = sum(report.answered_count or 0 for report in window.reports)
    if achieved_rps is None or achieved_rps <= 0:
        return False
    return answered / achieved_rps * rate - answered >= BACKLOG_COUNT


def _released_too_slowly(samples: SampleTable, rate: float) -> bool:
    found = climb(samples.intended_s, samples.released_s - samples.intended_s)
    return found is not None and found.explains_miss(rate)


def _stopped(client: Client) -> bool:
    if client.report is None or not client.report.answered_count:
        return True
    samples, wall_s = client.samples, client.window_wall_s
    if samples is None or not wall_s:
        return False
    ends = samples.end_s[np.isfinite(samples.end_s)]
    begun = samples.sent_s[np.isfinite(samples.sent_s)]
    if not len(ends) or not len(begun):
        return True
    return float(ends.max() - begun.min()) < ALIVE_SHARE * wall_s


def _connections_limited(window: Window, achieved_rps: float | None, doubled_rps: float | None) -> bool | None:
    """Tell whether the cap on connections was the limit; None when there is nothing to tell it by.

    A second window with twice the connections decides. Without one the quiet service time does (median of
    the five requests with the fewest others open): as the connections fill up, a lane at its limit gets
    slower and slower, while one that merely takes long stays near C ÷ quiet service time.
    """
    samples = window.lead.samples
    if doubled_rps is not None and achieved_rps:
        return doubled_rps > DOUBLED_GAIN * achieved_rps
    if samples is None or achieved_rps is None:
        return None
    if (in_flight_max(samples) or 0) < window.lead.load.connections:
        return False
    service_s, others = in_flight_at_start(samples)
    if len(service_s) < QUIET_COUNT:
        return None
    quiet_s = float(np.median(service_s[np.argsort(others, kind="stable")[:QUIET_COUNT]]))
    if quiet_s <= 0:
        return False
    connections = sum(client.load.connections for client in window.clients if client.load.measures_times)
    return achieved_rps >= CARRIED_SHARE * connections / quiet_s
