"""Numbers with units: text of a flag or a YAML value to a number, and a number to text for people.

Inside, times are seconds, sizes bytes and rates requests per second; this module is the only place where they become
or come from text. It must not import anything of Weighbridge and must not read the locale: the same number gives the
same text everywhere.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

NS_PER_S = 1_000_000_000
NS_PER_MS = 1_000_000
MS_PER_S = 1000.0
DAY_S = 86_400.0

_NUMBER = r"[0-9]+(?:\.[0-9]+)?"
_WITH_UNIT = re.compile(rf"({_NUMBER})\s?([A-Za-zµμ]+)")
_DURATIONS_S = {"us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_SIZES_BYTES = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}

# How people write the units that we know; the right-hand side is what we suggest.
_MEANT_DURATION = {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "min": "m", "mins": "m", "minute": "m",
    "minutes": "m", "hr": "h", "hour": "h", "hours": "h", "msec": "ms", "millis": "ms", "usec": "us", "μs": "us",
}  # fmt: skip
_MEANT_SIZE = {
    "b": "B", "byte": "B", "bytes": "B", "k": "KiB", "kb": "KiB", "kib": "KiB", "ki": "KiB",
    "m": "MiB", "mb": "MiB", "mib": "MiB", "mi": "MiB", "g": "GiB", "gb": "GiB", "gib": "GiB", "gi": "GiB",
}  # fmt: skip


class NotAQuantity(ValueError):
    """A text that is no number of the kind asked for: `problem; expected`, and what may have been meant."""

    def __init__(self, problem: str, expected: str, suggestion: str = "") -> None:
        self.problem = problem
        self.expected = expected
        self.suggestion = suggestion
        meant = f". Did you mean {suggestion}?" if suggestion else ""
        super().__init__(f"{problem}; {expected}{meant}")


def parse_duration(text: str) -> float:
    """Seconds of a duration such as `20ms`, `30s`, `2m` or `1h`; raises NotAQuantity (a ValueError)."""
    expected = "expected a number with a unit, such as 20ms, 30s, 2m or 1h"
    number, unit = _split(text, "duration", expected, like="s")
    if unit not in _DURATIONS_S:
        meant = _MEANT_DURATION.get(unit.lower(), "")
        raise NotAQuantity(f"{text!r} has no known unit of time", expected, f"{number}{meant}" if meant else "")
    # Microseconds as whole numbers first: 3 * 1e-3 is 0.003, 20 * 1e-3 is 0.02, but 0.1 * 60 is not 6 everywhere.
    return round(float(number) * _DURATIONS_S[unit], 9)


def parse_size(text: str) -> int:
    """Bytes of a size such as `256B`, `1KiB` or `1.5MiB`; raises NotAQuantity (a ValueError)."""
    expected = "expected a number with a unit, such as 256B, 1KiB or 2MiB"
    number, unit = _split(text, "size", expected, like="B")
    if unit not in _SIZES_BYTES:
        meant = _MEANT_SIZE.get(unit.lower(), "")
        raise NotAQuantity(f"{text!r} has no known unit of size", expected, f"{number}{meant}" if meant else "")
    size = float(number) * _SIZES_BYTES[unit]
    if not size.is_integer():
        raise NotAQuantity(f"{text!r} is not a whole number of bytes", expected)
    return int(size)


def parse_rate(text: str) -> float:
    """Return the requests per second of `50`, `0.5` or `50/s`; raises NotAQuantity (a ValueError)."""
    expected = "expected requests per second above 0, such as 50 or 0.5"
    match = re.fullmatch(rf"({_NUMBER})(?:/s)?", text.strip(), re.ASCII)
    if match is None or float(match[1]) == 0:
        raise NotAQuantity(f"{text!r} is no rate", expected)
    return float(match[1])


def parse_count(text: str) -> int:
    """Read a whole number of at least 1; raises NotAQuantity (a ValueError)."""
    expected = "expected a whole number of at least 1"
    digits = text.strip()
    if not re.fullmatch(r"[0-9]{1,18}", digits, re.ASCII) or int(digits) < 1:
        plain = re.sub(r"[,_ ']", "", digits)
        meant = plain if re.fullmatch(r"[1-9][0-9]{0,17}", plain, re.ASCII) and plain != digits else ""
        raise NotAQuantity(f"{text!r} is no count", expected, meant)
    return int(digits)


def parse_port(text: str) -> int:
    """Read a port from 1 to 65535; raises NotAQuantity (a ValueError)."""
    digits = text.strip()
    if not re.fullmatch(r"[0-9]{1,5}", digits, re.ASCII) or not 1 <= int(digits) <= 65535:
        raise NotAQuantity(f"{text!r} is no port", "expected a whole number from 1 to 65535")
    return int(digits)


def format_ms(value_ms: float) -> str:
    """Milliseconds without the unit, three digits: `0.35`, `17.5`, `1,058`; a true minus sign."""
    return _three_digits(value_ms)


def format_rough(value: float) -> str:
    """Write a number with two significant digits, two decimals at most: `0.35`, `3.5`, `18`, `1,100`."""
    if not math.isfinite(value):
        raise ValueError(f"only a number can be shown, not {value}")
    if value == 0:
        return "0.00"
    size = math.floor(math.log10(abs(value)))
    rounded = round(value, 1 - size)
    size = math.floor(math.log10(abs(rounded)))
    return _signed(f"{rounded:,.{min(2, max(0, 1 - size))}f}")


def format_rps(value_rps: float) -> str:
    """Write requests per second without the unit: `19.5`, `136.1`, `1,204`."""
    return _signed(f"{value_rps:,.1f}" if abs(value_rps) < 999.95 else f"{value_rps:,.0f}")


def format_count(count: int) -> str:
    """Write a whole number with thousands: `1,000`."""
    return _signed(f"{count:,}")


def format_bytes(size_bytes: float, number: Callable[[float], str] = format_ms) -> str:
    """Write a size with its unit: `256 B`, `1.5 KiB`, `583 MiB`; `number` writes what is more than bytes."""
    if abs(size_bytes) < 1024:
        return _signed(f"{size_bytes:.0f} B")
    value, unit = size_bytes / 1024, "KiB"
    for larger in ("MiB", "GiB", "TiB"):
        if abs(value) < 1023.5:
            break
        value, unit = value / 1024, larger
    return f"{number(value)} {unit}"


def format_duration(duration_s: float) -> str:
    """Write a duration for people: `350 ms`, `4.5 s`, `45 s`, `3 min 20 s`, `1 h 05 min`."""
    if duration_s < 0:
        return "\N{MINUS SIGN}" + format_duration(-duration_s)
    if duration_s < 0.9995:
        return f"{_three_digits(duration_s * 1000)} ms" if duration_s else "0 s"
    if duration_s < 9.95:
        return f"{duration_s:.1f} s".replace(".0 s", " s")
    whole = round(duration_s)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s" if whole % 60 else f"{whole // 60} min"
    minutes = round(duration_s / 60)
    return f"{minutes // 60} h {minutes % 60:02d} min"


def format_share(ratio: float) -> str:
    """Write a ratio as a percentage with one decimal: `12.3 %`."""
    return _signed(f"{ratio * 100:.1f} %")


def _split(text: str, kind: str, expected: str, *, like: str) -> tuple[str, str]:
    stripped = text.strip()
    match = _WITH_UNIT.fullmatch(stripped)
    if match is not None and match[1].isascii():
        return match[1], match[2]
    if re.fullmatch(_NUMBER, stripped, re.ASCII):
        raise NotAQuantity(f"{text!r} has no unit", expected, f"{stripped}{like}")
    raise NotAQuantity(f"{text!r} is no {kind}", expected)


def _three_digits(value: float) -> str:
    if not math.isfinite(value):
        raise ValueError(f"only a number can be shown, not {value}")
    if abs(value) < 9.995:
        return _signed(f"{value:.2f}")
    return _signed(f"{value:.1f}" if abs(value) < 99.95 else f"{value:,.0f}")


def _signed(text: str) -> str:
    """Write a true minus sign, and none before a zero."""
    if text.startswith("-") and not any(digit in text for digit in "123456789"):
        return text[1:]
    return text.replace("-", "\N{MINUS SIGN}", 1)
