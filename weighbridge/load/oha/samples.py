"""The sample table of an oha run: intended, released, sent, first byte and end of each request on the run's clock.

Where the samples hold release instants the schedule is rebuilt from them and arrivals that failed are kept with their
scheduled time. From CSV alone, all that an interrupt leaves, the i-th request by start belongs to slot i as long as
nothing failed before it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal

import numpy as np

from weighbridge.load.oha.argv import OhaArguments
from weighbridge.load.oha.rows import OhaRows
from weighbridge.load.reports.grid import Grid, rebuild
from weighbridge.record.arrays import Floats
from weighbridge.record.samples import SAMPLE_OUTCOMES, SampleTable, from_columns

# An end computed from a slot may lie this much before the first byte that was measured: the pacer's own lateness.
_SLACK_S = 0.05


@dataclass(frozen=True)
class OhaSamples:
    """The table, how the intended starts were found (`releases`, `order` or None) and the send rate, requests/s."""

    table: SampleTable
    intended_from: str | None
    sent_rps: float | None


def samples_of(
    rows: OhaRows, arguments: OhaArguments | None, *, corrected: bool, missing: Literal["failed", "censored"]
) -> OhaSamples:
    """Table of `rows`; `corrected`: durations count from the release; `missing`: what slots without a row became."""
    rate = arguments.rate_rps if arguments is not None else None
    scheduled = arguments.scheduled_count if arguments is not None else None
    unknown = np.full(len(rows), np.nan)
    if rate is None or scheduled is None or not corrected or not len(rows):
        # A failed request leaves no row, so fewer rows than arrivals say nothing of the rate of sending.
        whole = scheduled is None or len(rows) >= scheduled
        return OhaSamples(_table(rows, unknown, _ends(rows)), None, _sent_rps(rows, len(rows) - 1) if whole else None)
    if rows.corrected:
        grid = rebuild(rows.released_s, rate, scheduled)
        if grid is None:
            return OhaSamples(_table(rows, unknown, rows.end_s), None, None)
        table = _with_missing(_table(rows, grid.intended_s, rows.end_s), grid, missing)
        return OhaSamples(table, "releases", _sent_rps(rows, int(grid.slots.max() - grid.slots.min())))
    by_order = _by_order(rows, rate)
    if by_order is None:
        return OhaSamples(_table(rows, unknown, unknown), None, None)
    return OhaSamples(_table(rows, by_order, by_order + rows.duration_s), "order", _sent_rps(rows, len(rows) - 1))


def _ends(rows: OhaRows) -> Floats:
    """End of each request: as told, else start plus an uncorrected duration."""
    return np.where(np.isfinite(rows.end_s), rows.end_s, rows.start_s + rows.duration_s)


def _by_order(rows: OhaRows, rate_rps: float) -> Floats | None:
    """Scheduled times by the order of starts; None when they contradict the first bytes: something failed."""
    slots = np.arange(len(rows))
    base = float(np.min(rows.start_s - slots / rate_rps))
    intended: Floats = base + slots / rate_rps
    first_byte = np.where(np.isfinite(rows.first_byte_s), rows.first_byte_s, 0.0)
    fits = intended + rows.duration_s + _SLACK_S >= rows.start_s + first_byte
    return intended if bool(fits.all()) else None


def _table(rows: OhaRows, intended_s: Floats, end_s: Floats) -> SampleTable:
    return _ordered(
        from_columns(
            sent_s=rows.start_s,
            end_s=end_s,
            intended_s=intended_s,
            released_s=rows.released_s,
            first_byte_s=rows.start_s + rows.first_byte_s,
            status=rows.status,
            received_bytes=rows.body_bytes,
        )
    )


def _with_missing(table: SampleTable, grid: Grid, missing: Literal["failed", "censored"]) -> SampleTable:
    """Return the table with a row for each slot that nobody took, which has nothing but its scheduled time."""
    if not len(grid.untaken):
        return table
    nothing = np.full(len(grid.untaken), np.nan)
    outcome = np.full(len(grid.untaken), SAMPLE_OUTCOMES.index(missing), dtype=np.int64)
    lost = from_columns(sent_s=nothing, end_s=nothing, intended_s=grid.untaken_s, outcome=outcome)
    joined = {c.name: np.concatenate([getattr(table, c.name), getattr(lost, c.name)]) for c in fields(SampleTable)}
    return _ordered(SampleTable(**joined))


def _ordered(table: SampleTable) -> SampleTable:
    return table.where(np.lexsort((table.sent_s, table.intended_s)))


def _sent_rps(rows: OhaRows, arrivals: int) -> float | None:
    """Rate at which requests really left: arrivals from the first row to the last ÷ the time between them."""
    span = float(rows.start_s[-1] - rows.start_s[0]) if len(rows) > 1 else 0.0
    return arrivals / span if span > 0 else None
