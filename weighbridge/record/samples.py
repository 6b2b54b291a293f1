"""The sample table: one row per request, columns as arrays, times in seconds on the driver's own clock.

Kept as a compressed NumPy archive (`samples.npz`): one array per column, same length, NaN or 0 where the driver
cannot tell. Rows are sorted by intended start, then by sent.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from weighbridge.errors import StoreError
from weighbridge.record.arrays import Floats, Ints

# Outcome codes of the `outcome` column; the position is the code.
SAMPLE_OUTCOMES = ("answered", "failed", "censored")


@dataclass(frozen=True)
class SampleTable:
    """Samples of one run.

    `intended_s` the scheduled start (NaN in a closed loop), `released_s` when the driver's pacer let it go,
    `sent_s` actual start, `first_byte_s` first body byte, `end_s` last byte; `status` the HTTP status (0: no
    response), `received_bytes` body bytes (-1: unknown), `outcome` an index into `SAMPLE_OUTCOMES`.
    """

    intended_s: Floats
    released_s: Floats
    sent_s: Floats
    first_byte_s: Floats
    end_s: Floats
    status: Ints
    received_bytes: Ints
    outcome: Ints

    def __post_init__(self) -> None:
        """Refuse columns of different length."""
        lengths = {len(getattr(self, column.name)) for column in fields(self)}
        if len(lengths) > 1:
            raise ValueError(f"columns of different length: {sorted(lengths)}")

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.sent_s)

    def where(self, mask: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> SampleTable:
        """Return the table of the rows that `mask` (booleans or row numbers) picks, in its order."""
        return SampleTable(**{c.name: getattr(self, c.name)[mask] for c in fields(self)})

    def to_bytes(self) -> bytes:
        """Return the table as a compressed NumPy archive."""
        buffer = io.BytesIO()
        columns: dict[str, Any] = {c.name: getattr(self, c.name) for c in fields(self)}
        np.savez_compressed(buffer, **columns)
        return buffer.getvalue()

    @classmethod
    def from_bytes(cls, data: bytes, *, origin: str) -> SampleTable:
        """Read a table back from `to_bytes`; StoreError names `origin` when it is damaged."""
        try:
            with np.load(io.BytesIO(data), allow_pickle=False) as archive:
                return cls(**{c.name: archive[c.name] for c in fields(cls)})
        except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
            raise StoreError(f"{origin}: not a sample table ({error})") from error


def empty() -> SampleTable:
    """Return a table without rows."""
    return from_columns(sent_s=np.empty(0), end_s=np.empty(0))


def from_columns(*, sent_s: Floats, end_s: Floats, **others: Any) -> SampleTable:
    """Make a table from the columns at hand; the others are filled with what stands for unknown."""
    count = len(sent_s)
    nothing = np.full(count, np.nan)
    filled: dict[str, Any] = {
        "intended_s": nothing,
        "released_s": nothing,
        "first_byte_s": nothing,
        "status": np.zeros(count, dtype=np.int64),
        "received_bytes": np.full(count, -1, dtype=np.int64),
        "outcome": np.zeros(count, dtype=np.int64),
    }
    return SampleTable(**{**filled, **others, "sent_s": sent_s, "end_s": end_s})
