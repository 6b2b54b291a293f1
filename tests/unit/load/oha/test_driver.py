"""What oha was asked for, and whether its durations are corrected."""

from __future__ import annotations

from pathlib import Path

import pytest

from weighbridge.errors import InputError
from weighbridge.load.oha.argv import parse_argv
from weighbridge.load.oha.correction import correction_of, parse_version
from weighbridge.load.read import read_report

OHA = Path(__file__).resolve().parents[3] / "data" / "oha"


@pytest.mark.parametrize(
    ("argv", "scheduled"),
    [
        ("-n 150 -q 50", 150),
        ("-n150 -q50", 150),
        ("-n=150", 150),
        ("-n 10k", 10_000),
        ("-n 1m", 1_000_000),
        ("", 200),
        ("-z 2s -q 40", 81),
        ("-z 2030ms -q 20", 41),
        ("-z 3s -q 0.1", 1),
        ("-z 1m30s -q 2", 181),
        ("-z 2s", None),
        ("-z 2s -q 0", None),
        ("-n 10 -z 1s -q 10", 11),
        ("-H -n -n 7", 7),
        ("-d -z -o -q -n 7", 7),
    ],
)
def test_scheduled_arrivals_follow_from_the_arguments(argv: str, scheduled: int | None) -> None:
    """N of -n, ⌊R·T⌋ + 1 of -z with a rate, unknown of -z alone; values of other options are no options."""
    assert parse_argv(["oha", *argv.split(), "http://127.0.0.1/"]).scheduled_count == scheduled


@pytest.mark.parametrize("argv", ["-n many", "-n", "-q fast", "-q nan", "-z soon", "-z 2parsecs", "-c -1"])
def test_arguments_that_are_not_ohas_are_refused(argv: str) -> None:
    """A damaged argument list is InputError, never a wrong plan."""
    with pytest.raises(InputError):
        parse_argv(["oha", *argv.split()])


def test_arguments_of_wrk_are_refused() -> None:
    """The arguments of another tool do not become a plan of 200 requests."""
    with pytest.raises(InputError, match="arguments of wrk"):
        parse_argv(["/usr/bin/wrk", "-t2", "-c2"])


def test_arguments_of_another_run_are_refused() -> None:
    """More responses than the plan has requests: the two do not belong together."""
    with pytest.raises(InputError, match="different runs"):
        read_report(OHA / "1.16.0" / "healthy.json", argv=["oha", "-n", "10", "-q", "50"])


def test_samples_of_another_run_are_left_out() -> None:
    """A database with other responses than the report gives neither samples nor proof."""
    reading = read_report(OHA / "1.16.0" / "healthy.json", samples=OHA / "1.16.0" / "mix.db")
    assert reading.samples is None
    assert reading.report.corrected == "unknown"
    assert "samples_mismatch" in reading.report.flags


def test_csv_is_no_companion_of_json() -> None:
    """Oha writes one or the other, so a CSV given as samples of a JSON report is refused."""
    with pytest.raises(InputError, match="no SQLite file"):
        read_report(OHA / "1.16.0" / "healthy.json", samples=OHA / "1.16.0" / "healthy-csv.csv")


RATE, LIMIT, CLOSED = "-n 10 -q 5", "-z 2s -q 5", "-n 10"


@pytest.mark.parametrize(
    ("argv", "version", "generation", "asked", "not_asked"),
    [
        (RATE, "1.16.0", "G5", "yes", "no"),
        (RATE, "1.14.0", "G4", "yes", "no"),
        (RATE, "1.13.0", "G4", "no", "yes"),
        (RATE, "1.6.0", "G3", "no", "yes"),
        (RATE, "1.5.0", "G3", "yes", "no"),
        (RATE, "0.6.0", "G1", "yes", "no"),
        (RATE, None, "G5", "yes", "no"),
        (RATE, None, "G2", "yes", "no"),
        (RATE, None, "G3", "unknown", "unknown"),
        (RATE, None, "G4", "unknown", "unknown"),
        (RATE, None, "csv", "unknown", "unknown"),
        (RATE, "1.16.0", "G3", "unknown", "unknown"),
        (LIMIT, "1.13.0", "G4", "yes", "no"),
        (LIMIT, None, "G3", "yes", "no"),
        (CLOSED, "1.13.0", "G4", "no", "no"),
        (CLOSED, None, "G3", "no", "no"),
    ],
)
def test_correction_by_version_and_arguments(
    argv: str, version: str | None, generation: str, asked: str, not_asked: str
) -> None:
    """The switch is inverted from 1.6.0 to 1.13.0 with -n, never under -z, and means nothing without a rate."""
    for switch, expected in ((["--latency-correction"], asked), ([], not_asked)):
        found = correction_of(None, parse_argv([*argv.split(), *switch]), parse_version(version), generation)
        assert found.corrected == expected


def test_correction_without_arguments_is_unknown() -> None:
    """No arguments, no samples: nobody knows, not even for the newest version."""
    assert correction_of(None, None, (1, 16, 0), "G5").corrected == "unknown"


@pytest.mark.parametrize("proof", [True, False])
def test_the_samples_overrule_everything(proof: bool) -> None:
    """Release instants that are there, or are not, decide against version and arguments."""
    for argv in (RATE, LIMIT):
        for switch in ([], ["--latency-correction"]):
            for version in ((1, 16, 0), (1, 13, 0), None):
                found = correction_of(proof, parse_argv([*argv.split(), *switch]), version, "G4")
                assert found.corrected == ("yes" if proof else "no")
                assert found.proven
