"""What a gateway reports of its own overhead, in the very requests whose added time is measured."""

from __future__ import annotations

from weighbridge.judge.figures.probe_figures import pick_rows
from weighbridge.judge.stats.timing import timing
from weighbridge.judge.window import Window
from weighbridge.record.figures import Absent, TimingOrAbsent
from weighbridge.record.probe_tables import UNKNOWN


def self_reported(window: Window | None) -> TimingOrAbsent:
    """Return the times that the gateway reported in the requests behind the added time of this window.

    They are of this load: a report at rest says nothing of one under load. Absent where no probe saw the requests,
    and where no answer had the header.
    """
    if window is None or window.trace is None:
        return Absent(absent="no_companion")
    requests = window.trace.requests
    rows = pick_rows(window.trace).selected & (requests.reported_ns != UNKNOWN)
    return timing(requests.reported_ns[rows] / 1e9) if rows.any() else Absent(absent="not_reported")
