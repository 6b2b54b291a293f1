"""What we make of one stored output of a load generator: the load report, and the samples where they were kept.

Called by `invoke read` and by the drivers. The tool is told from the content, never from the name. What is no report
raises InputError with one sentence; a report with missing sections is read as far as it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from weighbridge.errors import InputError, Place
from weighbridge.load.document import Found, open_report
from weighbridge.load.driver import Reading
from weighbridge.load.kept_tables import kept_tables
from weighbridge.load.oha.argv import OhaArguments, parse_argv
from weighbridge.load.oha.output import read_json
from weighbridge.load.oha.report import Given, oha_reading
from weighbridge.load.oha.rows import OhaRows, join, read_csv, read_sqlite, totals
from weighbridge.load.probe_report import GivenProbe, probe_reading
from weighbridge.load.wrk.report import GivenWrk, wrk_reading
from weighbridge.load.wrk.samples import WrkSamples, read_wrk_samples


@dataclass(frozen=True)
class _Beside:
    """What was given beside the file."""

    arguments: OhaArguments | None
    samples: Path | None
    tool_version: str | None


def read_report(
    file: Path, *, argv: Sequence[str] | None = None, samples: Path | None = None, tool_version: str | None = None
) -> Reading:
    """Reading of the output in `file`.

    `argv` are the tool's arguments, `samples` its SQLite file or its CSV of samples. What is not given is not
    guessed. Raises InputError for anything that is no report, is cut, or contradicts what was given with it.
    """
    found = open_report(file)
    if found.kind == "wrk-samples":
        raise InputError(
            "holds the samples of wrk, not its report",
            place=Place(file),
            expected="give the script's JSON and this file with --samples",
        )
    if found.kind == "probe-json":
        tables = kept_tables(file, samples)
        return probe_reading(GivenProbe(found.document or {}, *tables, notes=_noise(found)))
    if found.kind == "wrk-json":
        return _wrk(found, samples, tool_version)
    beside = _Beside(None if argv is None else parse_argv(argv), samples, tool_version)
    if found.kind == "oha-json":
        return _oha_json(found, beside)
    return _oha_csv(found, file, beside) if found.kind == "oha-csv" else _oha_sqlite(file, beside)


def _wrk(found: Found, samples: Path | None, tool_version: str | None) -> Reading:
    table: WrkSamples | None = None
    if samples is not None:
        inside = open_report(samples)
        if inside.kind != "wrk-samples":
            raise InputError(
                "holds no samples of a wrk script", place=Place(samples), expected="its CSV was looked for"
            )
        table = read_wrk_samples(inside.text, samples)
    return wrk_reading(GivenWrk(found.document or {}, table, tool_version, _noise(found)))


def _oha_json(found: Found, beside: _Beside) -> Reading:
    rows, notes = _sqlite_rows(beside.samples)
    return oha_reading(
        Given(
            totals=read_json(found.document or {}),
            rows=rows,
            arguments=beside.arguments,
            tool_version=beside.tool_version,
            releases_told=True,
            notes=(*_noise(found), *notes),
        )
    )


def _oha_csv(found: Found, file: Path, beside: _Beside) -> Reading:
    rows = read_csv(found.text, file)
    stored, notes = _sqlite_rows(beside.samples)
    joined = join(rows, stored) if stored is not None else None
    if stored is not None and joined is None:
        notes = (*notes, "the SQLite file given is of another run and was left out")
    return oha_reading(
        Given(
            totals=totals(rows, "csv"),
            rows=joined or rows,
            arguments=beside.arguments,
            tool_version=beside.tool_version,
            releases_told=joined is not None,
            notes=notes,
        )
    )


def _oha_sqlite(file: Path, beside: _Beside) -> Reading:
    rows, notes = _sqlite_rows(file)
    if rows is None:
        raise InputError("holds no samples", place=Place(file))
    return oha_reading(
        Given(totals(rows, "sqlite"), rows, beside.arguments, beside.tool_version, releases_told=True, notes=notes)
    )


def _sqlite_rows(samples: Path | None) -> tuple[OhaRows | None, tuple[str, ...]]:
    if samples is None:
        return None, ()
    if open_report(samples).kind != "oha-sqlite":
        raise InputError(
            "is no SQLite file of oha", place=Place(samples), expected="the file that --db-url named was looked for"
        )
    rows, older = read_sqlite(samples)
    return rows, ("the SQLite file holds earlier runs too: the last one was taken",) if older else ()


def _noise(found: Found) -> tuple[str, ...]:
    return tuple(f"beside the report stood: {line[:200]}" for line in found.noise)
