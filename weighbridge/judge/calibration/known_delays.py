"""Known delays against what was measured: the arithmetic of a certificate (METHOD 8).

The known delay is what the gateway recorded that it slept; beside it stands the control of the same block. Medians
over blocks are judged, the worst block is shown. Limits on the median block's |error| of the added time, against the
known delay: p50 2 % or 20 µs, p95 and p99 5 % or 100 µs, whichever is larger. A delay measured in a cell of its own
is judged against the A/A half width too where that is larger, for the error between cells is not one between
requests. Under jitter of the provider the mean |error| of the shift must be at least ten times that of the added
time, at p95 and p99 over all delays and at p50 of the two-valued one; at p50 of a constant both agree.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from weighbridge import quantiles
from weighbridge.judge.calibration.joined_quantiles import Timed, quantile_ns, sampling_error_ns, truth_quantile
from weighbridge.judge.stats.bounds import ABSOLUTE_LIMIT_MS, limit_ms
from weighbridge.judge.stats.intervals import t_quantile
from weighbridge.judge.stats.timing import SHARES
from weighbridge.matrix.requests import Mode
from weighbridge.record.arrays import Ints
from weighbridge.record.certificate import Arrangement, BlockError, CpuResult, DelayResult, JitterResult, Resolution
from weighbridge.record.figures import PERCENTILES, Percentile
from weighbridge.units import NS_PER_MS

JITTER_FACTOR = 10.0
CPU_LIMIT_RATIO = 0.05
# A window of 500 requests resolves some 10 % of a CPU figure.
CPU_NEEDS_COUNT = 2000
# Fewer blocks have no median worth the name, fewer samples no stable p99 and no stable join: that is provisional, and
# there no limit is narrower than what the samples can show.
BLOCKS_NEEDED = 3
SAMPLES_NEEDED = 500
CONTROL_NEEDED = 1000
SIGMAS = 3.0


@dataclass(frozen=True)
class LaneSamples:
    """What one lane of one block gave, request by request in ns: added time, and total time at the client.

    `late_turn_ns` are the lengths of the late turns of the probe's loop that hold an instant of the request.
    """

    added_ns: Ints
    total_ns: Ints
    late_turn_ns: Ints

    @property
    def is_touched(self) -> bool:
        """Whether a late turn may have moved any of these times."""
        return bool(self.late_turn_ns.any())

    @property
    def shortened(self) -> LaneSamples:
        """The same with the lengths of late turns taken off."""
        return LaneSamples(
            self.added_ns - self.late_turn_ns, self.total_ns - self.late_turn_ns, np.zeros_like(self.late_turn_ns)
        )


@dataclass(frozen=True)
class DelayBlock:
    """One delay in one block: its samples, the sleeps that its gateway recorded, and the control of the block.

    `control` is without what the control was held; how late that was is in `control_late_ns`.
    """

    block: int
    lane: LaneSamples
    sleeps: Timed
    control: LaneSamples
    control_late_ns: Ints


@dataclass(frozen=True)
class KnownDelay:
    """One delay over its blocks; `two_valued` marks the mixture whose p50 is judged under jitter.

    `window` names the cells where a mode has several of them, such as `plain.rate-290`.
    """

    name: str
    mode: Mode
    arrangement: Arrangement
    condition: Literal["quiet", "busy", "jitter"]
    blocks: tuple[DelayBlock, ...]
    two_valued: bool = False
    window: str = ""

    @property
    def label(self) -> str:
        """Name with the window where that is needed to tell it apart."""
        return f"{self.name} {self.window}".strip()


def measure(delay: KnownDelay, resolution: Sequence[Resolution] = ()) -> tuple[DelayResult, ...]:
    """Return one row a percentile; ValueError without blocks. `resolution` widens the limit of cells alone."""
    if not delay.blocks:
        raise ValueError(f"delay {delay.name}: no block to judge")
    return tuple(_row(delay, figure, resolution) for figure in PERCENTILES)


def block_error(block: DelayBlock, figure: Percentile) -> BlockError:
    """Return the errors of one block at one percentile: added − control − known, and shift − known.

    Where late turns of the probe's loop touched the block, they are computed again with the lengths of those turns
    taken off, and the worse counts: the truth lies between the two.
    """
    found = [_error(block, figure)]
    if block.lane.is_touched or block.control.is_touched:
        shortened = replace(block, lane=block.lane.shortened, control=block.control.shortened)
        found.append(_error(shortened, figure))
    return max(found, key=lambda one: abs(one.added_error_ms))


def _error(block: DelayBlock, figure: Percentile) -> BlockError:
    share = SHARES[figure]
    control_ns = quantile_ns(block.control.added_ns, share)
    known_ns = truth_quantile(block.sleeps, Timed(block.control.added_ns, block.control_late_ns), share) - control_ns
    added_ns = quantile_ns(block.lane.added_ns, share)
    shift_ns = quantile_ns(block.lane.total_ns, share) - quantile_ns(block.control.total_ns, share)
    return BlockError(
        block=block.block,
        known_ms=known_ns / NS_PER_MS,
        control_ms=control_ns / NS_PER_MS,
        added_ms=added_ns / NS_PER_MS,
        added_error_ms=(added_ns - control_ns - known_ns) / NS_PER_MS,
        shift_error_ms=(shift_ns - known_ns) / NS_PER_MS,
    )


def aa_pair(
    pairs: Sequence[tuple[LaneSamples, LaneSamples]], mode: Mode, arrangement: Arrangement
) -> tuple[Resolution, ...]:
    """Return what pairs of lanes of one control show, one pair a block; ValueError without a pair.

    The half width of one block's difference is t · root mean square over the blocks: under A/A its mean is known
    to be zero, so that n blocks give n degrees of freedom. The pair passes when its median difference is within the
    limit of an added time, or within the t interval of the blocks' mean, which then holds zero (METHOD 8: an A/A pair
    must show no difference); here the mean is not known, and n blocks give n − 1 degrees of freedom. A single block
    has no interval: what one pair differs by is shown then, and not judged.
    """
    if not pairs:
        raise ValueError("an A/A pair needs a block")
    return tuple(_resolution(pairs, figure, mode, arrangement) for figure in PERCENTILES)


def under_jitter(delays: Sequence[KnownDelay]) -> tuple[JitterResult, ...]:
    """Compare added time with shift, by mode and percentile, over the delays that were measured under jitter."""
    jittered = [delay for delay in delays if delay.condition == "jitter"]
    modes = dict.fromkeys(delay.mode for delay in jittered)
    return tuple(
        made
        for mode in modes
        for figure in PERCENTILES
        for made in _jitter([delay for delay in jittered if delay.mode == mode], mode, figure)
    )


def burn(known_ms: float, measured_ms: float, rate_rps: float, request_count: int) -> CpuResult:
    """Compare a known CPU burn for each request with what was read; 5 % passes, of fewer than 2,000 requests 10 %."""
    limit = CPU_LIMIT_RATIO if request_count >= CPU_NEEDS_COUNT else 2 * CPU_LIMIT_RATIO
    return CpuResult(
        known_ms=known_ms,
        measured_ms=measured_ms,
        rate_rps=rate_rps,
        request_count=request_count,
        limit_ratio=limit,
        passed=abs(measured_ms - known_ms) <= limit * known_ms,
    )


def _row(delay: KnownDelay, figure: Percentile, resolution: Sequence[Resolution]) -> DelayResult:
    errors = tuple(block_error(block, figure) for block in delay.blocks)
    middle = _median_block(errors)
    worst = max(errors, key=lambda one: abs(one.added_error_ms))
    limit = limit_ms(figure, middle.known_ms)
    if delay.arrangement == "cell":
        widths = [one.half_width_ms for one in resolution if _same(one, delay, figure)]
        limit = max([limit, *widths])
    if _is_thin(delay.blocks):
        limit = max(limit, *(_sampling_ms(block.lane, block.control, figure) for block in delay.blocks))
    return DelayResult(
        block=middle.block,
        known_ms=middle.known_ms,
        control_ms=middle.control_ms,
        added_ms=middle.added_ms,
        added_error_ms=middle.added_error_ms,
        shift_error_ms=statistics.median(one.shift_error_ms for one in errors),
        delay=delay.label,
        mode=delay.mode,
        arrangement=delay.arrangement,
        condition=delay.condition,
        figure=figure,
        worst_added_error_ms=worst.added_error_ms,
        limit_ms=limit,
        sample_count=min(len(block.lane.added_ns) for block in delay.blocks),
        control_count=min(len(block.control.added_ns) for block in delay.blocks),
        blocks=errors,
        judged=_has_enough_samples(delay.blocks, figure),
        passed=abs(middle.added_error_ms) <= limit,
    )


def _has_enough_samples(blocks: Sequence[DelayBlock], figure: Percentile) -> bool:
    """Tell whether the blocks together have 10 samples beyond the percentile: METHOD 5 keeps others out of gates."""
    return (
        sum(quantiles.beyond(len(block.lane.added_ns), SHARES[figure]) for block in blocks)
        >= quantiles.SAMPLES_BEYOND
    )


def _median_block(errors: Sequence[BlockError]) -> BlockError:
    """Return the median block by added error; of an even number the one of the middle two with the larger |error|."""
    ordered = sorted(errors, key=lambda one: one.added_error_ms)
    middle = ordered[(len(ordered) - 1) // 2 : len(ordered) // 2 + 1]
    return max(middle, key=lambda one: abs(one.added_error_ms))


def _is_thin(blocks: Sequence[DelayBlock]) -> bool:
    sizes = [(len(block.lane.added_ns), len(block.control.added_ns)) for block in blocks]
    return is_thin(len(blocks), min(lane for lane, _ in sizes), min(control for _, control in sizes))


def is_thin(block_count: int, sample_count: int, control_count: int) -> bool:
    """Tell whether a figure has too little behind it for a certificate that is more than provisional."""
    return block_count < BLOCKS_NEEDED or sample_count < SAMPLES_NEEDED or control_count < CONTROL_NEEDED


def _sampling_ms(one: LaneSamples, other: LaneSamples, figure: Percentile) -> float:
    """Return the largest difference of two lanes that so few samples alone explain: three standard errors."""
    errors = [sampling_error_ns(lane.added_ns, SHARES[figure]) for lane in (one, other)]
    return SIGMAS * math.hypot(*errors) / NS_PER_MS


def _same(one: Resolution, delay: KnownDelay, figure: Percentile) -> bool:
    return (one.mode, one.arrangement, one.figure) == (delay.mode, delay.arrangement, figure)


def _difference_ms(one: LaneSamples, other: LaneSamples, share: float) -> float:
    """Return by how much two lanes differ, with the lengths of late turns in or taken off, whichever is worse."""
    ways = ((one, other), (one.shortened, other.shortened))
    differences = [quantile_ns(mine.added_ns, share) - quantile_ns(theirs.added_ns, share) for mine, theirs in ways]
    return max(differences, key=abs) / NS_PER_MS


def _resolution(
    pairs: Sequence[tuple[LaneSamples, LaneSamples]], figure: Percentile, mode: Mode, arrangement: Arrangement
) -> Resolution:
    share = SHARES[figure]
    differences = [_difference_ms(one, other, share) for one, other in pairs]
    middle = statistics.median(differences)
    spread = math.sqrt(statistics.fmean(one**2 for one in differences))
    half_width = t_quantile(len(differences)) * spread
    limit = max(ABSOLUTE_LIMIT_MS[figure], _interval_ms(differences))
    smallest = min(len(lane.added_ns) for pair in pairs for lane in pair)
    if is_thin(len(pairs), smallest, CONTROL_NEEDED):
        limit = max(limit, *(_sampling_ms(one, other, figure) for one, other in pairs))
    return Resolution(
        mode=mode,
        arrangement=arrangement,
        figure=figure,
        half_width_ms=half_width,
        median_difference_ms=middle,
        worst_difference_ms=max(differences, key=abs),
        block_count=len(differences),
        limit_ms=limit,
        passed=len(differences) == 1 or abs(middle) <= limit,
    )


def _interval_ms(differences: Sequence[float]) -> float:
    """Return the half width of the t interval of their mean; 0 of a single one."""
    count = len(differences)
    return t_quantile(count - 1) * statistics.stdev(differences) / math.sqrt(count) if count > 1 else 0.0


def _jitter(delays: Sequence[KnownDelay], mode: Mode, figure: Percentile) -> Iterator[JitterResult]:
    judged = [delay for delay in delays if figure != "p50" or delay.two_valued]
    errors = [block_error(block, figure) for delay in judged for block in delay.blocks]
    if not errors:
        return
    added = statistics.fmean(abs(one.added_error_ms) for one in errors)
    shift = statistics.fmean(abs(one.shift_error_ms) for one in errors)
    yield JitterResult(
        mode=mode,
        figure=figure,
        delays=tuple(delay.label for delay in judged),
        added_mean_error_ms=added,
        shift_mean_error_ms=shift,
        ratio=shift / added if added else None,
        judged=not any(_is_thin(delay.blocks) for delay in judged),
        passed=shift >= JITTER_FACTOR * added,
    )
