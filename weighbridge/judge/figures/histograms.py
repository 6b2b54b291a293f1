"""The histograms of one run: every time that the probe saw, by metric, ready to be merged by adding.

Kept beside the run. The rows are those behind the figures.
"""

from __future__ import annotations

from weighbridge.judge.figures.probe_figures import pick_rows, probe_times
from weighbridge.judge.window import Window
from weighbridge.record.figures import Absent
from weighbridge.record.histogram import Histograms, encode_all

HISTOGRAMS_FILE = "histograms.json"


def run_histograms(window: Window) -> Histograms | None:
    """Return one histogram a metric (`added_ns`, `forwarding_ns`, …); None for a window that no probe saw."""
    trace = window.trace
    if trace is None:
        return None
    found = probe_times(trace, pick_rows(trace))
    return encode_all(
        {
            f"{key.removesuffix('_ms')}_ns": values.ns
            for key, values in found.items()
            if not isinstance(values, Absent)
        }
    )
