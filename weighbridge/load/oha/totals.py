"""What one output of oha says, in whichever form it came: the common ground of JSON, CSV and SQLite.

The readers fill it in, the report is made of it. Nothing here knows what was planned. `None` stands for what the
form cannot tell; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from weighbridge.load.reports.fields import successes
from weighbridge.load.reports.spreads import Spread

Generation = Literal["G1", "G2", "G3", "G4", "G5", "csv", "sqlite"]


@dataclass(frozen=True)
class OhaTotals:
    """Counts and times of one output. `response` and `first_byte` are a spread or the reason why there is none."""

    generation: Generation
    wall_s: float | None
    by_status: Mapping[str, int]
    errors: Mapping[str, int] | None
    received_bytes: int | None
    response: Spread | str
    first_byte: Spread | str
    histogram: tuple[tuple[float, int], ...] = ()
    flags: tuple[str, ...] = ()

    @property
    def answered_count(self) -> int:
        """Requests that got an HTTP response of any status."""
        return sum(self.by_status.values())

    @property
    def success_count(self) -> int:
        """Answers with a 2xx status."""
        return successes(self.by_status)
