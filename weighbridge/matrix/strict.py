"""What the YAML documents are made of: frozen strict models, and numbers that carry unit and limits.

Every check of one value lives here and says itself what it expected; checks across values live beside the documents.
Nothing here reads a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict
from pydantic_core import PydanticCustomError

from weighbridge import units

# What is kept in records as it is: strict, and no key more.
STRICT = ConfigDict(strict=True, extra="forbid")


class Strict(BaseModel):
    """A frozen document part: unknown keys are refused, no value is turned into another type."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", allow_inf_nan=False)


def refused(problem: str, expected: str, suggestion: str = "") -> PydanticCustomError:
    """Error that a check of one value raises; `explain` makes the sentence of it."""
    facts = {"problem": problem, "expected": expected, "suggestion": suggestion}
    return PydanticCustomError("refused", "{problem}; {expected}", facts)


def shown(value: object) -> str:
    """Name a value as a sentence does: `'abc'`, `12`, `true`, `a list`, `nothing`."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return "a mapping"
    if isinstance(value, (list, tuple)):
        return "a list"
    if isinstance(value, str):
        return repr(value if len(value) <= 60 else value[:57] + "…")
    return f"{value}"


def whole(low: int, high: int, example: str = "") -> BeforeValidator:
    """Check of a whole number within limits that belong to the range."""
    expected = f"expected a whole number from {low:,} to {high:,}{example and f', such as {example}'}"

    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, int):
            raise refused(f"{shown(value)} is no whole number", expected, _plain_digits(value))
        if not low <= value <= high:
            raise refused(f"{value:,} is out of range", expected)
        return value

    return BeforeValidator(check)


def whole_or_auto(low: int, high: int, what: str) -> BeforeValidator:
    """Check of a whole number within limits, or `auto`, which becomes None; `what` is counted, such as `requests`."""

    def check(value: object) -> object:
        if value == "auto":
            return None
        if isinstance(value, bool) or not isinstance(value, int):
            suggestion = _plain_digits(value) or "auto"
            raise refused(f"{shown(value)} is no number of {what}", "expected auto or a whole number", suggestion)
        if not low <= value <= high:
            expected = f"expected auto or a whole number from {low:,} to {high:,}"
            raise refused(f"{value:,} is out of range", expected)
        return value

    return BeforeValidator(check)


def number(low: float, high: float, what: str) -> BeforeValidator:
    """Check of a number within limits that belong to the range; `what` names it, such as `requests per second`."""
    expected = f"expected {what} from {low:,g} to {high:,g}"

    def check(value: object) -> object:
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise refused(f"{shown(value)} is no number", expected, _plain_digits(value))
        if not low <= value <= high:
            raise refused(f"{value:,} is out of range", expected)
        return float(value)

    return BeforeValidator(check)


def duration(low_s: float, high_s: float) -> BeforeValidator:
    """Check that turns text such as `30s` into seconds within limits that belong to the range."""
    expected = f"expected a duration from {_short(low_s)} to {_short(high_s)}"
    return _with_unit(units.parse_duration, low_s, high_s, expected)


def size(low_bytes: int, high_bytes: int) -> BeforeValidator:
    """Check that turns text such as `1KiB` into bytes within limits that belong to the range."""
    expected = f"expected a size from {_bytes(low_bytes)} to {_bytes(high_bytes)}"
    return _with_unit(units.parse_size, low_bytes, high_bytes, expected)


def matching(pattern: str, expected: str) -> BeforeValidator:
    """Check of a text against a whole regular expression."""
    compiled = re.compile(pattern, re.ASCII)

    def check(value: object) -> object:
        if not isinstance(value, str):
            raise refused(f"{shown(value)} is no text", expected)
        if not compiled.fullmatch(value):
            raise refused(f"{shown(value)} cannot be used here", expected)
        return value

    return BeforeValidator(check)


def _as_text(value: object) -> object:
    """Text of a text, a whole number, true or false; a decimal number has lost its last zeros already."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        raise refused(f"{value} is a number", f'expected text: write it in quotes ("{value}")')
    return value


def _one_line(value: object) -> object:
    if isinstance(value, str) and not (value.strip() and value.isprintable() and len(value) <= 200):
        raise refused(f"{shown(value)} is no title", "expected one line of 1 to 200 printable characters")
    return value


def _with_unit(parse: Callable[[str], Any], low: float, high: float, expected: str) -> BeforeValidator:
    def check(value: object) -> object:
        if isinstance(value, (int, float)) and not isinstance(value, bool):
            value = f"{value}"
        if not isinstance(value, str):
            raise refused(f"{shown(value)} has no unit", expected)
        try:
            found = parse(value)
        except units.NotAQuantity as error:
            raise refused(error.problem, error.expected, error.suggestion) from None
        if not low <= found <= high:
            raise refused(f"{value!r} is out of range", expected)
        return found

    return BeforeValidator(check)


def _plain_digits(value: object) -> str:
    """Return the number that a text such as `1_000` or `'50'` seems to mean, empty when none."""
    plain = re.sub(r"[,_ ']", "", value).lstrip("0") if isinstance(value, str) else ""
    return plain if re.fullmatch(r"[1-9][0-9]{0,8}", plain, re.ASCII) else ""


def _short(value_s: float) -> str:
    for unit, factor in (("h", 3600.0), ("m", 60.0), ("s", 1.0)):
        if value_s >= factor:
            return f"{value_s / factor:g}{unit}"
    return f"{value_s * 1000:g}ms"


def _bytes(value: int) -> str:
    for unit, factor in (("MiB", 1024**2), ("KiB", 1024)):
        if value >= factor and value % factor == 0:
            return f"{value // factor}{unit}"
    return f"{value}B"


# A word that becomes part of cell ids, file names and patterns: hence no dots, capitals or signs with a meaning.
NAME_PATTERN = r"[a-z0-9](?:[a-z0-9_-]{0,38}[a-z0-9])?"
Name = Annotated[str, matching(NAME_PATTERN, "expected 1 to 40 of a-z, 0-9, - and _, such as 8k-long")]
# Text for people, on one line.
Line = Annotated[str, BeforeValidator(_one_line)]
# Text that YAML may write as a whole number or a truth value: arguments, environment, settings.
ScalarText = Annotated[str, BeforeValidator(_as_text)]
# A setting's value becomes part of a cell id and of a folder name.
SettingValue = Annotated[
    str,
    matching(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,39})", "expected 1 to 40 letters, digits, '.', '-' and '_'"),
    BeforeValidator(_as_text),
]
FilePath = Annotated[
    str,
    matching(
        r"(?!.*(?:^|/)\.)[A-Za-z0-9_][A-Za-z0-9._/-]*", "expected a relative path inside the folder, without .."
    ),
]
Arguments = tuple[ScalarText, ...]
