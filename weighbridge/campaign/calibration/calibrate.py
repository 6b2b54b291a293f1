"""A calibration, from the runs of the walk to `certificate.json`: is this scale right, and how fine is it here.

Called by `campaign.run` after the walk of a matrix that asks for it. A part that cannot be done becomes a sentence of
the certificate, which fails by it; only a signal, a full disk or a bug ends a calibration early.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TypeVar

from weighbridge.campaign.calibration.burning import weigh_burn
from weighbridge.campaign.calibration.cells import CellWeights, weights_of_cells
from weighbridge.campaign.calibration.faults import plant_faults
from weighbridge.campaign.calibration.floors import (
    DriverTools,
    driver_floors,
    mock_ceiling,
    stamping,
    with_driver,
)
from weighbridge.campaign.calibration.lanes import TWINS, all_up, direct_up, weight_of
from weighbridge.campaign.calibration.mixed import (
    NO_BLOCKS,
    MixedBlock,
    MixedBlocks,
    run_blocks,
    weights_of_blocks,
)
from weighbridge.campaign.calibration.tools import find_drivers
from weighbridge.campaign.calibration.windows import Steps, kept_apart
from weighbridge.campaign.stage import Stage
from weighbridge.errors import LaneFailed
from weighbridge.judge.calibration import Weight, aa_pair, under_jitter, weigh
from weighbridge.judge.certificate import Findings, Origin, certify
from weighbridge.load.drivers import STAMP_READER
from weighbridge.matrix.calibration import Calibration, Floors
from weighbridge.record.certificate import (
    Certificate,
    CpuResult,
    DriverFloor,
    FaultResult,
    Resolution,
    StampingResult,
)
from weighbridge.record.figures import FigureOrAbsent
from weighbridge.record.run import NOT_MEASURED

Part = TypeVar("Part")
_NO_FAULTS: tuple[FaultResult, ...] = ()


@dataclass
class _Gaps:
    """What was asked for and could not be measured, one sentence each."""

    stage: Stage
    texts: list[str] = field(default_factory=list)

    def part(self, name: str, do: Callable[[], Part], otherwise: Part) -> Part:
        """What a part gives; `otherwise`, and a sentence, when a lane of it fails."""
        try:
            return do()
        except LaneFailed as error:
            text = self.stage.without_folders(f"{name}: {error}")
            self.stage.diary.write("calibration_failed", part=name, text=text)
            self.stage.listener.warning(text)
            self.texts.append(text)
            return otherwise


@dataclass(frozen=True)
class _Direct:
    """What the direct lane alone showed."""

    floors: tuple[DriverFloor, ...] = ()
    stamping: StampingResult | None = None
    ceiling: FigureOrAbsent = NOT_MEASURED


def calibrate(stage: Stage, spec: Calibration) -> Certificate:
    """The certificate, kept in the campaign's folder."""
    tools = find_drivers(stage)
    apart = with_driver(kept_apart(stage), STAMP_READER, tools)
    steps = Steps(spec.estimated_s, spec.window_count)
    gaps = _Gaps(stage)
    blocks = gaps.part("mixed blocks", lambda: _blocks(apart, steps, spec), NO_BLOCKS)
    gaps.texts += blocks.gaps
    faults = gaps.part("planted faults", lambda: plant_faults(apart, steps, spec), _NO_FAULTS)
    burnt = gaps.part("CPU burn", lambda: _burn(apart, steps, spec), None)
    direct = gaps.part("direct lane", lambda: _direct(apart, steps, spec.floors, tools), _Direct())
    cells = weights_of_cells(stage, spec)
    weights = (*weights_of_blocks(spec, blocks.blocks), *cells.weights)
    resolution = _resolution(blocks.blocks, cells)
    if isinstance(burnt, str):
        gaps.texts.append(burnt)
    findings = Findings(
        weights=tuple(row for weight in weights for row in weigh(weight, resolution)),
        faults=faults,
        floors=direct.floors,
        jitter=under_jitter(weights),
        resolution=resolution,
        stamping=direct.stamping,
        cpu=burnt if isinstance(burnt, CpuResult) else None,
        mock_ceiling_rps=direct.ceiling,
        gaps=(*gaps.texts, *_unweighed(stage, spec, weights)),
    )
    certificate = certify(_origin(stage, tools), findings, is_quick=stage.request.loaded.quick)
    stage.store.write_document("certificate.json", certificate)
    return certificate


def _blocks(stage: Stage, steps: Steps, spec: Calibration) -> MixedBlocks:
    if not spec.modes:
        return NO_BLOCKS
    with all_up(stage, spec) as lanes:
        return run_blocks(stage, steps, spec, lanes)


def _burn(stage: Stage, steps: Steps, spec: Calibration) -> CpuResult | str | None:
    return None if spec.burn is None else weigh_burn(stage, steps, spec, spec.burn)


def _direct(stage: Stage, steps: Steps, floors: Floors | None, tools: DriverTools) -> _Direct:
    if floors is None:
        return _Direct()
    with direct_up(stage) as lane:
        return _Direct(
            floors=driver_floors(stage, steps, lane, floors, tools),
            stamping=stamping(stage, steps, lane, floors, tools),
            ceiling=mock_ceiling(stage, steps, lane, tools),
        )


def _resolution(blocks: Sequence[MixedBlock], cells: CellWeights) -> tuple[Resolution, ...]:
    """A/A pairs: of quiet mixed blocks by mode, and of cells."""
    found: list[Resolution] = []
    for mode in dict.fromkeys(one.kind.mode for one in blocks):
        quiet = [one for one in blocks if one.kind.mode == mode and one.kind.surroundings == "quiet"]
        pairs = [(one.lanes[TWINS[0]].net, one.lanes[TWINS[1]].net) for one in quiet]
        if pairs:
            found += aa_pair(pairs, mode, "mixed")
    for mode, twins in cells.pairs.items():
        found += aa_pair(twins, mode, "cell")
    return tuple(found)


def _unweighed(stage: Stage, spec: Calibration, weights: Sequence[Weight]) -> tuple[str, ...]:
    """A sentence for each place in which weights were asked for and none was measured."""
    wanted = {
        (mode, "mixed", around): set(spec.weights) for mode in spec.modes for around in spec.surroundings_of(mode)
    }
    listed = {weight_of(cell.lane) for cell in stage.request.cells if cell.lane.gateway == spec.recipe}
    for mode in stage.request.loaded.matrix.modes:
        wanted[mode, "cell", "quiet"] = listed & set(spec.weights)
    for weight in weights:
        wanted.get((weight.mode, weight.arrangement, weight.surroundings), set()).discard(weight.name.split()[0])
    return tuple(
        f"{mode}, {arrangement}, {around}: nothing was measured of {', '.join(sorted(missing))}"
        for (mode, arrangement, around), missing in wanted.items()
        if missing
    )


def _origin(stage: Stage, tools: DriverTools) -> Origin:
    record = stage.store.record()
    facts = {tool.name: tool for tool in (*record.tools, *(tool.facts for tool in tools.tools.values()))}
    return Origin(
        campaign=record.campaign,
        made_at=datetime.now(UTC),
        method_version=record.method_version,
        weighbridge_version=record.weighbridge_version,
        host=record.host,
        tools=tuple(facts.values()),
    )
