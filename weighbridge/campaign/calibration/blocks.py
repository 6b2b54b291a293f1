"""Mixed blocks: one probe run over all lanes, each request drawn for one of them.

All delays are one gateway, so that no difference of processes looks like one of delays; each request names its own
in a header. A block that the machine spoiled is repeated, as often as the matrix allows; every attempt is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

from weighbridge.campaign.calibration.setting import SHELF, CalibrationContext, rate_load
from weighbridge.campaign.schedule import Route, Schedule, Visit, WindowSpec, block
from weighbridge.judge.calibration.known_delays import KnownDelay, measure
from weighbridge.judge.calibration.lane_samples import MeasuredLane, delay_block, measured_lane, timed_rows
from weighbridge.judge.run.block_acceptance import judge_block
from weighbridge.matrix.calibration import CONTROL, DELAY_BY_HEADER, DELAY_HEADER, Calibration, Condition, MixedLoad
from weighbridge.matrix.loads import RateLoad
from weighbridge.matrix.requests import Mode
from weighbridge.record.run import RunRecord

# More than are ever open at a time, and so many requests are the block's run-up, left out by rule.
_CONNECTIONS = 100
_WARMUP_PER_LANE = 25
# The direct lane is shown, not judged: half as many requests do.
_DIRECT_SHARE = 0.5
# The control has two lanes.
TWINS = (f"{CONTROL} a", f"{CONTROL} b")


@dataclass(frozen=True)
class BlockKind:
    """Mode and condition of mixed blocks."""

    mode: Mode
    condition: Condition

    @property
    def id(self) -> str:
        """Name of the blocks among the kept runs."""
        return f"mixed.{self.mode}.{self.condition}"


@dataclass(frozen=True)
class MixedBlock:
    """One block that counts: its lanes by name."""

    kind: BlockKind
    number: int
    lanes: Mapping[str, MeasuredLane]


@dataclass(frozen=True)
class MixedBlocks:
    """Blocks that count, and a sentence for each that no attempt brought."""

    blocks: tuple[MixedBlock, ...] = ()
    gaps: tuple[str, ...] = ()


@dataclass(frozen=True)
class Made:
    """One kind's blocks as they were made, and how many repeats are left for the next."""

    blocks: MixedBlocks
    repeats_remaining: int


ReadBlock = Callable[[RunRecord, BlockKind], MixedBlock]


def mixed_blocks(setting: CalibrationContext) -> Schedule[MixedBlocks]:
    """Yield every block that the matrix asks for, and more of them where it asks for that."""
    left, parts = setting.spec.repeat_count, list[MixedBlocks]()
    for kind, load in _kinds(setting.spec):
        made = yield from blocks_of(setting, kind, load, left)
        left = made.repeats_remaining
        parts.append(made.blocks)
    return MixedBlocks(
        tuple(one for part in parts for one in part.blocks), tuple(gap for part in parts for gap in part.gaps)
    )


def blocks_of(
    setting: CalibrationContext,
    kind: BlockKind,
    load: MixedLoad,
    repeats_remaining: int,
    read: ReadBlock | None = None,
) -> Schedule[Made]:
    """Yield the blocks of one kind, and more of them where some percentile is off.

    Of a hundred percentiles some are off by chance; in more blocks a true error stays.
    """
    read = read or (lambda record, of: _read(setting, record, of))
    visit = _visit(setting, kind, load)
    first = yield from _numbered(setting, visit, range(1, load.block_count + 1), repeats_remaining)
    made = _counted(first, kind, read)
    left = repeats_remaining - _repeats(first)
    if not load.more_count or made.gaps or not is_off(setting.spec, made.blocks):
        return Made(made, left)
    numbers = range(load.block_count + 1, load.block_count + load.more_count + 1)
    more = yield from _numbered(setting, visit, numbers, left, is_planned=False)
    further = _counted(more, kind, read)
    return Made(MixedBlocks(made.blocks + further.blocks, further.gaps), left - _repeats(more))


def is_off(spec: Calibration, blocks: Sequence[MixedBlock]) -> bool:
    """Tell whether some percentile of these blocks would fail a certificate."""
    rows = (row for delay in delays_of_blocks(spec, blocks) for row in measure(delay))
    return any(row.judged and not row.passed for row in rows)


