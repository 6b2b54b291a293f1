"""The tables that the probe wrote beside its report. StoreError names the file that is damaged."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weighbridge.errors import InputError, Place
from weighbridge.load.probe.program.output import EVENTS, LATE_TURNS, REQUESTS, SAMPLES
from weighbridge.record.probe_tables import (
    FORMER_REQUESTS,
    EventTable,
    LateTurns,
    RequestTable,
    TableType,
    from_bytes,
)
from weighbridge.record.samples import SampleTable


@dataclass(frozen=True)
class StoredTables:
    """What lies beside a report; None for each table that is not there."""

    samples: SampleTable | None = None
    requests: RequestTable | None = None
    events: EventTable | None = None
    late_turns: LateTurns | None = None


def stored_tables(report: Path, samples: Path | None) -> StoredTables:
    """Read the tables beside a report; `samples` names another file of samples."""
    beside = report.parent
    own = samples if samples is not None else beside / SAMPLES
    table = _data(own)
    if table is None and samples is not None:
        raise InputError("cannot be read", place=Place(own))
    return StoredTables(
        None if table is None else SampleTable.from_bytes(table, origin=str(own)),
        stored_table(RequestTable, _requests(beside)),
        stored_table(EventTable, beside / EVENTS),
        stored_table(LateTurns, beside / LATE_TURNS),
    )


def stored_table(kind: type[TableType], place: Path) -> TableType | None:
    """Read one table; None where it is not there."""
    data = _data(place)
    return None if data is None else from_bytes(kind, data, origin=str(place))


def _requests(folder: Path) -> Path:
    former = folder / FORMER_REQUESTS
    return former if former.exists() else folder / REQUESTS


def _data(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
