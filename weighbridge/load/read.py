"""What we make of one stored output of a load generator: the load report, and the samples where they were kept.

The tool is told from the content, never from the name. What is no report raises InputError with one sentence; a
report with missing sections is read as far as it goes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weighbridge.load.contract.formats import Beside, Formats
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.drivers import DRIVERS
from weighbridge.load.reports.document import read_as
from weighbridge.matrix.suggest import listed

EVERY_FORMAT = Formats(
    formats=tuple(one for driver in DRIVERS.values() for one in driver.formats.formats),
    what=listed(driver.formats.what for driver in DRIVERS.values()),
    hints=tuple(hint for driver in DRIVERS.values() for hint in driver.formats.hints),
)


def read_report(
    file: Path, *, argv: Sequence[str] | None = None, samples: Path | None = None, tool_version: str | None = None
) -> ReportReading:
    """Return the reading of the output in `file`, whichever driver's it is.

    `argv` are the tool's arguments, `samples` its SQLite file or its CSV of samples. What is not given is not
    guessed. Raises InputError for anything that is no report, is cut, or contradicts what was given with it.
    """
    return read_as(EVERY_FORMAT, file, Beside(argv, samples, tool_version))
