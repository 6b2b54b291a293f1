"""One window as it is judged: every client that took part in it, and what was counted and read around them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from weighbridge.matrix.loads import Load
from weighbridge.matrix.requests import AnswerSpec, GoodputBounds, Mode
from weighbridge.record.host import LoadReading
from weighbridge.record.load_report import LoadReport
from weighbridge.record.open_streams import OpenStreamsResult
from weighbridge.record.probe_tables import EventTable, LateTurns, RequestTable, no_late_turns
from weighbridge.record.provider_rows import ProviderRows
from weighbridge.record.run import Counts, DriverRecord, Resources
from weighbridge.record.samples import SampleTable


@dataclass(frozen=True)
class Trace:
    """Every request as a probe saw it, of responses that the provider sent as `answer` says.

    `provider` are the provider's own rows of the window: without them retries and unknown stamps are not told.
    The first `trim_count` requests by sent start warmed up or opened the connections, and are left out of every time.
    `late_turns` are those of the probe's own loop.
    """

    mode: Mode
    answer: AnswerSpec
    requests: RequestTable
    trim_count: int
    events: EventTable | None = None
    provider: ProviderRows | None = None
    late_turns: LateTurns = field(default_factory=no_late_turns)


@dataclass(frozen=True)
class Client:
    """One client at its end: its part of the load, how its program ended, and what it left.

    `killed` says that our deadline ended it, `record.cut` that we interrupted it for the lane's slowness. `wall_s` is
    how long its process ran, `cpu_cores` the CPU it took over all of its threads (None where that was too short to
    tell). `problem` is why there is no report, empty where there is one. Only one that `sees_stamps` has a trace.
    `prompts_sha256` is the digest of its file of prompts.
    """

    role: str
    load: Load
    record: DriverRecord
    killed: bool = False
    wall_s: float | None = None
    cpu_cores: float | None = None
    report: LoadReport | None = None
    samples: SampleTable | None = None
    trace: Trace | None = None
    streams: OpenStreamsResult | None = None
    sees_stamps: bool = False
    prompts_sha256: str | None = None
    problem: str = ""

    @property
    def cut(self) -> bool:
        """Whether we interrupted it because the lane did not keep the rate."""
        return self.record.cut

    @property
    def ended_well(self) -> bool:
        """Whether its program came to a good end of its own."""
        return not self.killed and self.record.exit_code == 0

    @property
    def window_wall_s(self) -> float | None:
        """Wall clock of its window in seconds, by its own account where it gives one."""
        return self.wall_s if self.report is None or self.report.wall_s is None else self.report.wall_s


@dataclass(frozen=True)
class ProviderHealth:
    """How the mock provider did: the median lateness of its responses, in seconds, and its CPU, in cores."""

    lateness_p50_s: float | None = None
    cpu_cores: float | None = None


@dataclass(frozen=True)
class Window:
    """One measured window; `load` is the whole as it was driven, the first of the `clients` led.

    `drain_s` and `undelivered_at_end_count` tell of the background work, `death` how a gateway of it ended. A
    `probe_pass` went through the same lane afterwards, alone; counts, rates and costs are without it.
    `expected_bytes` is the size of the body that the lane answered before the window, `goodput_bounds` are
    those of its matrix.
    """

    load: Load
    mode: Mode
    answer: AnswerSpec
    clients: tuple[Client, ...]
    started_at: str = ""
    window_s: float = 0.0
    counts: Counts | None = None
    resources: Resources = field(default_factory=Resources)
    provider: ProviderHealth = ProviderHealth()
    drain_s: float | None = None
    undelivered_at_end_count: int | None = None
    death: str | None = None
    load_before: LoadReading | None = None
    load_after: LoadReading | None = None
    probe_pass: Client | None = None
    expected_bytes: int | None = None
    goodput_bounds: GoodputBounds | None = None

    @property
    def every_client(self) -> tuple[Client, ...]:
        """The clients, and the probe of the pass behind them."""
        return self.clients if self.probe_pass is None else (*self.clients, self.probe_pass)

    @property
    def lead(self) -> Client:
        """The client whose end is the window's."""
        return self.clients[0]

    @property
    def reports(self) -> tuple[LoadReport, ...]:
        """Load reports of the clients that left one, the leading one's first."""
        return tuple(client.report for client in self.clients if client.report is not None)

    @property
    def judged_reports(self) -> tuple[LoadReport, ...]:
        """The same with that of a probe pass: what failed there failed too."""
        after = None if self.probe_pass is None else self.probe_pass.report
        return self.reports if after is None else (*self.reports, after)

    @property
    def trace(self) -> Trace | None:
        """What the first client that sees stamps saw; None where none does, or where it left nothing.

        A pass with more than one client gives no time: its trace is `content_trace` alone.
        """
        found = next((client.trace for client in self.clients if client.sees_stamps), None)
        return self.content_trace if found is None and self.load.is_serial else found

    @property
    def content_trace(self) -> Trace | None:
        """What a probe saw of the contents of responses, in the window or in the pass behind it."""
        found = next((client.trace for client in self.clients if client.sees_stamps), None)
        return self.probe_pass.trace if found is None and self.probe_pass is not None else found

    @property
    def streams(self) -> OpenStreamsResult | None:
        """What open streams showed, of the first client that kept some open."""
        return next(self._streams(), None)

    def _streams(self) -> Iterator[OpenStreamsResult]:
        yield from (client.streams for client in self.clients if client.streams is not None)
