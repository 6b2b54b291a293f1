"""A cell's figure needs two thirds of its accepted runs, and says where it is not of all (METHOD 5)."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from weighbridge.judge.stats.intervals import interval
from weighbridge.record.figures import NOT_MEASURED, Absent, Figure, Timing
from weighbridge.record.measured import Values
from weighbridge.record.metrics import METRICS


def too_few(known_count: int, absent: Sequence[Absent]) -> Absent | None:
    """Return why a figure that `known_count` runs have, and others lack for these reasons, is none; else None.

    Where no run has it, that is the reason of the runs themselves.
    """
    if 3 * known_count >= 2 * (known_count + len(absent)):
        return None
    why = next((one for one in absent if one != NOT_MEASURED), absent[0])
    if not known_count:
        return why
    total = known_count + len(absent)
    have = "has" if known_count == 1 else "have"
    return Absent(absent="too_few_runs", detail=f"{known_count} of {total} runs {have} it; of the others: {why.text}")


def median_over(known: Sequence[float], lacking_count: int, why: Absent) -> Figure | Absent:
    """Return the median of the runs that have a value, with its spread; `why` others lack it, or too few have it."""
    absent = too_few(len(known), [why] * lacking_count) if known else why
    return absent or Figure(
        value=statistics.median(known),
        low=min(known),
        high=max(known),
        interval=interval(known),
        run_count=len(known),
        missing_run_count=lacking_count,
    )


def flags(figures: Values) -> Iterator[str]:
    """Yield the flag of a cell in which a figure is of some accepted runs only."""
    shown = (value for key, value in figures.items() if not METRICS[key].with_rejected)
    if any(isinstance(one, Timing | Figure) and one.missing_run_count for one in shown):
        yield "figures_of_some_runs"
