"""Stop signals in this very process and in one of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import pytest

from weighbridge.errors import Interrupted
from weighbridge.rig.processes.signals import STOP_SIGNALS, StopSignals, deferred

THREE = """
import os, signal, sys
from weighbridge.rig.processes.signals import StopSignals, deferred
with StopSignals(), deferred():
    for _ in range(int(sys.argv[1])):
        os.kill(os.getpid(), signal.SIGINT)
    print("here", flush=True)
"""


def _send(number: int) -> None:
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", STOP_SIGNALS)
def test_the_first_signal_raises_with_its_number(number: signal.Signals) -> None:
    """Each of the three becomes Interrupted with exit code 128 + n."""
    with pytest.raises(Interrupted) as detected, StopSignals():
        _send(number)
    assert detected.value.exit_code == 128 + number


def test_later_signals_do_not_cut_the_clean_up() -> None:
    """A second signal while the first one's clean-up runs is noted and nothing more."""
    signals = StopSignals()
    done = []

    def work() -> None:
        try:
            _send(signal.SIGTERM)
        finally:
            _send(signal.SIGINT)
            _send(signal.SIGHUP)
            done.append("cleaned")

    with pytest.raises(Interrupted) as detected, signals:
        work()
    assert detected.value.signal_number == signal.SIGTERM
    assert done == ["cleaned"]
    assert signals.received == [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]


def test_a_deferred_step_runs_to_its_end() -> None:
    """Inside nested deferred blocks a signal waits for the end of the outermost one."""
    steps = []

    def work() -> None:
        with deferred():
            with deferred():
                _send(signal.SIGINT)
                steps.append("inner")
            steps.append("outer")
        steps.append("never")

    with pytest.raises(Interrupted), StopSignals():
        work()
    assert steps == ["inner", "outer"]


def test_an_interrupt_wins_over_the_fault_of_a_deferred_step() -> None:
    """When the deferred step itself fails, the signal is what goes up."""

    def fail() -> None:
        _send(signal.SIGTERM)
        raise ValueError

    with pytest.raises(Interrupted), StopSignals(), deferred():
        fail()


def test_a_swallowed_interrupt_is_raised_at_the_end() -> None:
    """A signal whose exception got lost in a destructor still ends the block with Interrupted."""
    seen = []

    class Loses:
        def __del__(self) -> None:
            try:
                _send(signal.SIGTERM)
            except Interrupted:
                seen.append("lost")

    def work() -> None:
        Loses()
        seen.append("went on")

    with pytest.raises(Interrupted), StopSignals():
        work()
    assert seen == ["lost", "went on"]


def test_handlers_are_given_back() -> None:
    """After the block the handlers are those of before, and deferred blocks change nothing."""
    before = [signal.getsignal(number) for number in STOP_SIGNALS]
    with StopSignals():
        assert [signal.getsignal(number) for number in STOP_SIGNALS] != before
    assert [signal.getsignal(number) for number in STOP_SIGNALS] == before
    with deferred():
        assert [signal.getsignal(number) for number in STOP_SIGNALS] == before


def test_hup_stays_ignored_under_nohup() -> None:
    """Who started us with HUP ignored does not want it to stop us."""
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with StopSignals() as signals:
            _send(signal.SIGHUP)
        assert signals.received == []
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize(("count", "reaches"), [(2, b"here\n"), (3, b"")])
def test_the_third_int_ends_the_process_at_once(count: int, reaches: bytes) -> None:
    """Two INTs wait for the end of a deferred step; the third ends the process with 130 in its middle."""
    done = subprocess.run([sys.executable, "-c", THREE, str(count)], capture_output=True, check=False, timeout=60)
    assert done.stdout == reaches
    assert (done.returncode == 130) == (count == 3)
