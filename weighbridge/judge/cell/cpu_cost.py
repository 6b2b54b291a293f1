"""CPU per request: what the tree used in a window, less what it would have used idle, with the uncertainty of that.

A gateway collects garbage, flushes metrics and polls its configuration whether requests come or not, and in bursts.
The looks before and after the visit say how much that is in a second on average and how much a second differs from
another; a window holds its own share of bursts, and the mean is known from few slices.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass

from weighbridge.judge.stats.intervals import t_quantile
from weighbridge.record.figures import NOT_MEASURED, Absent
from weighbridge.record.run import Resources, RunRecord
from weighbridge.units import MS_PER_S

# Idle use above this share of the figure is flagged (METHOD section 6).
LARGE_SHARE = 0.20
NO_LOOK = Absent(absent="no_idle_look")


@dataclass(frozen=True)
class IdleUse:
    """CPU seconds that an idle tree uses in the time of a window; no uncertainty where one slice alone was seen."""

    cores: float
    cpu_s: float
    uncertainty_s: float | None


@dataclass(frozen=True)
class CpuCost:
    """CPU ms per request, its uncertainty by idle use, and that idle use in ms per request."""

    ms: float
    uncertainty_ms: float | None
    idle_ms: float

    @property
    def is_idle_large(self) -> bool:
        """Whether idle use was more than a fifth of the figure."""
        return self.idle_ms > LARGE_SHARE * self.ms


def cpu_cost(run: RunRecord) -> CpuCost | Absent:
    """Return the CPU per request of a run, or why there is none; it is never clamped.

    Absent where the window used no more than idle use explains, by 95 %.
    """
    used, count = run.resources, request_count(run)
    if used.cpu_s is None:
        return used.absent.get("cpu_s", NOT_MEASURED)
    if not count:
        return NOT_MEASURED
    idle = idle_use(used)
    if idle is None:
        return NO_LOOK
    net_s, unsure_s = used.cpu_s - idle.cpu_s, idle.uncertainty_s or 0.0
    if net_s <= unsure_s:
        text = f"{used.cpu_s:.3g} s were used, and idle {idle.cpu_s:.3g} ± {unsure_s:.2g} s in the same time"
        return Absent(absent="hidden_by_idle_use", detail=text)
    unsure_ms = None if idle.uncertainty_s is None else idle.uncertainty_s * MS_PER_S / count
    return CpuCost(net_s * MS_PER_S / count, unsure_ms, idle.cpu_s * MS_PER_S / count)


def idle_use(used: Resources) -> IdleUse | None:
    """Return what the tree uses idle in the time of the window; None where nobody looked.

    With n slices of d seconds whose standard deviation is s, the idle use of T seconds is known to
    t₉₇.₅ · s · √(T·d + T²/n): the window's own bursts, and the error of the mean. It is at least half of what the
    looks before and after differ by, and the smallest step that the counter shows.
    """
    looks = [look for look in (used.idle_before, used.idle_after) if look is not None]
    slices = [cores for look in looks for cores in look.cores]
    if not slices:
        return None
    mean, span_s = statistics.fmean(slices), used.cpu_span_s or 0.0
    if len(slices) < 2:
        return IdleUse(mean, mean * span_s, None)
    spread, slice_s = statistics.stdev(slices), statistics.fmean(look.slice_s for look in looks)
    burst_s = spread * math.sqrt(span_s * slice_s + span_s**2 / len(slices))
    means = [statistics.fmean(look.cores) for look in looks]
    moved_s = (max(means) - min(means)) / 2 * span_s
    return IdleUse(mean, mean * span_s, max(t_quantile(len(slices) - 1) * burst_s, moved_s, used.cpu_step_s or 0.0))


def busy_ratio(run: RunRecord) -> float | None:
    """Return CPU per request × achieved rate ÷ its cores, idle use included: how near to its limit the lane was.

    Its cores are those that it may run on; where one thread did most of the work they are one, and what that thread
    used counts.
    """
    used, count = run.resources, request_count(run)
    achieved_rps = None if run.figures is None else run.figures.known("achieved_rps")
    if used.cpu_s is None or not used.core_count or not count or achieved_rps is None:
        return None
    return max(used.cpu_s / used.core_count, used.busiest_thread_s or 0.0) / count * achieved_rps


def request_count(run: RunRecord) -> int:
    """Return the requests that the client started (of a run without that count: that reached the provider)."""
    if run.counts is None:
        return 0
    sent = run.counts.client_sent_count
    return run.counts.provider_request_count if sent is None else sent
