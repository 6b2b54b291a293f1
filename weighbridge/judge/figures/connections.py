"""Connections that a window opened, and how long each took: in no bracket of added time, so a leg of their own."""

from __future__ import annotations

import numpy as np

from weighbridge.judge.stats.timing import timing_or_absent
from weighbridge.record.figures import NOT_MEASURED, Absent, Figure
from weighbridge.record.measured import Values
from weighbridge.record.probe_tables import UNKNOWN, RequestTable

NOTHING_SENT = Absent(absent="no_samples")
# More connections opened than were ever needed at once: from this share of the requests on they were not kept alive.
LOST_SHARE = 0.05
LOST_COUNT = 5


def connection_figures(requests: RequestTable) -> Values:
    """Return connections opened per request, and the times in which they were opened, of every request that was sent.

    Those of the first requests are among them: they opened connections by rule, and have no other time.
    """
    sent = requests.sent_ns != UNKNOWN
    if not sent.any():
        return {"connect_ms": NOTHING_SENT, "connections_per_request": NOTHING_SENT}
    known = sent & (requests.connect_ns != UNKNOWN)
    return {
        "connect_ms": timing_or_absent(requests.connect_ns[known] / 1e9, NOT_MEASURED),
        "connections_per_request": Figure(value=opened_count(requests) / int(np.count_nonzero(sent))),
    }


def opened_count(requests: RequestTable) -> int:
    """Count the requests that had to open a connection."""
    return int(np.count_nonzero((requests.sent_ns != UNKNOWN) & (requests.reused == 0)))


def is_not_kept_alive(requests: RequestTable) -> bool:
    """Tell whether connections were opened that a gateway which keeps them would not have needed.

    At most as many as requests were open at once are needed. Beyond those, five and 5 % of the requests are allowed,
    for what a server closes in good order.
    """
    sent_count = int(np.count_nonzero(requests.sent_ns != UNKNOWN))
    lost = opened_count(requests) - _open_at_once(requests)
    return lost > max(LOST_COUNT, LOST_SHARE * sent_count)


def _open_at_once(requests: RequestTable) -> int:
    sent = requests.sent_ns != UNKNOWN
    if not sent.any():
        return 0
    starts = np.sort(requests.sent_ns[sent])
    ends = np.where(requests.end_ns[sent] == UNKNOWN, np.iinfo(np.int64).max, requests.end_ns[sent])
    return int((np.arange(1, len(starts) + 1) - np.searchsorted(np.sort(ends), starts, side="right")).max())
