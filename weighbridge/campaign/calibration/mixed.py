"""Mixed blocks: one probe run over all lanes, each request drawn for one of them.

Called by `calibrate`. A block that the machine spoiled is repeated, as often as the matrix allows; every attempt is
kept.
"""

from __future__ import annotations

import hashlib
import math
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType

from weighbridge import resources
from weighbridge.campaign.calibration.kept import inband_of, weights_of
from weighbridge.campaign.calibration.lanes import TWINS, WeightLane, first_answer
from weighbridge.campaign.calibration.windows import CellSpec, Manner, Steps, folder_of, rate_load, run_cell
from weighbridge.campaign.calibration.witness import WEIGHTS_FILE, forget, recorded
from weighbridge.campaign.stage import Stage
from weighbridge.errors import LaneFailed
from weighbridge.judge.blocks import judge_block, judge_busy_block
from weighbridge.judge.calibration import Weight, weigh
from weighbridge.judge.inputs import Judgement, RunInputs
from weighbridge.judge.weighed import WeighedLane, timed_rows, weighed_lane, weight_block
from weighbridge.load.mixed_probe import MixedProbe
from weighbridge.matrix.calibration import Calibration, MixedLoad, Neighbour, Surroundings
from weighbridge.matrix.cells import FLOOR
from weighbridge.matrix.loads import RateLoad
from weighbridge.matrix.requests import Mode
from weighbridge.record.run import RunRecord
from weighbridge.rig.services import Service

# More than are ever open at a time, and so many requests are the block's run-up, left out by rule.
_CONNECTIONS = 100
_NEIGHBOUR_WITHIN_S = 10.0
_JUDGES: Mapping[Surroundings, Callable[[RunInputs], Judgement]] = MappingProxyType(
    {"quiet": judge_block, "jitter": judge_block, "busy": judge_busy_block}
)


@dataclass(frozen=True)
class Kind:
    """Mode and surroundings of mixed blocks."""

    mode: Mode
    surroundings: Surroundings

    @property
    def id(self) -> str:
        """Name of the blocks among the kept runs."""
        return f"mixed.{self.mode}.{self.surroundings}"


@dataclass(frozen=True)
class MixedBlock:
    """One block that counts: its lanes by name."""

    kind: Kind
    number: int
    lanes: Mapping[str, WeighedLane]


@dataclass(frozen=True)
class MixedBlocks:
    """Blocks that count, and a sentence for each that no attempt brought."""

    blocks: tuple[MixedBlock, ...] = ()
    gaps: tuple[str, ...] = ()


NO_BLOCKS = MixedBlocks()


def run_blocks(stage: Stage, steps: Steps, spec: Calibration, lanes: Sequence[WeightLane]) -> MixedBlocks:
    """Every block that the matrix asks for, and more of them where it asks for that."""
    runner = Runner(stage, steps, spec, lanes, spec.repeat_count)
    parts = [blocks_of(runner, kind, load) for kind, load in _kinds(spec)]
    return MixedBlocks(
        tuple(block for part in parts for block in part.blocks), tuple(gap for part in parts for gap in part.gaps)
    )


def blocks_of(runner: Runner, kind: Kind, load: MixedLoad) -> MixedBlocks:
    """Blocks of one kind. Of a hundred percentiles some are off by chance; in more blocks a true error stays."""
    made = runner.blocks(kind, load, range(1, load.block_count + 1))
    if not load.more_count or made.gaps or not is_off(runner.spec, made.blocks):
        return made
    runner.announce(kind, load)
    last = load.block_count + load.more_count
    more = runner.blocks(kind, load, range(load.block_count + 1, last + 1))
    return MixedBlocks(made.blocks + more.blocks, more.gaps)


def is_off(spec: Calibration, blocks: Sequence[MixedBlock]) -> bool:
    """Whether some percentile of these blocks would fail a certificate."""
    rows = (row for weight in weights_of_blocks(spec, blocks) for row in weigh(weight))
    return any(row.judged and not row.passed for row in rows)


def weights_of_blocks(spec: Calibration, blocks: Sequence[MixedBlock]) -> tuple[Weight, ...]:
    """Each weight in each mode and surroundings, over its blocks."""
    return tuple(
        Weight(
            name=name,
            mode=kind.mode,
            arrangement="mixed",
            surroundings=kind.surroundings,
            blocks=tuple(
                weight_block(block.number, block.lanes[name], [block.lanes[twin] for twin in TWINS])
                for block in blocks
                if block.kind == kind
            ),
            two_valued=name in spec.two_valued,
        )
        for kind in dict.fromkeys(block.kind for block in blocks)
        for name in spec.weights
    )


def _kinds(spec: Calibration) -> Iterator[tuple[Kind, MixedLoad]]:
    for mode in spec.modes:
        load = spec.mixed(mode)
        if load is not None:
            yield from ((Kind(mode, surroundings), load) for surroundings in load.surroundings)


