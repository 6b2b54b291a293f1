"""What a load generator from elsewhere left behind: its files, its words, and the load report of them.

It knows neither tool.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from weighbridge.errors import InputError
from weighbridge.load.contract.driver import Driver, LoadOutputs
from weighbridge.load.contract.formats import Beside
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.reports.document import read_as


def outputs_of(argv: Sequence[str], report: Path, samples: Path, *, exit_code: int, stderr: bytes) -> LoadOutputs:
    """Return the outputs of a window; a file that was not written is None."""
    return LoadOutputs(
        report=report if report.is_file() else None,
        samples=samples if samples.is_file() else None,
        argv=argv,
        tool_version=None,
        exit_code=exit_code,
        stderr=stderr,
    )


def stderr_lines(outputs: LoadOutputs) -> list[str]:
    """Return the lines on its standard error, without empty ones."""
    return [line.strip() for line in outputs.stderr.decode("utf-8", "replace").splitlines() if line.strip()]


def read_outputs(
    driver: Driver, outputs: LoadOutputs, line: str | None, *, missing: str
) -> ReportReading:  # fmt: skip
    """Return the load report of a driver's outputs; `line` is the line of its words that tells most.

    The document is judged, not the exit status: that goes into a note. InputError, with those words, says `missing`
    when there is no report.
    """
    exit_text = f"exit status {outputs.exit_code}" + (f", {line}" if line else "")
    if outputs.report is None:
        raise InputError(f"{missing} ({exit_text})")
    beside = Beside(outputs.argv, outputs.samples, outputs.tool_version)
    reading = read_as(driver.formats, outputs.report, beside)
    if not outputs.exit_code:
        return reading
    notes = (*reading.report.notes, f"{driver.name} ended badly: {exit_text}")
    return replace(reading, report=reading.report.changed(notes=notes))
