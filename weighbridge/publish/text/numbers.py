"""Numbers as this room writes them: `units` formats, this module adds what tables and sentences need around it.

Nothing else in the room rounds. Same number, same text, whatever the locale.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from weighbridge import units
from weighbridge.matrix.model import Grade

ABSENT = "–"

_SMOKE = "smoke"
_NEEDLESS_ZEROS = re.compile(r"(\d)\.0+(?= )")


def ms(value_ms: float) -> str:
    """Format milliseconds without the unit, which stands in the heading."""
    return units.format_ms(value_ms)


@dataclass(frozen=True)
class Digits:
    """How figures are written: with three digits, or with two where they are of a smoke run, which claims nothing."""

    is_rough: bool = False

    def ms(self, value: float) -> str:
        """Write milliseconds, or another number of any size, without a unit."""
        return units.format_rough(value) if self.is_rough else units.format_ms(value)

    def fine_us(self, value_ms: float) -> str:
        """Write milliseconds as microseconds without the unit."""
        return self.ms(value_ms * 1000)

    def rps(self, value_rps: float) -> str:
        """Write requests per second without the unit."""
        return units.format_rough(value_rps) if self.is_rough else rps(value_rps)

    def size(self, value_bytes: float) -> str:
        """Write bytes in the unit that fits."""
        if not self.is_rough:
            return size(value_bytes)
        return _NEEDLESS_ZEROS.sub(r"\1", units.format_bytes(value_bytes, units.format_rough))

    def share(self, ratio: float) -> str:
        """Write a share that may be large: only all is `100 %` and only none `0 %`."""
        is_between = 0.001 <= abs(ratio) <= 0.999
        return f"{units.format_rough(ratio * 100)} %" if self.is_rough and is_between else share(ratio)

    def error(self, ratio: float) -> str:
        """Write a small share with its sign."""
        return f"{self.ms(ratio * 100)} %"


def digits_of(grade: Grade) -> Digits:
    """Return how figures of a grade are written."""
    return Digits(is_rough=grade == _SMOKE)


def us(value_ms: float) -> str:
    """Format milliseconds as whole microseconds without the unit: `−12`."""
    return units.format_count(round(value_ms * 1000)).replace("-", "\N{MINUS SIGN}")


def fine_us(value_ms: float) -> str:
    """Format milliseconds as microseconds with three digits, without the unit: `31.0`, `0.42`."""
    return units.format_ms(value_ms * 1000)


def rps(value_rps: float) -> str:
    """Format requests per second without the unit."""
    return units.format_rps(value_rps)


def per_request(value: float) -> str:
    """Format a number of things per request, three digits."""
    return units.format_ms(value)


def short(value: float) -> str:
    """Format a number that the matrix states, as short as it was written: 50, 0.5, 1,500."""
    return f"{value:,.10g}"


def count(value: int) -> str:
    """Format a whole number."""
    return units.format_count(value)


def percent(ratio: float) -> str:
    """Format a small share: `−0.02 %`."""
    return f"{units.format_ms(ratio * 100)} %"


def share(ratio: float) -> str:
    """Format a share that may be large: `12.3 %`; only all is `100 %` and only none `0 %`."""
    if ratio in (0.0, 1.0):
        return f"{ratio * 100:.0f} %"
    if 0 < ratio < 0.001:
        return "< 0.1 %"
    return "> 99.9 %" if 0.999 < ratio < 1 else units.format_share(ratio)


def whole_share(ratio: float) -> str:
    """Format a share in whole per cent: `76 %`."""
    return f"{ratio * 100:.0f} %"


def size(value_bytes: float) -> str:
    """Format bytes in the unit that fits: `1 KiB`, `583 MiB`."""
    return _NEEDLESS_ZEROS.sub(r"\1", units.format_bytes(value_bytes))


def duration(value_s: float) -> str:
    """Format a time for people: `20 ms`, `4.5 s`, `3 min 20 s`."""
    return _NEEDLESS_ZEROS.sub(r"\1", units.format_duration(value_s))


def rough_duration(value_s: float) -> str:
    """Format a time whose seconds matter little: `45 s`, `4 min`."""
    return duration(float(round(value_s) if value_s < 60 else 60 * round(value_s / 60)))


def plural(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun: `1 run`, `3 runs`."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def listed(items: list[str]) -> str:
    """Join the items: `a`, `a and b`, `a, b and c`."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}" if items else "none"


def letters(index: int) -> str:
    """Return the footnote mark of a 0-based index: a to z, then aa, ab and so on."""
    text = ""
    index += 1
    while index:
        index, rest = divmod(index - 1, 26)
        text = chr(ord("a") + rest) + text
    return text
