"""What oha was asked for, read from its arguments: counts, rate, time limit, correction.

Options that do not matter are skipped, with their values. Arguments that are not oha's raise InputError.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weighbridge.errors import InputError

DEFAULT_COUNT = 200
DEFAULT_CONNECTIONS = 50

# fmt: off
_LONG_WITH_VALUE = frozenset({
    "--aws-session", "--aws-sigv4", "--burst-delay", "--burst-rate", "--cacert", "--cert", "--connect-timeout",
    "--connect-to", "--db-url", "--dump-urls", "--form", "--fps", "--host", "--http-version", "--key", "--max-repeat",
    "--method", "--output", "--output-format", "--proxy-header", "--proxy-http-version", "--redirect", "--time-unit",
    "--unix-socket", "--worker-threads",
})
# fmt: on
_SHORT_WITH_VALUE = frozenset("ncpzqmHtAdDZFTaxrou")
_OHA_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]*)\s*")
_OHA_UNITS_S = {
    **dict.fromkeys(("ns", "nsec"), 1e-9),
    **dict.fromkeys(("us", "usec"), 1e-6),
    **dict.fromkeys(("ms", "msec"), 1e-3),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), 1.0),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), 60.0),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), 3600.0),
}


@dataclass(frozen=True)
class OhaArguments:
    """The plan of one oha run. `duration_s` None: a fixed number of requests; `rate_rps` None: no known rate."""

    count: int
    duration_s: float | None
    rate_rps: float | None
    paced: bool
    correction: bool
    in_flight_cap_count: int
    timeout_s: float | None

    @property
    def scheduled_count(self) -> int | None:
        """Arrivals that were planned: N, or ⌊R·T⌋ + 1 under a time limit; None in a closed loop under one."""
        if self.duration_s is None:
            return self.count
        if self.rate_rps is None:
            return None
        return math.floor(round(self.rate_rps * self.duration_s, 9)) + 1


def parse_argv(argv: Sequence[str]) -> OhaArguments:
    """Read the plan behind `argv` (with or without the program's name in front); InputError for what is not oha's."""
    given = _options(argv)
    duration = given.get("-z")
    rate, burst = given.get("-q"), given.get("--burst-delay")
    # Before 1.11.0 a time limit silently won over -n; since then both together are refused by oha itself.
    return OhaArguments(
        count=_count(given["-n"]) if "-n" in given else DEFAULT_COUNT,
        duration_s=_seconds(duration) if duration is not None else None,
        rate_rps=_rate(rate) if rate is not None else None,
        paced=(rate is not None and _rate(rate) is not None) or burst is not None,
        correction="--latency-correction" in given,
        in_flight_cap_count=(_count(given["-c"]) if "-c" in given else DEFAULT_CONNECTIONS)
        * (_count(given["-p"]) if "-p" in given else 1),
        timeout_s=_seconds(given["-t"]) if "-t" in given else None,
    )


def _options(argv: Sequence[str]) -> dict[str, str]:
    """Options with the value that each was given last (`""` for a switch)."""
    words = list(argv)
    if words and not words[0].startswith("-"):
        program = Path(words.pop(0)).name
        if program.startswith("wrk"):
            raise InputError(f"these are arguments of {program}, but the report is of oha")
    found: dict[str, str] = {}
    while words:
        word = words.pop(0)
        if not word.startswith("-") or word == "-":
            continue
        name, equals, value = word.partition("=")
        if not word.startswith("--") and word[1] in _SHORT_WITH_VALUE:
            name, value = word[:2], word[2:].removeprefix("=")
            equals = value
        if (name in _LONG_WITH_VALUE or name[1:] in _SHORT_WITH_VALUE) and not equals:
            if not words:
                raise InputError(f"the arguments of oha end behind {name}, which needs a value")
            value = words.pop(0)
        found[name] = value
    return found


def _count(text: str) -> int:
    suffixes = {"k": 1_000, "m": 1_000_000}
    digits, scale = (text[:-1], suffixes[text[-1].lower()]) if text[-1:].lower() in suffixes else (text, 1)
    if not digits.isdecimal():
        raise InputError(f"{text!r} in the arguments of oha is no number of requests or connections")
    return int(digits) * scale


def _rate(text: str) -> float | None:
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not math.isfinite(rate) or rate < 0:
        raise InputError(f"{text!r} in the arguments of oha is no rate")
    # oha takes a rate of 0 as no limit at all.
    return rate or None


def _seconds(text: str) -> float:
    parts = _OHA_DURATION.findall(text)
    if not parts or _OHA_DURATION.sub("", text).strip() or any(unit not in _OHA_UNITS_S for _, unit in parts):
        raise InputError(f"{text!r} in the arguments of oha is no duration such as 30s")
    return sum(float(amount) * _OHA_UNITS_S[unit] for amount, unit in parts)
