"""Cost figures of a cell: memory with the reason of its kind where it was not read, and what counted the CPU."""

from __future__ import annotations

from tests.examples.judge_examples import clients_load, plan, run
from tests.golden.campaigns import spread_figure
from weighbridge.judge.cell.merging import merge
from weighbridge.judge.cell.rates_and_costs import PSS, RSS
from weighbridge.judge.cell.verdict import CellAttempts, outcome
from weighbridge.record.figures import Absent, Figure
from weighbridge.record.run import Resources

LOAD = clients_load(1, 100)
MEMORY = (*RSS, *PSS)


def cost(*used: Resources):
    """Figures of a cell over runs that used this."""
    cell = plan("reference.none.work.plain.clients-1", LOAD)
    runs = tuple(run(cell.cell, block, None, resources=one) for block, one in enumerate(used, start=1))
    attempts = CellAttempts(plan=cell, runs=runs, wanted=len(runs), status="complete")
    return merge(attempts, outcome(attempts))


def test_memory_is_the_median_of_each_reading() -> None:
    """Idle, peak and after are figures of their own with the spread of the runs."""
    found = cost(*(Resources(rss_idle_bytes=n, rss_after_bytes=2 * n, pss_idle_bytes=n // 2) for n in (10, 30, 20)))
    assert found["rss_idle_bytes"] == spread_figure(20, 10, 30)
    assert found["rss_after_bytes"] == spread_figure(40, 20, 60)
    assert found["pss_idle_bytes"] == spread_figure(10, 5, 15)


def test_one_reason_stands_for_all_readings_of_a_kind() -> None:
    """A process that ended leaves no reading of RSS; what the kernel does not report leaves none of PSS."""
    reported = {
        "rss_peak_bytes": "process_ended",
        "rss_after_bytes": "process_ended",
        "pss_idle_bytes": "not_reported_by_kernel",
    }
    found = cost(Resources(absent={key: Absent(absent=code) for key, code in reported.items()}))
    assert {name: found[name] for name in MEMORY} == {
        name: Absent(absent="process_ended" if name.startswith("rss") else "not_reported_by_kernel")
        for name in MEMORY
    }


def test_sources_are_told_once_each() -> None:
    """Two runs counted by two clocks name both, in one order whichever came first."""
    runs = (Resources(cpu_from="process_clock", rss_peak_from="window"), Resources(cpu_from="cgroup2"))
    for order in (runs, runs[::-1]):
        assert cost(*order)["cpu_from"] == ("cgroup2", "process_clock")
        assert cost(*order)["rss_peak_from"] == ("window",)


def test_idle_flushes_stand_beside_those_of_the_window() -> None:
    """The device's own flushes per second are a figure; without a counter the reason is the counter's."""
    assert cost(Resources(flush_idle_rps=0.5))["flush_idle_rps"] == Figure(value=0.5, low=0.5, high=0.5)
    assert cost(Resources(absent={"flush_count": Absent(absent="no_device")}))["flush_idle_rps"] == Absent(
        absent="no_device"
    )
