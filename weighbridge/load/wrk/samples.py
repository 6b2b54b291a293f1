"""Reader of the samples that a wrk script writes: slot, scheduled, sent and done in µs from the common start, status.

Requests that never ended have no row, failed ones have status 0. A sixth column, where there is one, tells since when
the connection was free. Whether the slots can be believed is said, not decided, here.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from weighbridge.errors import InputError, Place
from weighbridge.load.reports.document import TruncatedReport
from weighbridge.load.reports.spreads import Spread, spread_of
from weighbridge.record.samples import SAMPLE_OUTCOMES, SampleTable, from_columns

WRK_CSV_HEADER = "slot,scheduled_us,sent_us,done_us,status"

# wrk's timer may fire up to a millisecond early; a send that is earlier still was given the wrong slot.
_EARLIEST_US = -2_000
_FREE_COLUMN = "free_us"


@dataclass(frozen=True)
class WrkSamples:
    """Rows of the script, in its order; one column an array, microseconds."""

    slot: npt.NDArray[np.int64]
    scheduled_us: npt.NDArray[np.int64]
    sent_us: npt.NDArray[np.int64]
    done_us: npt.NDArray[np.int64]
    status: npt.NDArray[np.int64]
    free_us: npt.NDArray[np.int64] | None = None

    @property
    def by_status(self) -> dict[str, int]:
        """Answers by HTTP status."""
        counts = Counter(self.status[self.status > 0].tolist())
        return {str(status): amount for status, amount in sorted(counts.items())}

    @property
    def doubled_count(self) -> int:
        """Rows that name a slot which another row names too: the script reserved slots more than once."""
        return len(self.slot) - len(np.unique(self.slot))

    @property
    def slots_fit(self) -> bool:
        """Whether each request was sent at its own slot or later, so that times from the slot are true."""
        return not self.doubled_count and bool((self.sent_us - self.scheduled_us >= _EARLIEST_US).all())

    def response(self, *, has_schedule: bool) -> Spread | str:
        """Done minus scheduled of the 2xx responses; without a schedule done minus sent."""
        good = (self.status >= 200) & (self.status < 300)
        begun = self.scheduled_us if has_schedule else self.sent_us
        return spread_of((self.done_us[good] - begun[good]) / 1e6)

    def table(self, *, has_schedule: bool) -> SampleTable:
        """Return the sample table, sorted by slot, without a schedule by the actual start."""
        answered = self.status > 0
        columns = {"intended_s": self.scheduled_us / 1e6, **self._released()} if has_schedule else {}
        found = from_columns(
            sent_s=self.sent_us / 1e6,
            end_s=np.where(answered, self.done_us / 1e6, np.nan),
            status=self.status,
            outcome=np.where(answered, SAMPLE_OUTCOMES.index("answered"), SAMPLE_OUTCOMES.index("failed")),
            **columns,
        )
        return found.where(np.lexsort((self.sent_us, self.scheduled_us if has_schedule else self.sent_us)))

    def _released(self) -> dict[str, npt.NDArray[np.float64]]:
        """When the schedule let each request go: what it then waited for a free connection is not the pacer's."""
        if self.free_us is None:
            return {}
        return {"released_s": (self.sent_us - np.maximum(self.free_us - self.scheduled_us, 0)) / 1e6}


def read_wrk_samples(text: str, file: Path) -> WrkSamples:
    """Read samples in the text of `file`; TruncatedReport when the last line is cut, InputError for damaged cells."""
    lines = list(csv.reader(io.StringIO(text)))
    names = lines[0]
    if not text.endswith("\n") or any(len(line) != len(names) for line in lines[-1:]):
        raise TruncatedReport(file, len(text.encode()), None)
    try:
        table = np.array([[int(cell) for cell in line] for line in lines[1:]], dtype=np.int64)
        table = table.reshape(-1, len(names))
    except (ValueError, OverflowError) as error:
        raise InputError(f"is a damaged table of samples ({error})", place=Place(file)) from error
    slot, scheduled_us, sent_us, done_us, status = table.T[: WRK_CSV_HEADER.count(",") + 1]
    free_us = table[:, names.index(_FREE_COLUMN)] if _FREE_COLUMN in names else None
    return WrkSamples(slot, scheduled_us, sent_us, done_us, status, free_us)
