"""Goodput within stated bounds: which share of the good responses came in time, counted from the intended start.

A bound on the first content needs a probe, which alone knows it; beside another driver its share stands for all.
"""

from __future__ import annotations

import numpy as np

from weighbridge.judge.figures.looked_at import sized_answers
from weighbridge.judge.figures.stamps import good_requests
from weighbridge.judge.window import Trace, Window
from weighbridge.matrix.requests import GoodputBounds
from weighbridge.record.arrays import Floats
from weighbridge.record.figures import Absent, Figure, FigureOrAbsent
from weighbridge.record.probe_tables import UNKNOWN

NO_FIRST_CONTENT = Absent(absent="not_reported_by_driver", detail="no probe saw when the first content came")
NO_TIMES = Absent(absent="no_samples")


def goodput_within(goodput: FigureOrAbsent, window: Window) -> FigureOrAbsent:
    """Return the goodput of responses within the bounds of the window's matrix; as it is where it states none."""
    bounds = window.goodput_bounds
    if bounds is None or isinstance(goodput, Absent):
        return goodput
    share = _share(window, bounds)
    return share if isinstance(share, Absent) else Figure(value=goodput.value * share)


def _share(window: Window, bounds: GoodputBounds) -> float | Absent:
    if bounds.ttft_s is not None and window.mode == "stream":
        trace = window.trace
        return NO_FIRST_CONTENT if trace is None else _share_of_trace(trace, bounds, window.load.has_schedule)
    samples = window.lead.samples
    if samples is None or window.lead.cut:
        return NO_TIMES
    begun_s = samples.intended_s if window.load.has_schedule else samples.sent_s
    return _share_of(samples.end_s[sized_answers(samples)] - begun_s[sized_answers(samples)], bounds.end_s)


def _share_of_trace(trace: Trace, bounds: GoodputBounds, has_schedule: bool) -> float | Absent:
    rows = trace.requests.where(good_requests(trace.requests))
    begun_ns = rows.intended_ns if has_schedule else rows.sent_ns
    to_first_s = np.where(rows.first_content_ns == UNKNOWN, np.inf, (rows.first_content_ns - begun_ns) / 1e9)
    is_late = to_first_s > (np.inf if bounds.ttft_s is None else bounds.ttft_s)
    return _share_of(np.where(is_late, np.inf, (rows.end_ns - begun_ns) / 1e9), bounds.end_s)


def _share_of(times_s: Floats, end_s: float | None) -> float | Absent:
    if not len(times_s):
        return NO_TIMES
    in_time = np.isfinite(times_s) if end_s is None else times_s <= end_s
    return float(np.mean(in_time))
