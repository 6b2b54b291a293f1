"""Reader of the samples that a wrk script writes: slot, scheduled, sent and done in µs from the common start, status.

Called by `read`. Only answered requests have a row. Whether the slots can be believed is said, not decided, here.
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
from weighbridge.load.document import WRK_CSV_HEADER, TruncatedReport
from weighbridge.load.spreads import Spread, spread_of
from weighbridge.record.samples import SampleTable, from_columns

# wrk's timer may fire up to a millisecond early; a send that is earlier still was given the wrong slot.
_EARLIEST_US = -2_000


@dataclass(frozen=True)
class WrkSamples:
    """Rows of the script, in its order; one column an array, microseconds."""

    slot: npt.NDArray[np.int64]
    scheduled_us: npt.NDArray[np.int64]
    sent_us: npt.NDArray[np.int64]
    done_us: npt.NDArray[np.int64]
    status: npt.NDArray[np.int64]

    @property
    def by_status(self) -> dict[str, int]:
        """Answers by HTTP status."""
        return {str(status): amount for status, amount in sorted(Counter(self.status.tolist()).items())}

    @property
    def doubled_count(self) -> int:
        """Rows that name a slot which another row names too: the script reserved slots more than once."""
        return len(self.slot) - len(np.unique(self.slot))

    @property
    def slots_fit(self) -> bool:
        """Whether each request was sent at its own slot or later, so that times from the slot are true."""
        return not self.doubled_count and bool((self.sent_us - self.scheduled_us >= _EARLIEST_US).all())

    @property
    def response(self) -> Spread | str:
        """Done minus scheduled of the 2xx answers."""
        good = (self.status >= 200) & (self.status < 300)
        return spread_of((self.done_us[good] - self.scheduled_us[good]) / 1e6)

    @property
    def table(self) -> SampleTable:
        """The sample table, sorted by slot."""
        order = np.argsort(self.scheduled_us, kind="stable")
        table = from_columns(
            intended_s=self.scheduled_us / 1e6,
            sent_s=self.sent_us / 1e6,
            end_s=self.done_us / 1e6,
            status=self.status,
        )
        return table.where(order)


def read_wrk_samples(text: str, file: Path) -> WrkSamples:
    """Samples in the text of `file`; TruncatedReport when the last line is cut, InputError for damaged cells."""
    lines = list(csv.reader(io.StringIO(text)))
    width = WRK_CSV_HEADER.count(",") + 1
    if not text.endswith("\n") or any(len(line) != width for line in lines[-1:]):
        raise TruncatedReport(file, len(text.encode()), None)
    try:
        table = np.array([[int(cell) for cell in line] for line in lines[1:]], dtype=np.int64).reshape(-1, width)
    except (ValueError, OverflowError) as error:
        raise InputError(f"is a damaged table of samples ({error})", place=Place(file)) from error
    return WrkSamples(*(table[:, column] for column in range(width)))
