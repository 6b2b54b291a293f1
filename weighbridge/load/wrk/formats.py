"""The files that our script in wrk writes: a JSON report and a CSV of samples."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from weighbridge.errors import InputError, Place
from weighbridge.load.contract.formats import Beside, Format, Formats, Found, Hint
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.reports.document import open_report
from weighbridge.load.wrk.report import GivenWrk, wrk_reading
from weighbridge.load.wrk.samples import WRK_CSV_HEADER, WrkSamples, read_wrk_samples

SCHEMA = "wrk-lua/1"


def _is_wrk(document: Mapping[str, Any], file: Path) -> bool:
    schema = document.get("schema")
    if not isinstance(schema, str) or not schema.startswith("wrk-lua/"):
        return False
    if schema != SCHEMA:
        raise InputError(f"is written as {schema!r}", place=Place(file), expected=f"only {SCHEMA} is known")
    return True


def _json(found: Found, _file: Path, beside: Beside) -> ReportReading:
    table: WrkSamples | None = None
    if beside.samples is not None:
        inside = open_report(beside.samples, FORMATS)
        if inside.format.name != "wrk-samples":
            raise InputError(
                "holds no samples of a wrk script", place=Place(beside.samples), expected="its CSV was looked for"
            )
        table = read_wrk_samples(inside.text, beside.samples)
    return wrk_reading(GivenWrk(found.document or {}, table, beside.tool_version, found.notes))


def _samples(_found: Found, file: Path, _beside: Beside) -> NoReturn:
    raise InputError(
        "holds the samples of wrk, not its report",
        place=Place(file),
        expected="give the script's JSON and this file with --samples",
    )


FORMATS = Formats(
    formats=(
        Format("wrk-samples", _samples, header=WRK_CSV_HEADER),
        Format("wrk-json", _json, claims=_is_wrk),
    ),
    what="a report of our wrk script in JSON",
    hints=(
        Hint(
            ("Thread Stats",),
            "is wrk's text without the JSON line of a script",
            "the script was missing or broken, so this was a closed-loop flood and not a rate: fix it and run again",
        ),
    ),
)
