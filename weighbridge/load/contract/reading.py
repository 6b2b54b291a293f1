"""What was made of the outputs of one load generator."""

from __future__ import annotations

from dataclasses import dataclass, field

from weighbridge.record.load_report import LoadReport
from weighbridge.record.open_streams import OpenStreamsResult
from weighbridge.record.probe_tables import EventTable, LateTurns, RequestTable, no_late_turns
from weighbridge.record.samples import SampleTable


@dataclass(frozen=True)
class ReportReading:
    """A load report and, where the driver kept them, its samples; the probe also has its request trace.

    `late_turns` are those of the probe's own loop; `open_streams` is what opening streams showed, where a load does
    that.
    """

    report: LoadReport
    samples: SampleTable | None
    requests: RequestTable | None = None
    events: EventTable | None = None
    late_turns: LateTurns = field(default_factory=no_late_turns)
    open_streams: OpenStreamsResult | None = None
