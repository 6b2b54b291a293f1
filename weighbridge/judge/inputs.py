"""What judgement is made from, as plain values: the walk fills these in, the rules read them.

Called by `campaign` (which builds them) and by the other modules of this room. Holds no rule of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.matrix.loads import Load
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.record.coded import Reason
from weighbridge.record.codes import Verdict
from weighbridge.record.figures import Absent
from weighbridge.record.held import HeldStreams
from weighbridge.record.host import LoadReading
from weighbridge.record.inband import EventTable, RequestTable
from weighbridge.record.load_report import LoadReport
from weighbridge.record.measured import RunFigures
from weighbridge.record.provider_rows import ProviderRows
from weighbridge.record.run import Counts, Evidence
from weighbridge.record.samples import SampleTable


@dataclass(frozen=True)
class InbandFacts:
    """What the probe saw of one window, in `mode`, of answers that the provider sent as `answer` says.

    `provider` are the provider's own rows of the window: without them retries and unknown stamps are not told.
    `trim_count` is how many requests by sent start are left out (None: the load's connections); a probe that
    rides along beside another driver has its own.
    """

    mode: Mode
    answer: AnswerSpec
    requests: RequestTable
    events: EventTable | None = None
    provider: ProviderRows | None = None
    trim_count: int | None = None


@dataclass(frozen=True)
class RiderFacts:
    """What a probe left that rode along: its part of the load, its report, its samples, whether we cut it."""

    load: Load
    report: LoadReport
    samples: SampleTable | None
    cut: bool = False


@dataclass(frozen=True)
class WindowFacts:
    """What a driver left of one window: its load report, its samples where it kept them, whether we cut it.

    `load` is the whole as offered; with a probe that rode along (`rider`) report and samples are those of the main
    driver's part. `process_s` is how long the driver's process ran: the wall clock of a report that has none (oha's
    CSV). `no_inband` says why no probe saw the window, where one was to ride along.
    """

    load: Load
    report: LoadReport
    samples: SampleTable | None
    cut: bool = False
    process_s: float | None = None
    inband: InbandFacts | None = None
    rider: RiderFacts | None = None
    no_inband: Absent | None = None

    @property
    def reports(self) -> tuple[LoadReport, ...]:
        """Load reports of all clients, the main driver's first."""
        return (self.report,) if self.rider is None else (self.report, self.rider.report)

    @property
    def wall_s(self) -> float | None:
        """Wall clock of the window in seconds, by the tool's own account where it gives one."""
        return self.process_s if self.report.wall_s is None else self.report.wall_s


@dataclass(frozen=True)
class DriverEnd:
    """How the load generator ended: `exit_code` is negative for a death by signal, `killed` by our deadline.

    `cpu_cores` is the CPU it took, over all of its threads.
    """

    exit_code: int
    killed: bool = False
    error_text: str = ""
    cpu_cores: float | None = None


@dataclass(frozen=True)
class ProviderHealth:
    """How the mock provider did: answers later than due, in seconds, and CPU in the window, in cores."""

    lateness_p50_s: float | None = None
    lateness_p99_s: float | None = None
    cpu_cores: float | None = None


@dataclass(frozen=True)
class RunInputs:
    """All that one attempt is judged by; no field holds an overhead, so no rule can look at one.

    `held` is what a load showed that holds streams: such a window has no times, so `window` and `figures` are None;
    `rider` is the end of a probe that rode along, None without one;
    `load_limit` is the highest one-minute load allowed at both ends (None: off); `gateway_died` says how the
    gateway ended when it did so in the window; `doubled_achieved_rps` is what one more window with twice the
    connections achieved, where there was one; `gate_text` says why the machine was not idle before the block;
    `provider_time_s` is how long the provider takes by its own schedule.
    """

    load: Load
    mode: Mode
    is_floor: bool
    window: WindowFacts | None = None
    figures: RunFigures | None = None
    held: HeldStreams | None = None
    counts: Counts | None = None
    driver: DriverEnd | None = None
    rider: DriverEnd | None = None
    failure: Reason | None = None
    gateway_died: str | None = None
    load_before: LoadReading | None = None
    load_after: LoadReading | None = None
    load_limit: float | None = None
    provider: ProviderHealth = ProviderHealth()
    evidence: tuple[Evidence, ...] = ()
    doubled_achieved_rps: float | None = None
    undelivered_at_end_count: int | None = None
    gate_text: str | None = None
    provider_time_s: float | None = None


@dataclass(frozen=True)
class Judgement:
    """What one attempt is worth; a saturated run is accepted and has no reason.

    `needs_more_connections`: one more window with more connections would tell whose limit the rate was.
    """

    accepted: bool
    verdict: Verdict
    reason: Reason | None
    flags: tuple[str, ...]
    needs_more_connections: bool = False
