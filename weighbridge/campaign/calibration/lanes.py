"""The lanes of a calibration: every weight up at once on a port of its own, or one gateway for a few windows.

Called by the parts of a calibration. A lane is started as the walk starts its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace

from weighbridge.campaign.stage import Stage
from weighbridge.campaign.warmup import warm_up
from weighbridge.load.probe.plan import ProbeLane
from weighbridge.matrix.calibration import SETTING, TARE, Calibration
from weighbridge.matrix.cells import FLOOR, AnswerSpec, LaneKey
from weighbridge.rig.lane import Lane, LaneSetup, lane_up
from weighbridge.rig.ports import choose

# These are mocks of ours: what answers for a moment will answer.
_HOLD_S = 0.2
_PORTS_OF_WALK = 6
_JSON = ("content-type", "application/json")


@dataclass(frozen=True)
class WeightLane:
    """A lane of a mixed block: `weight` is the value of its setting, or `direct`; the tare has two."""

    name: str
    weight: str
    lane: Lane
    share: float = 1.0

    @property
    def probe_lane(self) -> ProbeLane:
        """The lane as the probe is told it."""
        return ProbeLane(self.lane.url, (*self.lane.headers, _JSON), self.share)


# The direct lane is shown, not judged: half as many requests do.
DIRECT_SHARE = 0.5
TWINS = (f"{TARE} a", f"{TARE} b")


def first_disk(stage: Stage) -> str:
    """Disk of every lane of a calibration."""
    return next(iter(stage.request.loaded.matrix.disks))


def first_answer(stage: Stage) -> AnswerSpec:
    """How the provider answers in a calibration."""
    name, answer = next(iter(stage.request.loaded.matrix.answers.items()))
    return answer.spec(name)


@contextmanager
def direct_up(stage: Stage) -> Iterator[Lane]:
    """The lane without a gateway."""
    key = LaneKey(FLOOR, (), "none", first_disk(stage))
    with lane_up(stage.supervisor, _setup(stage, key, FLOOR)) as lane:
        yield lane


@contextmanager
def weight_up(stage: Stage, spec: Calibration, weight: str, *, warm: bool = True) -> Iterator[Lane]:
    """One gateway with a weight or a fault, on the walk's own port, warm for plain requests."""
    stage.listener.phase(f"starting {spec.recipe}, {weight}")
    key = spec.lane_key(weight, first_disk(stage))
    with lane_up(stage.supervisor, _setup(stage, key, weight)) as lane:
        if warm:
            warm_up(lane, "plain", first_answer(stage))
        yield lane


@contextmanager
def all_up(stage: Stage, spec: Calibration) -> Iterator[Sequence[WeightLane]]:
    """Every lane of the mixed blocks: direct, the tare twice, each weight; warm in the modes that are measured."""
    names = [*((name, TARE) for name in TWINS), *((weight, weight) for weight in spec.weights)]
    base = stage.request.port_base
    ports = choose(len(names), None if base is None else base + _PORTS_OF_WALK)
    with ExitStack() as stack:
        lanes = [WeightLane(FLOOR, FLOOR, stack.enter_context(direct_up(stage)), DIRECT_SHARE)]
        for (name, weight), port in zip(names, ports, strict=True):
            stage.listener.phase(f"starting {spec.recipe}, {weight}")
            key = spec.lane_key(weight, first_disk(stage))
            setup = _setup(stage, key, f"mixed-{name.replace(' ', '-')}")
            setup = replace(setup, ports=replace(setup.ports, gateway=port))
            lane = stack.enter_context(lane_up(stage.supervisor, setup))
            for mode in spec.modes:
                warm_up(lane, mode, first_answer(stage))
            lanes.append(WeightLane(name, weight, lane))
        yield lanes


def weight_of(key: LaneKey) -> str:
    """Weight of a cell's lane; the tare is the recipe's default."""
    return dict(key.settings).get(SETTING, TARE)


def _setup(stage: Stage, key: LaneKey, name: str) -> LaneSetup:
    number = len(list((stage.scratch / "lanes").glob("calibration-*")))
    return replace(stage.lane_setup(key, f"calibration-{number}-{name}"), hold_s=_HOLD_S)
