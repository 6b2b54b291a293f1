"""The mock provider's own record of each request (`provider.csv`), as columns. Knows no rule."""

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
class ProviderRows:
    """One row per request as the provider saw it; `reference` as a signed 64-bit number, `UNKNOWN` without one."""

    reference: Ints
    recv_ns: Ints
    send_ns: Ints

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.recv_ns)


def read_provider_rows(data: bytes, *, origin: str) -> ProviderRows:
    """Read the rows of the provider's CSV; StoreError names `origin` where it is damaged."""
    rows = csv.DictReader(io.StringIO(data.decode("utf-8", errors="replace")))
    try:
        kept = [(_number(row["reference"]), _time(row["recv_ns"]), _time(row["send_ns"])) for row in rows]
    except (KeyError, ValueError, AttributeError) as error:
        raise StoreError(f"{origin}: not the provider's record of requests ({error})") from error
    columns = np.array(kept, dtype=np.int64).reshape(-1, 3)
    return ProviderRows(columns[:, 0], columns[:, 1], columns[:, 2])


def _number(letters: str) -> int:
    if not letters:
        return UNKNOWN
    return signed_number(letters)


def _time(text: str) -> int:
    return int(text) if text else UNKNOWN