def delays_of_blocks(spec: Calibration, blocks: Sequence[MixedBlock]) -> tuple[KnownDelay, ...]:
    """Return each delay in each mode and condition, over its blocks."""
    return tuple(
        KnownDelay(
            name=name,
            mode=kind.mode,
            arrangement="mixed",
            condition=kind.condition,
            blocks=tuple(
                delay_block(one.number, one.lanes[name], [one.lanes[twin] for twin in TWINS])
                for one in blocks
                if one.kind == kind
            ),
            two_valued=name in spec.two_valued,
        )
        for kind in dict.fromkeys(one.kind for one in blocks)
        for name in spec.known_delays
    )


def _kinds(spec: Calibration) -> Iterator[tuple[BlockKind, MixedLoad]]:
    for mode in spec.modes:
        load = spec.mixed(mode)
        if load is not None:
            yield from ((BlockKind(mode, condition), load) for condition in load.conditions)


def _named(spec: Calibration) -> tuple[tuple[str, str], ...]:
    """Return the lanes of a block: their names, and the delay that their requests name."""
    return (*((name, CONTROL) for name in TWINS), *((delay, delay) for delay in spec.known_delays))


def _visit(setting: CalibrationContext, kind: BlockKind, load: MixedLoad) -> Visit:
    delays = [delay for _, delay in _named(setting.spec)]
    lanes = (setting.direct, setting.lane(DELAY_BY_HEADER))
    routes = (Route(0, share=_DIRECT_SHARE), *(Route(1, ((DELAY_HEADER, delay),)) for delay in delays))
    jitter = {"jitter_s": setting.spec.jitter_s} if kind.condition == "jitter" else {}
    window = WindowSpec(
        setting.cell(kind.id, setting.direct, kind.mode, _load(load, routes)),
        routes,
        MappingProxyType(jitter),
        setting.spec.neighbour if kind.condition == "busy" else None,
        judge_block,
    )
    return Visit(lanes, (window,), preparation="bare", shelf=SHELF)


def _load(load: MixedLoad, routes: Sequence[Route]) -> RateLoad:
    """Return the load of a block, at random arrivals.

    Dithered ones keep their distance: a request that goes on at once would meet others more rarely than one that
    slept first, and the difference (20 µs at the median, 50 at p95) would look like an error.
    """
    count = math.ceil(load.lane_count * sum(one.share for one in routes))
    warmup_count = _WARMUP_PER_LANE * len(routes)
    return rate_load(load.rate_rps, count, _CONNECTIONS, warmup_count, arrivals="poisson")


def _numbered(
    setting: CalibrationContext,
    visit: Visit,
    numbers: Iterable[int],
    repeats_remaining: int,
    *,
    is_planned: bool = True,
) -> Schedule[tuple[tuple[RunRecord, ...], ...]]:
    """Yield the blocks with these numbers, and return the attempts at each."""
    made = []
    attempts = setting.request.loaded.matrix.accept.attempts_per_run
    for number in numbers:
        numbered = replace(visit, block=number, is_planned=is_planned)
        records = yield from block([numbered], min(attempts, 1 + repeats_remaining))
        repeats_remaining -= len(records) - 1
        made.append(records)
    return tuple(made)


def _repeats(made: Sequence[Sequence[RunRecord]]) -> int:
    return sum(len(records) - 1 for records in made)


def _counted(made: Sequence[Sequence[RunRecord]], kind: BlockKind, read: ReadBlock) -> MixedBlocks:
    last = [records[-1] for records in made]
    gaps = tuple(
        f"block {one.block} of {kind.id} was not accepted: {one.reason.detail}" for one in last if one.reason
    )
    return MixedBlocks(tuple(read(one, kind) for one in last if one.accepted), gaps)


def _read(setting: CalibrationContext, record: RunRecord, kind: BlockKind) -> MixedBlock:
    stored = setting.stored(record)
    trace = stored.trace(kind.mode, setting.answer, _CONNECTIONS)
    rows, truth = timed_rows(trace), stored.truth()
    found = {
        name: measured_lane(trace, rows & (trace.requests.lane == number), truth)
        for number, (name, _) in enumerate(_named(setting.spec), 1)
    }
    return MixedBlock(kind, record.block, found)
