"""What a probe's own lateness, and the few samples of one that runs beside the driver, take from its figures.

Responses around which the probe's loop was late are left out of every time, for we made them wait. But a busy machine
holds up gateway and probe together, so those left out are no fair draw: they may all be slow ones. Hence a percentile
is no figure where more was left out than its line allows:

- p99: 1 %, as much as lies beyond it; p95: 5 %, as much as lies beyond it;
- p50: 25 %. The true median then lies between the 33rd and the 67th percentile of what is left, whichever were lost.

Above 1 % the run is flagged `probe_lagged` too. Nothing here changes a verdict: the counts stay good.
"""

from __future__ import annotations

from collections.abc import Mapping

from weighbridge import quantiles
from weighbridge.judge.stats.timing import SHARES, without
from weighbridge.record.figures import Absent, Percentile, Timing, TimingOrAbsent

LEFT_OUT_LIMITS: Mapping[Percentile, float] = {"p50": 0.25, "p95": 0.05, "p99": 0.01}


def limited(one: Timing, left_out_ratio: float, *, is_companion: bool) -> TimingOrAbsent:
    """Return the timing without the percentiles that are no figures, or why none of it is one.

    `is_companion`: a p99 of fewer than 1,000 samples is left to a run that the probe drives.
    """
    over = {name for name, limit in LEFT_OUT_LIMITS.items() if left_out_ratio > limit}
    late = f"the probe itself was late around {100 * left_out_ratio:.3g} % of the answers"
    if "p50" in over:
        return Absent(absent="probe_lagged", detail=late)
    reasons: dict[Percentile, Absent] = {
        name: Absent(absent="probe_lagged", detail=f"{late}: too many for {name}") for name in sorted(over)
    }
    if is_companion and one.n < quantiles.needed(SHARES["p99"]) and "p99" not in reasons:
        text = f"the probe beside the driver has {one.n} samples: p99 comes from a run that it drives"
        reasons["p99"] = Absent(absent="few_beside_driver", detail=text)
    known = {name: why for name, why in reasons.items() if one.percentile(name) is not None}
    return without(one, known) if known else one
