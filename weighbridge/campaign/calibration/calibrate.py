"""A calibration, after the runs of its matrix: is this rig right, and how fine is it here.

A part that cannot be done becomes a sentence of the certificate, which fails by it.
"""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.campaign.calibration.baselines import direct_lane
from weighbridge.campaign.calibration.blocks import TWINS, MixedBlock, delays_of_blocks, mixed_blocks
from weighbridge.campaign.calibration.cpu_burn import measure_burn
from weighbridge.campaign.calibration.faults import inject_faults
from weighbridge.campaign.calibration.known_delays import CellDelays, delays_of_cells
from weighbridge.campaign.calibration.setting import CalibrationContext, delay_of
from weighbridge.campaign.certificate_lookup import origin_of
from weighbridge.campaign.schedule import Schedule
from weighbridge.judge.calibration.certificate import CertificateOrigin, Findings, certify
from weighbridge.judge.calibration.known_delays import KnownDelay, aa_pair, measure, under_jitter
from weighbridge.record.certificate import Certificate, CpuResult, Resolution


def calibration_schedule(setting: CalibrationContext) -> Schedule[Certificate]:
    """Yield every visit of a calibration, and return the certificate."""
    spec = setting.spec
    mixed = yield from mixed_blocks(setting)
    faults = yield from inject_faults(setting)
    burnt = None if spec.burn is None else (yield from measure_burn(setting, spec.burn))
    direct = yield from direct_lane(setting, spec.baselines)
    cells = delays_of_cells(setting)
    delays = (*delays_of_blocks(spec, mixed.blocks), *cells.delays)
    resolution = _resolution(mixed.blocks, cells)
    unread = [burnt] if isinstance(burnt, str) else []
    findings = Findings(
        known_delays=tuple(row for delay in delays for row in measure(delay, resolution)),
        faults=faults,
        baselines=direct.baselines,
        jitter=under_jitter(delays),
        resolution=resolution,
        stamping=direct.stamping,
        cpu=burnt if isinstance(burnt, CpuResult) else None,
        mock_ceiling_rps=direct.ceiling,
        gaps=(*mixed.gaps, *unread, *_unmeasured(setting, delays)),
    )
    return certify(_origin(setting), findings, is_quick=setting.request.loaded.quick)


def _resolution(blocks: Sequence[MixedBlock], cells: CellDelays) -> tuple[Resolution, ...]:
    """Return A/A pairs: of quiet mixed blocks by mode, and of cells."""
    found: list[Resolution] = []
    for mode in dict.fromkeys(one.kind.mode for one in blocks):
        quiet = [one for one in blocks if one.kind.mode == mode and one.kind.condition == "quiet"]
        pairs = [(one.lanes[TWINS[0]].net, one.lanes[TWINS[1]].net) for one in quiet]
        if pairs:
            found += aa_pair(pairs, mode, "mixed")
    for mode, twins in cells.pairs.items():
        found += aa_pair(twins, mode, "cell")
    return tuple(found)


def _unmeasured(setting: CalibrationContext, delays: Sequence[KnownDelay]) -> tuple[str, ...]:
    """Return a sentence for each place in which delays were asked for and none was measured."""
    spec = setting.spec
    wanted = {
        (mode, "mixed", around): set(spec.known_delays) for mode in spec.modes for around in spec.conditions_of(mode)
    }
    listed = {delay_of(cell.lane) for cell in setting.request.cells if cell.lane.gateway == spec.recipe}
    for mode in setting.request.loaded.matrix.modes:
        wanted[mode, "cell", "quiet"] = listed & set(spec.known_delays)
    for delay in delays:
        wanted.get((delay.mode, delay.arrangement, delay.condition), set()).discard(delay.name)
    return tuple(
        f"{mode}, {arrangement}, {around}: nothing was measured of {', '.join(sorted(missing))}"
        for (mode, arrangement, around), missing in wanted.items()
        if missing
    )


def _origin(setting: CalibrationContext) -> CertificateOrigin:
    return origin_of(setting.store.record(), *setting.programs.all_facts)
