"""Cells and lanes: what the matrix expands to. Pure data; `expand` makes them, everyone else reads them."""

from __future__ import annotations

from dataclasses import dataclass

from weighbridge.matrix.loads import Load
from weighbridge.matrix.requests import AnswerSpec, Mode, PayloadSpec

BASELINE = "direct"


@dataclass(frozen=True)
class LaneKey:
    """What is started once a block: a gateway with its settings, a chain and a disk."""

    gateway: str
    settings: tuple[tuple[str, str], ...]
    chain: str
    disk: str

    @property
    def name(self) -> str:
        """`litellm@workers=2.none.work`."""
        return f"{with_settings(self.gateway, self.settings)}.{self.chain}.{self.disk}"


@dataclass(frozen=True)
class Cell:
    """One combination of the matrix; `id` names it in files, patterns and pages.

    `baseline` is the id of the cell without a gateway that it is compared with; of such a cell its own.
    """

    id: str
    lane: LaneKey
    mode: Mode
    payload: PayloadSpec
    answer: AnswerSpec
    load: Load
    driver: str
    baseline: str
    # `not_supported` when the recipe does not claim chain or mode: shown with this reason, never run.
    not_supported: str | None = None
    # The driver that goes through the same lane behind its own, which reads no stamps; None: nothing follows.
    pass_driver: str | None = None

    @property
    def pass_load(self) -> Load | None:
        """Return what follows the window by the `pass_driver`, None where nothing does."""
        return None if self.pass_driver is None else self.load.pass_load(self.answer, self.mode)

    @property
    def window_answer(self) -> AnswerSpec:
        """Return what the provider sends in the window: the load may change `answer`."""
        return self.load.window_answer(self.answer)

    @property
    def gateway(self) -> str:
        """Return the gateway's recipe id."""
        return self.lane.gateway

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """Return the settings that the matrix changes."""
        return self.lane.settings

    @property
    def chain(self) -> str:
        """Return the policy chain."""
        return self.lane.chain

    @property
    def disk(self) -> str:
        """Return the disk of its state."""
        return self.lane.disk

    @property
    def is_baseline(self) -> bool:
        """Whether this is a cell of the lane without a gateway."""
        return self.lane.gateway == BASELINE


def with_settings(gateway: str, settings: tuple[tuple[str, str], ...]) -> str:
    """`litellm` or `litellm@workers=2,log=off`."""
    return f"{gateway}@{','.join(f'{k}={v}' for k, v in settings)}" if settings else gateway
