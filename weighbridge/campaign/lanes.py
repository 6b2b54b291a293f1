"""What the lanes of a visit are started from."""

from __future__ import annotations

from weighbridge.campaign.request import CampaignRequest
from weighbridge.campaign.schedule import LaneSpec
from weighbridge.rig.lanes.lane import LaneSetup
from weighbridge.rig.lanes.rig import Rig


def lane_setup(request: CampaignRequest, rig: Rig, spec: LaneSpec, *, name: str, number: int) -> LaneSetup:
    """Return what a lane is started from: the `number`-th gateway that is up, in a scratch folder called `name`."""
    recipe = request.catalogue.get(spec.key.gateway)
    if recipe is None:
        raise KeyError(spec.key.gateway)
    folder = rig.scratch / "lanes" / name
    folder.mkdir(parents=True)
    return LaneSetup(
        key=spec.key,
        recipe=recipe,
        installed=request.gateways[spec.key.gateway],
        ports=rig.ports.of_gateway(number),
        keys=rig.keys,
        scratch=folder,
        disk=request.disk_folder(spec.key.disk),
        cores=rig.cpus.gateway if rig.cpus else None,
        hold_s=spec.hold_s,
    )
