"""The mock provider's own record of each request (`provider.csv`), as columns. Knows no rule."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, fields

import numpy as np

from weighbridge.errors import StoreError
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_tables import UNKNOWN
from weighbridge.record.stamps import signed_number


@dataclass(frozen=True)
class ProviderRows:
    """One row per request as the provider saw it; `reference` as a signed 64-bit number, `UNKNOWN` without one.

    The token counts are those that it told in its answer, `UNKNOWN` where it was not asked for them.
    """

    reference: Ints
    recv_ns: Ints
    send_ns: Ints
    prompt_token_count: Ints
    completion_token_count: Ints

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.recv_ns)


def read_provider_rows(data: bytes, *, origin: str) -> ProviderRows:
    """Read the rows of the provider's CSV; StoreError names `origin` where it is damaged."""
    rows = csv.DictReader(io.StringIO(data.decode("utf-8", errors="replace")))
    try:
        kept = [
            (
                _number(row["reference"]),
                *(_whole(row[name]) for name in ("recv_ns", "send_ns")),
                # Records of the first versions do not tell them.
                *(_whole(row.get(name)) for name in ("prompt_token_count", "completion_token_count")),
            )
            for row in rows
        ]
    except (KeyError, ValueError, AttributeError) as error:
        raise StoreError(f"{origin}: not the provider's record of requests ({error})") from error
    return ProviderRows(*np.array(kept, dtype=np.int64).reshape(-1, len(fields(ProviderRows))).T)


def _number(letters: str) -> int:
    if not letters:
        return UNKNOWN
    return signed_number(letters)


def _whole(text: str | None) -> int:
    return int(text) if text else UNKNOWN
