"""The files that the probe writes: a JSON report, with tables beside it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbridge.errors import InputError, Place
from weighbridge.load.contract.formats import Beside, Format, Formats, Found
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.probe.program.output import SCHEMA
from weighbridge.load.probe.report import GivenProbe, probe_reading
from weighbridge.load.probe.stored_tables import stored_tables


def _is_probe(document: Mapping[str, Any], file: Path) -> bool:
    schema = document.get("schema")
    if not isinstance(schema, str) or not schema.startswith("weighbridge.probe/"):
        return False
    if schema != SCHEMA:
        raise InputError(f"is written as {schema!r}", place=Place(file), expected=f"only {SCHEMA} is known")
    return True


def _json(found: Found, file: Path, beside: Beside) -> ReportReading:
    tables = stored_tables(file, beside.samples)
    return probe_reading(GivenProbe(found.document or {}, tables, found.notes))


FORMATS = Formats(formats=(Format("probe-json", _json, claims=_is_probe),), what="a report of the probe in JSON")
