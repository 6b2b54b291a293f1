"""What a committed attempt kept, read back for the judge: what the probe saw, and what gateways recorded.

Called by the parts of a calibration; the certificate is made of kept files alone.
"""

from __future__ import annotations

from pathlib import Path

from weighbridge.campaign.calibration.witness import WEIGHTS_FILE
from weighbridge.campaign.window import PROVIDER_FILE
from weighbridge.judge.inputs import InbandFacts
from weighbridge.load.probe.output import REQUESTS
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.record.inband import RequestTable, from_bytes
from weighbridge.record.provider_rows import read_provider_rows
from weighbridge.record.weight_rows import WeightRows, read_weight_rows


def inband_of(folder: Path, mode: Mode, answer: AnswerSpec) -> InbandFacts:
    """What the probe saw of every request of an attempt; StoreError for what is damaged."""
    table, provider = folder / "driver" / REQUESTS, folder / PROVIDER_FILE
    return InbandFacts(
        mode,
        answer,
        from_bytes(RequestTable, table.read_bytes(), origin=str(table)),
        provider=read_provider_rows(provider.read_bytes(), origin=str(provider)),
    )


def weights_of(folder: Path) -> WeightRows:
    """What a gateway recorded of the requests of an attempt."""
    place = folder / WEIGHTS_FILE
    return read_weight_rows(place.read_bytes(), origin=str(place))
