"""What every part of a calibration is made from: the matrix's first values, its lanes, and its windows' cells."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weighbridge.campaign.programs import Programs
from weighbridge.campaign.request import CampaignRequest
from weighbridge.campaign.window.ground_truth import TRUTH_FILE
from weighbridge.campaign.window.window import PROVIDER_FILE
from weighbridge.judge.window import Trace
from weighbridge.load.drivers import STAMP_READER
from weighbridge.load.probe.program.output import LATE_TURNS, REQUESTS
from weighbridge.load.probe.stored_tables import stored_table
from weighbridge.matrix.arrivals import Arrivals
from weighbridge.matrix.calibration import CONTROL, SETTING, Calibration
from weighbridge.matrix.cells import BASELINE, Cell, LaneKey
from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad
from weighbridge.matrix.requests import AnswerSpec, Mode, PayloadSpec
from weighbridge.record.probe_tables import LateTurns, RequestTable, from_bytes, no_late_turns
from weighbridge.record.provider_rows import read_provider_rows
from weighbridge.record.run import RunRecord
from weighbridge.record.store import CampaignStore
from weighbridge.record.truth_rows import DelayRows, read_delay_rows

# The folder of the campaign that keeps the runs of a calibration apart from those of the matrix.
SHELF = "calibration"
_TIMEOUT_S = 10.0
_WARMUP_COUNT = 25


@dataclass(frozen=True)
class CalibrationContext:
    """A calibration of a campaign: what is asked for, with which programs, and where its runs are kept."""

    request: CampaignRequest
    programs: Programs
    store: CampaignStore
    spec: Calibration

    @property
    def disk(self) -> str:
        """Disk of every lane."""
        return next(iter(self.request.loaded.matrix.disks))

    @property
    def payload(self) -> PayloadSpec:
        """Prompts of every window that names no others."""
        name, payload = next(iter(self.request.loaded.matrix.payloads.items()))
        return payload.spec(name)

    @property
    def answer(self) -> AnswerSpec:
        """How the provider responds in every window that names nothing else."""
        name, answer = next(iter(self.request.loaded.matrix.answers.items()))
        return answer.spec(name)

    @property
    def direct(self) -> LaneKey:
        """The lane without a gateway."""
        return LaneKey(BASELINE, (), "none", self.disk)

    def lane(self, delay: str) -> LaneKey:
        """Return the lane of one gateway with a delay or a fault."""
        return self.spec.lane_key(delay, self.disk)

    def cell(
        self,
        name: str,
        lane: LaneKey,
        mode: Mode,
        load: Load,
        *,
        driver: str = STAMP_READER,
        payload: PayloadSpec | None = None,
        answer: AnswerSpec | None = None,
    ) -> Cell:
        """Return a window's cell, which no matrix lists: it is compared with nothing."""
        return Cell(
            id=name,
            lane=lane,
            mode=mode,
            payload=payload or self.payload,
            answer=answer or self.answer,
            load=load,
            driver=driver,
            baseline=name,
        )

    def stored(self, record: RunRecord, shelf: str = SHELF) -> StoredRun:
        """Return an accepted run as it was kept."""
        return StoredRun(self.store.shelf(shelf).folder / "cells" / record.cell / f"b{record.block:02d}")


@dataclass(frozen=True)
class StoredRun:
    """The folder of an accepted run; a certificate is made of stored files alone."""

    folder: Path

    def trace(self, mode: Mode, answer: AnswerSpec, trim_count: int) -> Trace:
        """Read what the probe saw of every request; StoreError for what is damaged."""
        beside, provider = self.folder / "driver", self.folder / PROVIDER_FILE
        table = beside / REQUESTS
        return Trace(
            mode,
            answer,
            from_bytes(RequestTable, table.read_bytes(), origin=str(table)),
            trim_count,
            provider=read_provider_rows(provider.read_bytes(), origin=str(provider)),
            late_turns=stored_table(LateTurns, beside / LATE_TURNS) or no_late_turns(),
        )

    def truth(self) -> DelayRows:
        """Read what the gateway recorded of the requests."""
        place = self.folder / TRUTH_FILE
        return read_delay_rows(place.read_bytes(), origin=str(place))


def rate_load(
    rate_rps: float,
    request_count: int,
    connections: int,
    warmup_count: int = _WARMUP_COUNT,
    *,
    arrivals: Arrivals = "dithered",
) -> RateLoad:
    """Return an open loop of so many measured requests; dithered, for what is alone in its window needs no queue."""
    return RateLoad(
        rate_rps=rate_rps,
        duration_s=request_count / rate_rps,
        request_count=request_count,
        connections=connections,
        warmup_count=warmup_count,
        timeout_s=_TIMEOUT_S,
        arrivals=arrivals,
    )


def clients_load(clients: int, request_count: int) -> ClientsLoad:
    """Return a closed loop of so many measured requests."""
    return ClientsLoad(
        clients=clients,
        request_count=request_count,
        connections=clients,
        warmup_count=_WARMUP_COUNT,
        timeout_s=_TIMEOUT_S,
    )


def delay_of(key: LaneKey) -> str:
    """Return the delay of a lane; the control is the recipe's default."""
    return dict(key.settings).get(SETTING, CONTROL)
