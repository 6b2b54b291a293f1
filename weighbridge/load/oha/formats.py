"""The files that oha writes: JSON, CSV and a SQLite file of samples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbridge.errors import InputError, Place
from weighbridge.load.contract.formats import Beside, Format, Formats, Found, Hint
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.oha.argv import OhaArguments, parse_argv
from weighbridge.load.oha.output import read_json
from weighbridge.load.oha.report import GivenOha, oha_reading
from weighbridge.load.oha.rows import OHA_CSV_HEADER, OhaRows, join, read_csv, read_sqlite, totals
from weighbridge.load.reports.document import open_report

_MAPS = ("statusCodeDistribution", "errorDistribution", "latencyPercentiles", "responseTimeHistogram")


def _is_oha(document: Mapping[str, Any], _file: Path) -> bool:
    return isinstance(document.get("summary"), dict) and any(isinstance(document.get(name), dict) for name in _MAPS)


def _arguments(beside: Beside) -> OhaArguments | None:
    return None if beside.argv is None else parse_argv(beside.argv)


def _json(found: Found, _file: Path, beside: Beside) -> ReportReading:
    arguments = _arguments(beside)
    rows, notes = _sqlite_rows(beside.samples)
    return oha_reading(
        GivenOha(
            totals=read_json(found.document or {}),
            rows=rows,
            arguments=arguments,
            tool_version=beside.tool_version,
            has_releases=True,
            notes=(*found.notes, *notes),
        )
    )


def _csv(found: Found, file: Path, beside: Beside) -> ReportReading:
    arguments = _arguments(beside)
    rows = read_csv(found.text, file)
    stored, notes = _sqlite_rows(beside.samples)
    joined = join(rows, stored) if stored is not None else None
    if stored is not None and joined is None:
        notes = (*notes, "the SQLite file given is of another run and was left out")
    return oha_reading(
        GivenOha(
            totals=totals(rows, "csv"),
            rows=joined or rows,
            arguments=arguments,
            tool_version=beside.tool_version,
            has_releases=joined is not None,
            notes=notes,
        )
    )


def _sqlite(_found: Found, file: Path, beside: Beside) -> ReportReading:
    arguments = _arguments(beside)
    rows, notes = _sqlite_rows(file)
    if rows is None:
        raise InputError("holds no samples", place=Place(file))
    return oha_reading(
        GivenOha(totals(rows, "sqlite"), rows, arguments, beside.tool_version, has_releases=True, notes=notes)
    )


def _sqlite_rows(samples: Path | None) -> tuple[OhaRows | None, tuple[str, ...]]:
    if samples is None:
        return None, ()
    if open_report(samples, FORMATS).format.name != "oha-sqlite":
        raise InputError(
            "is no SQLite file of oha", place=Place(samples), expected="the file that --db-url named was looked for"
        )
    rows, older = read_sqlite(samples)
    return rows, ("the SQLite file holds earlier runs too: the last one was taken",) if older else ()


FORMATS = Formats(
    formats=(
        Format("oha-sqlite", _sqlite, magic=b"SQLite format 3\0"),
        Format("oha-csv", _csv, header=OHA_CSV_HEADER),
        Format("oha-json", _json, claims=_is_oha),
    ),
    what="a report of oha in JSON or CSV, or its SQLite file",
    hints=(
        Hint(
            ("Success rate:", "Requests/sec:"),
            "is oha's text for people",
            "run oha with --output-format json (-j before 1.9.0)",
        ),
    ),
)
