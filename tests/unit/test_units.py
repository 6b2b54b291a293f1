"""Numbers with units, from text and to text."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weighbridge import units


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("20ms", 0.02), ("30s", 30.0), ("2m", 120.0), ("1h", 3600.0), ("1.5s", 1.5), ("250us", 0.00025),
     ("250µs", 0.00025), ("0ms", 0.0), (" 5 ms ", 0.005)],
)  # fmt: skip
def test_durations_are_seconds(text: str, seconds: float) -> None:
    """A duration gives exactly the seconds that a person would write."""
    assert units.parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "size"), [("256B", 256), ("1KiB", 1024), ("1.5MiB", 1572864), ("2GiB", 2147483648), ("1 KiB", 1024)]
)
def test_sizes_are_bytes(text: str, size: int) -> None:
    """A size gives whole bytes, by powers of 1,024."""
    assert units.parse_size(text) == size


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (units.parse_duration, "30", "'30' has no unit; expected a number with a unit, such as 20ms, 30s, 2m or 1h"),
        (units.parse_duration, "30", "Did you mean 30s?"),
        (units.parse_duration, "30sec", "Did you mean 30s?"),
        (units.parse_duration, "30S", "no known unit of time"),
        (units.parse_duration, "-3s", "'-3s' is no duration"),
        (units.parse_duration, "nan s", "is no duration"),
        (units.parse_duration, "", "'' is no duration"),
        (units.parse_duration, "1e3s", "is no duration"),
        (units.parse_duration, "٣s", "is no duration"),
        (units.parse_size, "1KB", "Did you mean 1KiB?"),
        (units.parse_size, "0.3B", "not a whole number of bytes"),
        (units.parse_size, "12", "Did you mean 12B?"),
        (units.parse_rate, "0", "'0' is no rate"),
        (units.parse_rate, "fast", "expected requests per second above 0"),
        (units.parse_rate, "-1", "is no rate"),
        (units.parse_rate, "inf", "is no rate"),
        (units.parse_count, "1,000", "Did you mean 1000?"),
        (units.parse_count, "0", "expected a whole number of at least 1"),
        (units.parse_count, "3.5", "is no count"),
        (units.parse_count, "²", "is no count"),
        (units.parse_port, "0", "expected a whole number from 1 to 65535"),
        (units.parse_port, "70000", "is no port"),
        (units.parse_port, "http", "is no port"),
    ],
)  # fmt: skip
def test_what_is_no_quantity_is_refused_with_advice(parse: object, text: str, message: str) -> None:
    """A text that is no quantity is a ValueError that names the text and what was expected."""
    with pytest.raises(ValueError, match=r".") as detected:
        parse(text)  # type: ignore[operator]

    assert message in str(detected.value)
    assert "expected" in str(detected.value)


def test_flags_become_numbers() -> None:
    """Rates, counts and ports come from the text of a flag."""
    assert units.parse_rate("50/s") == 50.0
    assert units.parse_rate("0.5") == 0.5
    assert units.parse_count(" 1000 ") == 1000
    assert units.parse_port("8840") == 8840


@pytest.mark.parametrize(
    ("shown", "expected"),
    [
        (units.format_ms(0.351), "0.35"),
        (units.format_ms(17.46), "17.5"),
        (units.format_ms(1058.3), "1,058"),
        (units.format_ms(9.997), "10.0"),
        (units.format_ms(99.96), "100"),
        (units.format_ms(-3.2), "−3.20"),
        (units.format_ms(-0.001), "0.00"),
        (units.format_rps(19.46), "19.5"),
        (units.format_rps(1204.4), "1,204"),
        (units.format_rps(999.96), "1,000"),
        (units.format_count(1000), "1,000"),
        (units.format_bytes(256), "256 B"),
        (units.format_bytes(1536), "1.50 KiB"),
        (units.format_bytes(583 * 1024**2), "583 MiB"),
        (units.format_bytes(1024**2 - 1), "1.00 MiB"),
        (units.format_duration(0), "0 s"),
        (units.format_duration(0.35), "350 ms"),
        (units.format_duration(4.5), "4.5 s"),
        (units.format_duration(4.0), "4 s"),
        (units.format_duration(59.7), "1 min"),
        (units.format_duration(200), "3 min 20 s"),
        (units.format_duration(3900), "1 h 05 min"),
        (units.format_share(0.1234), "12.3 %"),
        (units.format_share(-0.0001), "0.0 %"),
    ],
)
def test_numbers_are_shown_for_people(shown: str, expected: str) -> None:
    """Shown numbers keep about three digits, a true minus sign and no negative zero."""
    assert shown == expected


@settings(deadline=None)
@given(st.floats(min_value=-1e7, max_value=1e7))
def test_shown_milliseconds_stay_near_the_value(value_ms: float) -> None:
    """What is shown differs from the value by less than one in a hundred, or by less than a hundredth."""
    shown = float(units.format_ms(value_ms).replace("−", "-").replace(",", ""))

    assert math.isclose(shown, value_ms, rel_tol=0.01, abs_tol=0.0051)


@settings(deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([("ms", 1e-3), ("s", 1.0), ("m", 60.0)]))
def test_durations_scale_with_their_unit(number: int, unit: tuple[str, float]) -> None:
    """The number before the unit multiplies it."""
    assert math.isclose(units.parse_duration(f"{number}{unit[0]}"), number * unit[1], abs_tol=1e-9)


def test_what_is_not_finite_cannot_be_shown() -> None:
    """NaN is a bug of the caller and never becomes text on a page."""
    with pytest.raises(ValueError, match="only a number"):
        units.format_ms(math.nan)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.00"), (0.624, "0.62"), (0.0951, "0.10"), (0.996, "1.0"), (2.5, "2.5"), (9.96, "10"), (20.4, "20"),
        (104.6, "100"), (1058, "1,100"), (-0.304, "\N{MINUS SIGN}0.30"), (0.004, "0.00"), (-0.004, "0.00"),
    ],
)  # fmt: skip
def test_rough_numbers_have_two_digits(value: float, text: str) -> None:
    """Two significant digits, two decimals at most, a true minus sign and none before a zero."""
    assert units.format_rough(value) == text
