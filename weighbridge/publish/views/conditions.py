"""What figures depend on, in the words of a table's heading: driver, provider, connections, logical CPUs, runs.

The CPU plan of a campaign is told the same way above each of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.judge.stats.binomial import median_ranks
from weighbridge.publish.text import numbers
from weighbridge.publish.text.load_wording import arrivals_text, load_text
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.views.cells import ONE_BOOT
from weighbridge.publish.views.headline import added_of
from weighbridge.publish.views.labels import MODE_TEXT, Names, answer_text
from weighbridge.record.campaign import CpuPlanFacts
from weighbridge.record.figures import Timing
from weighbridge.record.summary import CellSummary, Summary

# How drivers are worded; one that is not here has its name.
_DRIVER_WORDS = {"probe": "the built-in probe"}


def setting_text(summary: Summary, names: Names, cells: Sequence[CellSummary]) -> str:
    """Return the provider delay, drivers, connections, CPUs and runs behind a table, for its heading."""
    used = dict.fromkeys((cell.answer, cell.mode) for cell in sorted(cells, key=names.order))
    provider = []
    for answer, mode in used:
        if answer in names.answers:
            name = f" {plain(answer, limit=40)}" if "answer" in names.varies else ""
            provider.append(f"{answer_text(names.answers[answer], mode)} ({MODE_TEXT[mode]}{name})")
    return (
        f"The mock provider {' and '.join(provider) or 'answers by its own schedule'}. "
        f"{drivers_text(cells)}. {_connections_text(cells)}. {heading(summary)}"
    )


def drivers_text(cells: Sequence[CellSummary]) -> str:
    """Tell who drove and how the requests were spaced, and whose the added times are where it was another."""
    drivers = dict.fromkeys(cell.driver for cell in cells)
    reported = f"Driven by {numbers.listed([_DRIVER_WORDS.get(driver, driver) for driver in drivers])}"
    spaced = dict.fromkeys(text for cell in cells if (text := arrivals_text(cell.load)))
    reported += f", {' or '.join(spaced)}" if spaced else ""
    has_companion = any(cell.load.companion and isinstance(added_of(cell), Timing) for cell in cells)
    whose = "; added time is measured by the companion probe, a part of the rate" if has_companion else ""
    return reported + whose


def heading(summary: Summary) -> str:
    """Return the CPUs and runs, for tables that need no more."""
    start = "On " if summary.provenance.cpu_plan is None else ""
    return f"{start}{cores_text(summary)}; {runs_text(summary)}."


def cores_text(summary: Summary) -> str:
    """Tell who had which logical CPUs: `2 logical CPUs shared by gateway, mocks and load generator`, or the plan."""
    cores = numbers.plural(summary.host.cpu_count, "logical CPU")
    plan = summary.provenance.cpu_plan
    return f"{cores} shared by gateway, mocks and load generator" if plan is None else _plan_text(plan, cores)


def runs_text(summary: Summary) -> str:
    """Tell how many accepted runs stand behind a value, what stands below it, and what that covers."""
    return f"{value_text(summary)}, below it {spread_text(summary)}: {ONE_BOOT}"


def value_text(summary: Summary) -> str:
    """Return `each value is the median of 3 accepted runs`."""
    runs = summary.provenance.runs
    return f"each value is {'that of one run' if runs == 1 else f'the median of {runs} accepted runs'}"


def spread_text(summary: Summary) -> str:
    """Tell what the interval beside a value is; by Student's t in what method version 1 wrote."""
    runs = summary.provenance.runs
    ranks = median_ranks(runs)
    if any(_is_by_t(cell) for cell in summary.cells):
        return "its 95 % interval by Student’s t over the runs"
    if runs == 1:
        return "its 95 % interval by ranks, widened by the scatter of 20 consecutive batches"
    if ranks is None:
        return "the lowest to the highest of them"
    return f"its 95 % interval, ranks {ranks[0]} and {ranks[1]} of {numbers.count(runs)}"


def _is_by_t(cell: CellSummary) -> bool:
    found = cell.timing("response_ms")
    p50 = found.interval.p50 if isinstance(found, Timing) and found.interval is not None else None
    return p50 is not None and p50.kind == "t"


def _plan_text(plan: CpuPlanFacts, cores: str) -> str:
    parts = (("gateway", plan.gateway), ("mocks", plan.mocks), ("load generator", plan.driver))
    reported = [f"{who} on {'CPU' if len(cpus) == 1 else 'CPUs'} {_ranges(cpus)}" for who, cpus in parts]
    return f"CPU plan of {cores}, the same for every lane: {numbers.listed(reported)}"


def _ranges(cpus: Sequence[int]) -> str:
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    return ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs) or "none"


def _connections_text(cells: Sequence[CellSummary]) -> str:
    caps = sorted({cell.load.connections for cell in cells})
    if len(caps) == 1:
        return f"Connections: at most {numbers.count(caps[0])}"
    by_load: dict[str, set[int]] = {}
    for cell in sorted(cells, key=lambda cell: cell.load.size):
        by_load.setdefault(load_text(cell.load), set()).add(cell.load.connections)
    parts = [f"{' or '.join(map(numbers.count, sorted(caps)))} at {load}" for load, caps in by_load.items()]
    return f"Connections: at most {numbers.listed(parts)}"
