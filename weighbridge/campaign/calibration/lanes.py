"""The lanes of a calibration: every weight in one gateway, or a gateway of its own for a few windows.

Called by the parts of a calibration. A lane is started as the walk starts its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from weighbridge.campaign.stage import Stage
from weighbridge.campaign.warmup import warm_up
from weighbridge.load.probe.plan import ProbeLane
from weighbridge.matrix.calibration import BY_HEADER, HEADER, SETTING, TARE, Calibration
from weighbridge.matrix.cells import FLOOR, LaneKey
from weighbridge.matrix.requests import AnswerSpec
from weighbridge.rig.lane import Lane, LaneSetup, lane_up

# These are mocks of ours: what answers for a moment will answer.
_HOLD_S = 0.2
_JSON = ("content-type", "application/json")


@dataclass(frozen=True)
class WeightLane:
    """A lane of a mixed block: `weight` is what its requests name in their header, `direct` without a gateway.

    The tare has two. All weights are one gateway, so that no difference of processes looks like one of weights.
    """

    name: str
    weight: str
    lane: Lane
    share: float = 1.0

    @property
    def probe_lane(self) -> ProbeLane:
        """The lane as the probe is told it."""
        chosen = () if self.weight == FLOOR else ((HEADER, self.weight),)
        return ProbeLane(self.lane.url, (*self.lane.headers, _JSON, *chosen), self.share)


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
    """Every lane of the mixed blocks: direct, the tare twice, each weight."""
    weights = (*((name, TARE) for name in TWINS), *((weight, weight) for weight in spec.weights))
    with direct_up(stage) as direct, weight_up(stage, spec, BY_HEADER, warm=False) as gateway:
        yield (
            WeightLane(FLOOR, FLOOR, direct, DIRECT_SHARE),
            *(WeightLane(name, weight, gateway) for name, weight in weights),
        )


def weight_of(key: LaneKey) -> str:
    """Weight of a cell's lane; the tare is the recipe's default."""
    return dict(key.settings).get(SETTING, TARE)


def _setup(stage: Stage, key: LaneKey, name: str) -> LaneSetup:
    number = len(list((stage.scratch / "lanes").glob("calibration-*")))
    return replace(stage.lane_setup(key, f"calibration-{number}-{name}"), hold_s=_HOLD_S)
