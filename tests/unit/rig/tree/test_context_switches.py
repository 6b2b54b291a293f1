"""Context switches between two readings."""

from __future__ import annotations

import os
import sys
import time

import psutil
import pytest

from weighbridge.rig.tree.context_switches import Switches, between, read
from weighbridge.rig.tree.process_tree import Member


def test_only_what_living_threads_did_in_between_counts() -> None:
    """A new thread counts from nothing, one that ended not at all, and a number that fell is no debt."""
    before = {(1, 1): Switches(10, 5), (1, 2): Switches(100, 50), (1, 4): Switches(9, 9)}
    now = {(1, 1): Switches(13, 5), (1, 3): Switches(2, 1), (1, 4): Switches(1, 10)}

    assert between(before, now) == Switches(3 + 2, 1 + 1)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_every_sleep_is_a_switch() -> None:
    """A thread that goes to sleep gives the CPU away, each time."""
    members = [Member(os.getpid(), psutil.Process().create_time())]
    before = read(members)
    for _ in range(20):
        time.sleep(0.001)
    now = read(members)

    assert before is not None
    assert now is not None
    assert between(before, now).voluntary_count >= 20
