"""Whether a lane kept the offered rate, and whose fault it is when it did not.

Looks at the schedule and the responses only, never at an overhead. A lane did not keep its rate when it left a
backlog and never caught up (`figures.backlog`), or when we cut its run. A backlog alone is a remark: one late
response, or a burst of arrivals at the end of the window, makes one too.

At random arrivals a lane at 90 % of its capacity is called saturated in 2 % of windows of 160 requests with fixed
and in 16 % with exponential service times, and in 1 % of windows of 1,500; one that is asked for 120 % of it escapes
in 6 % of windows of 160.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures.backlog import BACKLOG_COUNT, BACKLOG_SHARE_OF_ALL, answer_backlog, backlog, together
from weighbridge.judge.figures.in_flight import in_flight_at_start, in_flight_max
from weighbridge.judge.window import Client, Window
from weighbridge.record.samples import SampleTable

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

    `missed`: the lane (or the rig) did not keep it. `backlogged`: it left a backlog and yet caught up in between.
    `generator_missed`: the pacer itself released too slowly. `stopped`: a cut run had long stopped
    answering. `connections_full`: the cap was reached; `connections_limited`: the cap was the limit, None when
    that cannot be told.
    """

    missed: bool
    backlogged: bool
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
    is_large, is_saturated = _backlog(window, rate, achieved_rps)
    missed = window.lead.cut or is_saturated
    samples = window.lead.samples
    full = samples is not None and (in_flight_max(samples) or 0) >= window.lead.load.connections
    return RateCheck(
        missed=missed,
        backlogged=is_large and not missed,
        generator_missed=samples is not None and _released_too_slowly(samples, rate),
        stopped=window.lead.cut and _stopped(window.lead),
        connections_full=full,
        connections_limited=_connections_limited(window, achieved_rps, doubled_rps) if missed else False,
    )


def _backlog(window: Window, rate_rps: float, achieved_rps: float | None) -> tuple[bool, bool]:
    """Return whether there is a large backlog, and whether it tells a lane that never caught up."""
    parts = [answer_backlog(client) for client in window.clients if client.load.measures_times]
    if parts[0] is not None:
        found = together(part for part in parts if part is not None)
        return found.is_large, found.is_saturated(rate_rps)
    # Without a schedule only the length of the window tells: what it lacks must be as much.
    answers = sum(report.answered_count or 0 for report in window.reports)
    if not achieved_rps:
        return False, False
    missing = answers / achieved_rps * rate_rps - answers
    is_large = missing >= max(BACKLOG_COUNT, BACKLOG_SHARE_OF_ALL * answers)
    return is_large, is_large


def _released_too_slowly(samples: SampleTable, rate_rps: float) -> bool:
    if not np.isfinite(samples.released_s).any():
        return False
    found = backlog(samples.intended_s, samples.released_s, rate_rps)
    return found is not None and found.is_saturated(rate_rps)


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
