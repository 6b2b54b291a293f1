"""What a gateway of known delays recorded of each request (`delays.csv`), as columns."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

import numpy as np

from weighbridge.errors import StoreError
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_tables import UNKNOWN
from weighbridge.record.stamps import signed_number


@dataclass(frozen=True)
class DelayRows:
    """One row per request: its reference as a signed number, the time it was held, CPU burnt (`UNKNOWN` without).

    `late_ns` is how much longer than asked it was held; 0 where the gateway did not record what was asked.
    """

    reference: Ints
    slept_ns: Ints
    late_ns: Ints
    cpu_ns: Ints

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.reference)


def read_delay_rows(data: bytes, *, origin: str) -> DelayRows:
    """Read a gateway's CSV; rows without a reference are left out. StoreError names `origin` when damaged."""
    rows = csv.DictReader(io.StringIO(data.decode("utf-8", errors="replace")))
    try:
        kept = [_read_row(row) for row in rows if row["reference"]]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise StoreError(f"{origin}: not a gateway's record of delays ({error})") from error
    columns = np.array(kept, dtype=np.int64).reshape(-1, 4)
    return DelayRows(*columns.T)


def _read_row(row: dict[str, str]) -> tuple[int, int, int, int]:
    slept_ns = int(row["end_ns"]) - int(row["start_ns"])
    late_ns = slept_ns - int(row.get("asked_ns") or slept_ns)
    return signed_number(row["reference"]), slept_ns, late_ns, int(row.get("cpu_ns") or UNKNOWN)
