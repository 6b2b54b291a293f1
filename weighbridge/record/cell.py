"""What makes a cell what it is, as one document; its canonical text is the cell's identity."""

from __future__ import annotations

from pydantic import Field

from weighbridge.matrix.cells import Cell
from weighbridge.matrix.loads import Load
from weighbridge.matrix.requests import AnswerSpec, Mode, PayloadSpec
from weighbridge.record.base import Document
from weighbridge.record.canonical import digest


class CellIdentity(Document):
    """The lane of a cell, what it is asked for, and the driver: all that two runs of one cell have in common."""

    gateway: str = Field(description="Recipe id.")
    settings: dict[str, str] = Field(description="Settings of the gateway that the matrix varies.")
    chain: str = Field(description="Policy chain.")
    disk: str = Field(description="Disk of its state.")
    mode: Mode = Field(description="Mode.")
    payload: PayloadSpec = Field(description="Size of the prompt.")
    answer: AnswerSpec = Field(description="Timing of the mock provider's response.")
    load: Load = Field(description="Load.")
    driver: str = Field(description="Driver.")

    @property
    def sha256(self) -> str:
        """Return the digest of the canonical text."""
        return digest(self)


class PlannedCell(Document):
    """One cell as planned, in words that need no matrix to read."""

    cell: str = Field(description="Cell id.")
    identity: CellIdentity = Field(description="What it is.")
    baseline: str = Field(description="Cell id of the baseline: the lane without a gateway that it is compared with.")
    not_supported: str | None = Field(default=None, description="Why the recipe does not serve it.")

    @property
    def gateway(self) -> str:
        """Return the recipe id."""
        return self.identity.gateway

    @property
    def settings(self) -> dict[str, str]:
        """Return the settings of the gateway that the matrix varies."""
        return self.identity.settings

    @property
    def chain(self) -> str:
        """Return the policy chain."""
        return self.identity.chain

    @property
    def disk(self) -> str:
        """Return the disk of its state."""
        return self.identity.disk

    @property
    def mode(self) -> Mode:
        """Return the mode."""
        return self.identity.mode

    @property
    def payload(self) -> PayloadSpec:
        """Return the size of the prompt."""
        return self.identity.payload

    @property
    def answer(self) -> AnswerSpec:
        """Return the timing of the provider's response."""
        return self.identity.answer

    @property
    def load(self) -> Load:
        """Return the load."""
        return self.identity.load

    @property
    def driver(self) -> str:
        """Return the driver's name."""
        return self.identity.driver

    @property
    def provider_time_s(self) -> float:
        """Return the provider's time to the end of the response."""
        return self.answer.provider_time_s(self.mode)


def identity_of(cell: Cell) -> CellIdentity:
    """Return the identity of a cell of the matrix."""
    return CellIdentity(
        gateway=cell.gateway,
        settings=dict(sorted(cell.settings)),
        chain=cell.chain,
        disk=cell.disk,
        mode=cell.mode,
        payload=cell.payload,
        answer=cell.answer,
        load=cell.load,
        driver=cell.driver,
    )


def planned(cell: Cell) -> PlannedCell:
    """Return a cell of the matrix as it is recorded."""
    return PlannedCell(
        cell=cell.id, identity=identity_of(cell), baseline=cell.baseline, not_supported=cell.not_supported
    )
