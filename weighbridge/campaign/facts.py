"""What a window left, as the judge takes it. Called by `attempt`; it decides nothing."""

from __future__ import annotations

from weighbridge.campaign.window import PROVIDER_FILE, Window
from weighbridge.judge.inputs import InbandFacts, RiderFacts, WindowFacts
from weighbridge.load.reading import Reading
from weighbridge.matrix.cells import Cell
from weighbridge.record.figures import Absent
from weighbridge.record.provider_rows import read_provider_rows
from weighbridge.record.run import NOT_MEASURED, RiderOrAbsent, RiderRecord


def window_facts(window: Window, cell: Cell) -> WindowFacts | None:
    """What the clients left of a window, None when the driver left no report or held streams and timed nothing."""
    reading, ended = window.main.reading, window.main.ended
    if reading is None or reading.held is not None:
        return None
    return WindowFacts(
        window.load,
        reading.report,
        reading.samples,
        cut=ended.cut,
        process_s=ended.wall_s,
        inband=_inband(window, cell, reading),
        rider=_rider(window),
        no_inband=window.load.no_companion,
    )


def rider_record(window: Window) -> RiderOrAbsent:
    """The probe that rode along, or why none did."""
    rider = window.rider
    if rider is None or rider.load.offered_rps is None:
        return Absent(absent=window.load.no_companion) if window.load.no_companion else NOT_MEASURED
    return RiderRecord(
        rate_rps=rider.load.offered_rps,
        connections=rider.load.connections,
        driver=rider.driver,
        load_report=rider.reading.report if rider.reading else None,
    )


def _inband(window: Window, cell: Cell, reading: Reading) -> InbandFacts | None:
    """What the probe saw: as the driver, or riding along with connections of its own."""
    seen, trim_count = reading, None
    if window.rider is not None:
        if window.rider.reading is None:
            return None
        seen, trim_count = window.rider.reading, window.rider.load.connections
    if seen.inband is None:
        return None
    provider = read_provider_rows(window.files[PROVIDER_FILE], origin=PROVIDER_FILE)
    return InbandFacts(cell.mode, cell.answer, seen.inband, seen.events, provider, trim_count)


def _rider(window: Window) -> RiderFacts | None:
    rider = window.rider
    if rider is None or rider.reading is None:
        return None
    return RiderFacts(rider.load, rider.reading.report, rider.reading.samples, rider.ended.cut)
