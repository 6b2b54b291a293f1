"""The tables that the probe wrote beside its report. StoreError names the file that is damaged."""

from __future__ import annotations

from pathlib import Path

from weighbridge.errors import InputError, Place
from weighbridge.load.probe.program.output import EVENTS, REQUESTS, SAMPLES
from weighbridge.record.probe_tables import EventTable, RequestTable, from_bytes
from weighbridge.record.samples import SampleTable

# Its name in runs of the first versions.
_FORMER_REQUESTS = "requests.npz"


def stored_tables(
    report: Path, samples: Path | None
) -> tuple[SampleTable | None, RequestTable | None, EventTable | None]:
    """Read samples, requests and events; None for each that is not there. `samples` names another file of samples."""
    beside = report.parent
    own = samples if samples is not None else beside / SAMPLES
    table, requests, events = _data(own), _data(_requests(beside)), _data(beside / EVENTS)
    if table is None and samples is not None:
        raise InputError("cannot be read", place=Place(own))
    return (
        None if table is None else SampleTable.from_bytes(table, origin=str(own)),
        None if requests is None else from_bytes(RequestTable, requests, origin=str(_requests(beside))),
        None if events is None else from_bytes(EventTable, events, origin=str(beside / EVENTS)),
    )


def _requests(folder: Path) -> Path:
    former = folder / _FORMER_REQUESTS
    return former if former.exists() else folder / REQUESTS


def _data(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
