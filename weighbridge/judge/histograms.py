"""The histograms of one run: every time that the probe saw, by metric, ready to be merged by adding.

Called by `campaign` after a probe's window; kept beside the run. The rows are those behind the figures.
"""

from __future__ import annotations

from weighbridge.judge.inband import pick_rows, times_ns
from weighbridge.judge.inputs import WindowFacts
from weighbridge.record.figures import Absent
from weighbridge.record.histogram import Histograms, encode_all

HISTOGRAMS_FILE = "histograms.json"


def run_histograms(window: WindowFacts) -> Histograms | None:
    """One histogram a metric (`added_ns`, `forwarding_ns`, …); None for a window that no probe saw."""
    facts = window.inband
    if facts is None:
        return None
    trim_count = window.load.connections if facts.trim_count is None else facts.trim_count
    found = times_ns(facts, pick_rows(facts, trim_count))
    return encode_all({f"{name}_ns": values for name, values in found.items() if not isinstance(values, Absent)})
