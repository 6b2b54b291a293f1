"""The self-reported overhead is that of the requests behind the added time, and of no others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.examples.judge_examples import clients_load, closed_loop, window
from tests.examples.trace_examples import MS, plain, traced_window
from weighbridge.judge.figures.self_report import self_reported
from weighbridge.record.figures import Absent, Timing
from weighbridge.record.probe_tables import UNKNOWN


def test_it_is_of_the_requests_that_are_measured() -> None:
    """A gateway that reports 9 ms in the requests that open connections and 2 ms in the others reports 2 ms."""
    requests = plain(300)
    reported = np.where(np.arange(300) < 20, 9 * MS, 2 * MS)
    found = self_reported(traced_window(replace(requests, reported_ns=reported), trim_count=20))
    assert isinstance(found, Timing)
    assert (found.p50, found.p95, found.n) == (pytest.approx(2.0), pytest.approx(2.0), 280)


def test_without_a_probe_or_a_header_there_is_none() -> None:
    """A driver that went alone read no header; answers without the header report nothing."""
    load = clients_load(1, 100)
    for unseen in (None, window(load, closed_loop(load, 0.02))):
        assert self_reported(unseen) == Absent(absent="no_companion")
    silent = replace(plain(50), reported_ns=np.full(50, UNKNOWN))
    assert self_reported(traced_window(silent)) == Absent(absent="not_reported")
