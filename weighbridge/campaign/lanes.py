"""What the lanes of a visit are started from."""

from __future__ import annotations

from weighbridge.campaign.request import CampaignRequest
from weighbridge.matrix.cells import LaneKey
from weighbridge.rig.lanes.lane import LaneSetup
from weighbridge.rig.lanes.rig import Rig


def lane_setup(request: CampaignRequest, rig: Rig, key: LaneKey, *, name: str, number: int) -> LaneSetup:
    """Return what a lane is started from: the `number`-th gateway that is up, in a scratch folder called `name`."""
    recipe = request.catalogue.get(key.gateway)
    if recipe is None:
        raise KeyError(key.gateway)
    folder = rig.scratch / "lanes" / name
    folder.mkdir(parents=True)
    return LaneSetup(
        key=key,
        recipe=recipe,
        installed=request.gateways[key.gateway],
        ports=rig.ports.of_gateway(number),
        keys=rig.keys,
        scratch=folder,
        disk=request.disk_folder(key.disk),
        cores=rig.cpus.gateway if rig.cpus else None,
    )
