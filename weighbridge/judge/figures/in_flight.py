"""How many requests were open at a time, by a sweep over starts and ends.

A request without an end stays open; one that was never sent was never open.
"""

from __future__ import annotations

import numpy as np

from weighbridge.record.arrays import Floats, Ints
from weighbridge.record.samples import SampleTable


def in_flight_max(samples: SampleTable) -> int | None:
    """Return the most requests open at once; None without a start. An end at the instant of a start comes first."""
    sent = _sent(samples)
    if not len(sent):
        return None
    starts = np.sort(sent)
    ends = np.sort(_ends(samples))
    opened = np.arange(1, len(starts) + 1)
    closed = np.searchsorted(ends, starts, side="right")
    return int((opened - closed).max())


def in_flight_mean(samples: SampleTable, begin_s: float, end_s: float) -> float | None:
    """Return how many requests were open on average from one instant to another; None for no time between them."""
    begun = np.isfinite(samples.sent_s)
    open_s = np.minimum(_ends(samples), end_s) - np.maximum(samples.sent_s[begun], begin_s)
    return float(np.maximum(open_s, 0.0).sum() / (end_s - begin_s)) if end_s > begin_s else None


def in_flight_at_start(samples: SampleTable) -> tuple[Floats, Ints]:
    """Return the service time of each answered request and how many others were open as it was sent."""
    done = np.isfinite(samples.sent_s) & np.isfinite(samples.end_s)
    sent, end = samples.sent_s[done], samples.end_s[done]
    others_begun = np.searchsorted(np.sort(_sent(samples)), sent, side="left")
    others_ended = np.searchsorted(np.sort(_ends(samples)), sent, side="right")
    return end - sent, (others_begun - others_ended).astype(np.int64)


def _sent(samples: SampleTable) -> Floats:
    return samples.sent_s[np.isfinite(samples.sent_s)]


def _ends(samples: SampleTable) -> Floats:
    begun = np.isfinite(samples.sent_s)
    ends = samples.end_s[begun]
    return np.where(np.isfinite(ends), ends, np.inf)
