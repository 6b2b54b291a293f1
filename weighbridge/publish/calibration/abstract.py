"""The first three sentences of a calibration's page: whether it passed, how far off it is, what it cannot tell apart.

Errors are those of mixed lanes, of median blocks.
"""

from __future__ import annotations

from weighbridge.publish.calibration.certificate import AROUND
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.record.certificate import Certificate, DelayResult
from weighbridge.record.figures import PERCENTILES

_MOST_NAMED = 3


def calibration_abstract(found: Certificate) -> tuple[str, str, str]:
    """Return the verdict, the errors beside those of the shift, and what this host cannot tell apart."""
    return (_verdict(found), _errors(found), _fineness(found))


def _verdict(found: Certificate) -> str:
    judged = [row for row in found.known_delays if row.judged]
    off = [row for row in judged if not row.passed]
    word = "passed" if found.passed else "failed"
    kind = " in a hurry, so its certificate is provisional" if found.provisional else ""
    host = f"{plain(found.host.cpu_model, limit=80)}, " if found.host.cpu_model else ""
    start = (
        f"On this machine ({host}{numbers.plural(found.host.cpu_count, 'logical CPU')}) Weighbridge {word} its "
        f"calibration{kind}: {numbers.count(len(judged) - len(off))} of {numbers.plural(len(judged), 'percentile')} "
        f"of known delays were found again within their limits"
    )
    if not off:
        others = numbers.plural(len(found.problems), "other problem")
        return f"{start}; {others} below." if found.problems else f"{start}."
    rest = len(off) - _MOST_NAMED
    named = [_off_text(row) for row in sorted(off, key=_excess, reverse=True)[:_MOST_NAMED]]
    return f"{start}; off were {'; '.join([*named, *([f'{numbers.count(rest)} more'] if rest > 0 else [])])}."


def _excess(row: DelayResult) -> float:
    return abs(row.added_error_ms) / row.limit_ms if row.limit_ms else 0.0


def _off_text(row: DelayResult) -> str:
    how = AROUND[row.condition] if row.arrangement == "mixed" else "in a cell of its own"
    return (
        f"{row.figure} of {plain(row.delay, limit=60)}, {row.mode}, {how}, by {numbers.us(row.added_error_ms)} µs "
        f"(limit {numbers.us(row.limit_ms)})"
    )


def _errors(found: Certificate) -> str:
    rows = [row for row in found.known_delays if row.judged and row.arrangement == "mixed"]
    reported = [
        f"{numbers.us(max(errors))} µs at {figure}"
        for figure in PERCENTILES
        if (errors := [abs(row.added_error_ms) for row in rows if row.figure == figure])
    ]
    if not reported:
        return "No percentile of a known delay had requests enough to be judged."
    start = f"Over all known delays the added time of mixed lanes is off by at most {numbers.listed(reported)}"
    ratios = [one.ratio for one in found.jitter if one.judged and one.ratio is not None]
    if not ratios:
        return f"{start}."
    low, high = (numbers.count(round(ratio)) for ratio in (min(ratios), max(ratios)))
    times = f"{low} times" if low == high else f"{low} to {high} times"
    return f"{start}; while the provider's own time jitters the shift is {times} further off."


def _fineness(found: Certificate) -> str:
    detected = sum(1 for fault in found.faults if fault.detected)
    faults = f"injected faults that a check detected: {numbers.count(detected)} of {numbers.count(len(found.faults))}"
    widths = [one for one in found.resolution if one.arrangement == "mixed"]
    if not widths:
        return f"What this host cannot tell apart was not measured; {faults}."
    reported = [
        f"±{numbers.us(max(one.half_width_ms for one in widths if one.figure == figure))} µs at {figure}"
        for figure in PERCENTILES
        if any(one.figure == figure for one in widths)
    ]
    return (
        f"Two equal lanes differ on this host by up to {numbers.listed(reported)} in one block, so a smaller "
        f"difference of two gateways in one block says nothing; {faults}."
    )
