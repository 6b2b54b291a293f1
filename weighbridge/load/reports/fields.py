"""Tolerant access to fields of a report that was decoded from JSON: a number, a count, a map, or nothing.

A missing section or a value of the wrong type reads as absent; only a table of counts that holds something else is
refused, for nothing may be concluded from such a report.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from weighbridge.errors import InputError

# wrk prints the largest unsigned 64-bit number where it has no sample.
NO_SAMPLE = 2.0**63


def section(document: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """Map that stands under `name`; an empty one when it is missing or no map."""
    value = document.get(name)
    return value if isinstance(value, Mapping) else {}


def number(value: object) -> float | None:
    """Finite number, or None for anything else (null, text, booleans, NaN, wrk's mark for no sample)."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    as_float = float(value) if abs(value) < 1e300 else math.inf
    return as_float if math.isfinite(as_float) and as_float < NO_SAMPLE else None


def count(value: object) -> int | None:
    """Whole number that is not negative, or None."""
    as_float = number(value)
    if as_float is None or as_float < 0 or as_float != int(as_float):
        return None
    return int(as_float)


def counts(document: Mapping[str, Any], name: str) -> dict[str, int]:
    """Table of counts under `name`, empty when it is missing; InputError when a value is no count."""
    found: dict[str, int] = {}
    for key, value in section(document, name).items():
        amount = count(value)
        if amount is None:
            raise InputError(f"the report is damaged: {name}[{key!r}] is {value!r}, which is no count")
        found[key] = amount
    return found


def successes(by_status: Mapping[str, int]) -> int:
    """Answers with a 2xx status among counts by status."""
    return sum(amount for status, amount in by_status.items() if status.startswith("2") and len(status) == 3)