@dataclass
class Runner:
    """Runs blocks; repeats those that the machine spoiled while the matrix allows it."""

    stage: Stage
    steps: Steps
    spec: Calibration
    lanes: Sequence[WeightLane]
    repeats_left: int

    def blocks(self, kind: Kind, load: MixedLoad, numbers: Iterable[int]) -> MixedBlocks:
        """The blocks with these numbers."""
        found, gaps = [], []
        for number in numbers:
            record = self.block(kind, load, number)
            if record.reason is None:
                found.append(_read(self.stage, record, kind, self.lanes))
            else:
                gaps.append(f"block {number} of {kind.id} was not accepted: {record.reason.detail}")
        return MixedBlocks(tuple(found), tuple(gaps))

    def announce(self, kind: Kind, load: MixedLoad) -> None:
        """Tell that more blocks of a kind are to come."""
        self.stage.listener.phase(f"{kind.id}: some percentile is off; measuring {load.more_count} blocks more")
        self.steps.add(load.more_count, _load(load, self.lanes).duration_s or 0.0)

    def block(self, kind: Kind, load: MixedLoad, number: int) -> RunRecord:
        """The accepted attempt at a block, else the last one."""
        most = self.stage.request.loaded.matrix.accept.attempts_per_run
        record = self._attempt(kind, load, Manner(number, 1, _JUDGES[kind.surroundings]))
        for attempt in range(2, most + 1):
            if record.accepted or not self.repeats_left:
                break
            self.repeats_left -= 1
            record = self._attempt(kind, load, Manner(number, attempt, _JUDGES[kind.surroundings]))
        return record

    def _attempt(self, kind: Kind, load: MixedLoad, manner: Manner) -> RunRecord:
        forget(self.lanes[-1].lane)
        told = _told(self.stage, self.spec, self.lanes, f"{kind.id} {manner.block} {manner.number}", kind)
        cell = CellSpec(kind.id, kind.mode, _load(load, self.lanes))
        with _company(self.stage, self.spec.neighbour if kind.surroundings == "busy" else None, cell):
            return run_cell(told, self.steps, self.lanes[0].lane, cell, manner)


def _load(load: MixedLoad, lanes: Sequence[WeightLane]) -> RateLoad:
    count = math.ceil(load.lane_count * sum(one.share for one in lanes))
    return rate_load(load.rate_rps, count, _CONNECTIONS, warmup_count=25 * len(lanes))


def _told(stage: Stage, spec: Calibration, lanes: Sequence[WeightLane], seed_text: str, kind: Kind) -> Stage:
    """The stage of one block: the probe over all lanes, the provider's jitter, and what is kept besides."""
    text = f"{stage.request.loaded.matrix.seed} {seed_text}"
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:6])
    driver = MixedProbe(tuple(one.probe_lane for one in lanes), seed)
    jitter = {"jitter_s": spec.jitter_s, "jitter_seed": seed} if kind.surroundings == "jitter" else {}
    return replace(
        stage,
        request=replace(stage.request, driver=driver),
        mocks=replace(stage.mocks, manner=jitter),
        witness=lambda _: {WEIGHTS_FILE: recorded(lanes[-1].lane)},
    )


def _read(stage: Stage, record: RunRecord, kind: Kind, lanes: Sequence[WeightLane]) -> MixedBlock:
    folder = folder_of(stage.store, record)
    facts = inband_of(folder, kind.mode, first_answer(stage))
    rows, weights = timed_rows(facts, _CONNECTIONS), weights_of(folder)
    found = {
        one.name: weighed_lane(facts, rows & (facts.requests.lane == number), weights)
        for number, one in enumerate(lanes)
        if one.weight != FLOOR
    }
    return MixedBlock(kind, record.block, found)


@contextmanager
def _company(stage: Stage, neighbour: Neighbour | None, cell: CellSpec) -> Iterator[None]:
    """The planted neighbour for as long as a block takes; none where none is wanted."""
    if neighbour is None:
        yield
        return
    # It is stopped at the end of the block; this is how long it lives should we not.
    life_s = 60 + 3 * (cell.load.duration_s or 0.0)
    argv = ("--cores", str(neighbour.core_count), "--share", str(neighbour.share), "--seconds", f"{life_s:.0f}")
    child = stage.supervisor.start(
        Service(
            name="busy neighbour",
            argv=(sys.executable, "-m", "mocks.neighbour", *argv),
            env={"PYTHONPATH": str(resources.root())},
            cwd=stage.scratch,
            log=stage.scratch / "neighbour.log",
        )
    )
    try:
        begun = time.monotonic()
        while "takes" not in child.log_tail():
            if child.death() or time.monotonic() - begun > _NEIGHBOUR_WITHIN_S:
                raise LaneFailed(
                    "the busy neighbour did not start", reason="mock_failed", phase="start", log_tail=child.log_tail()
                )
            time.sleep(0.02)
        yield
    finally:
        stage.supervisor.stop(child)
