"""The certificate in a terminal: the table of known delays and a line for all else.

A campaign that did not calibrate tells in one sentence whose certificate it relies on.
"""

from __future__ import annotations

from collections.abc import Sequence

from tabulate import tabulate

from weighbridge.publish.calibration.certificate import facts, grouped, outcome, own_certificate, verdict_text
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.views.cells import GREY
from weighbridge.record.certificate import Certificate, DelayResult
from weighbridge.record.figures import PERCENTILES
from weighbridge.record.summary import Summary


def certificate_text(summary: Summary) -> str:
    """Return the paragraphs about the certificate: all of a calibration, one sentence of any other campaign."""
    found = own_certificate(summary)
    if found is None:
        return verdict_text(summary)
    reported = tabulate([[fact.name, fact.text] for fact in facts(found)], tablefmt="plain", disable_numparse=True)
    problems = [f"- {plain(text)}" for text in found.problems]
    return "\n\n".join([_delays(found), reported, "\n".join([verdict_text(summary), *problems])])


def _delays(found: Certificate) -> str:
    heads = [
        "delay",
        "known\np50, ms",
        *(f"error of\nadded {name}" for name in PERCENTILES),
        *(f"worst\n{name}" for name in PERCENTILES),
        *(f"error of\nshift {name}" for name in PERCENTILES),
        "n",
        "outcome",
    ]
    sides = ("left", *("right",) * 11, "left")
    parts = []
    for group in grouped(found):
        rows = [_row(rows) for rows in group.delays]
        table = tabulate(rows, headers=heads, tablefmt="simple", disable_numparse=True, colalign=sides)
        parts.append(f"Certificate: {group.title}, errors in µs\n\n{table}")
    return "\n\n".join(parts) or "Certificate: no known delay was measured"


def _row(rows: Sequence[DelayResult]) -> list[str]:
    first = rows[0]
    return [
        plain(first.delay, limit=60),
        numbers.ms(first.known_ms),
        *(numbers.us(row.added_error_ms) + ("" if row.judged else GREY) for row in rows),
        *(numbers.us(row.worst_added_error_ms) for row in rows),
        *(numbers.us(row.shift_error_ms) for row in rows),
        numbers.count(first.sample_count),
        outcome(rows),
    ]
