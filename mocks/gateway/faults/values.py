"""The value behind a fault's name, read strictly; raises ValueError with a sentence."""

from __future__ import annotations

import re

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s)")
_UNITS_NS = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def read_count(text: str, default: int | None = None) -> int:
    """Read a whole number from 1 up."""
    if not text and default is not None:
        return default
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"the fault needs a whole number from 1 up behind its name, not {text!r}")
    return int(text)


def read_duration_ns(text: str) -> int:
    """Read a duration such as 30ms, in nanoseconds."""
    match = _DURATION.fullmatch(text)
    if match is None:
        raise ValueError(f"the fault needs a duration such as 30ms behind its name, not {text!r}")
    return round(float(match[1]) * _UNITS_NS[match[2]])


def read_rate(text: str) -> float:
    """Read a rate in requests per second, above 0."""
    try:
        rate_rps = float(text)
    except ValueError:
        rate_rps = 0.0
    if not 0 < rate_rps < 1e6:
        raise ValueError(f"the fault needs a rate in requests per second behind its name, not {text!r}")
    return rate_rps


def read_nothing(text: str) -> None:
    """No value at all."""
    if text:
        raise ValueError(f"the fault takes no value, but {text!r} was given")
