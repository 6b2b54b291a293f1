"""A calibration, after the runs of its matrix: is this rig right, and how fine is it here.

A part that cannot be done becomes a sentence of the certificate, which fails by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from weighbridge.campaign.calibration.baselines import direct_lane
from weighbridge.campaign.calibration.blocks import TWINS, MixedBlock, mixed_blocks, weights_of_blocks
from weighbridge.campaign.calibration.cpu_burn import weigh_burn
from weighbridge.campaign.calibration.faults import plant_faults
from weighbridge.campaign.calibration.known_delays import CellWeights, weights_of_cells
from weighbridge.campaign.calibration.setting import Setting, weight_of
from weighbridge.campaign.schedule import Schedule
from weighbridge.judge.calibration.certificate import Findings, Origin, certify
from weighbridge.judge.calibration.known_delays import Weight, aa_pair, under_jitter, weigh
from weighbridge.record.certificate import Certificate, CpuResult, Resolution


def calibration_schedule(setting: Setting) -> Schedule[Certificate]:
    """Yield every visit of a calibration, and return the certificate."""
    spec = setting.spec
    mixed = yield from mixed_blocks(setting)
    faults = yield from plant_faults(setting)
    burnt = None if spec.burn is None else (yield from weigh_burn(setting, spec.burn))
    direct = yield from direct_lane(setting, spec.floors)
    cells = weights_of_cells(setting)
    weights = (*weights_of_blocks(spec, mixed.blocks), *cells.weights)
    resolution = _resolution(mixed.blocks, cells)
    unread = [burnt] if isinstance(burnt, str) else []
    findings = Findings(
        weights=tuple(row for weight in weights for row in weigh(weight, resolution)),
        faults=faults,
        floors=direct.floors,
        jitter=under_jitter(weights),
        resolution=resolution,
        stamping=direct.stamping,
        cpu=burnt if isinstance(burnt, CpuResult) else None,
        mock_ceiling_rps=direct.ceiling,
        gaps=(*mixed.gaps, *unread, *_unweighed(setting, weights)),
    )
    return certify(_origin(setting), findings, is_quick=setting.request.loaded.quick)


def _resolution(blocks: Sequence[MixedBlock], cells: CellWeights) -> tuple[Resolution, ...]:
    """Return A/A pairs: of quiet mixed blocks by mode, and of cells."""
    found: list[Resolution] = []
    for mode in dict.fromkeys(one.kind.mode for one in blocks):
        quiet = [one for one in blocks if one.kind.mode == mode and one.kind.surroundings == "quiet"]
        pairs = [(one.lanes[TWINS[0]].net, one.lanes[TWINS[1]].net) for one in quiet]
        if pairs:
            found += aa_pair(pairs, mode, "mixed")
    for mode, twins in cells.pairs.items():
        found += aa_pair(twins, mode, "cell")
    return tuple(found)


def _unweighed(setting: Setting, weights: Sequence[Weight]) -> tuple[str, ...]:
    """Return a sentence for each place in which weights were asked for and none was measured."""
    spec = setting.spec
    wanted = {
        (mode, "mixed", around): set(spec.weights) for mode in spec.modes for around in spec.surroundings_of(mode)
    }
    listed = {weight_of(cell.lane) for cell in setting.request.cells if cell.lane.gateway == spec.recipe}
    for mode in setting.request.loaded.matrix.modes:
        wanted[mode, "cell", "quiet"] = listed & set(spec.weights)
    for weight in weights:
        wanted.get((weight.mode, weight.arrangement, weight.surroundings), set()).discard(weight.name)
    return tuple(
        f"{mode}, {arrangement}, {around}: nothing was measured of {', '.join(sorted(missing))}"
        for (mode, arrangement, around), missing in wanted.items()
        if missing
    )


def _origin(setting: Setting) -> Origin:
    record = setting.store.record()
    facts = {tool.name: tool for tool in (*record.tools, *(tool.facts for tool in setting.programs.tools.values()))}
    return Origin(
        campaign=record.campaign,
        made_at=datetime.now(UTC),
        method_version=record.method_version,
        weighbridge_version=record.weighbridge_version,
        host=record.host,
        tools=tuple(facts.values()),
    )
