"""The ground truth of a gateway with known delays: what it recorded of each request, asked over its own port."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from weighbridge.campaign.window.pages import csv_of_pages
from weighbridge.errors import LaneFailed
from weighbridge.rig.lanes import http
from weighbridge.rig.lanes.lane import Lane

TRUTH_FILE = "delays.csv"
_FAULTS_PATH = "/faults"
_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Truth:
    """Whose record is kept beside each of its runs: gateways of the recipe `recipe`; of None nobody's."""

    recipe: str | None = None

    def forget(self, lanes: Sequence[Lane]) -> None:
        """Let each such gateway start its record anew."""
        for lane in self._recorders(lanes):
            _ask(lane, "POST", f"{_FAULTS_PATH}/reset")

    def files_to_store(self, lanes: Sequence[Lane]) -> dict[str, bytes]:
        """Return what each such gateway recorded, as a file to keep; LaneFailed when it does not tell."""
        recorders = self._recorders(lanes)
        names = [TRUTH_FILE, *(f"{number}-{TRUTH_FILE}" for number in range(2, len(recorders) + 1))]
        return {name: csv_of_pages(partial(_page, lane)) for name, lane in zip(names, recorders, strict=False)}

    def _recorders(self, lanes: Sequence[Lane]) -> list[Lane]:
        return [lane for lane in lanes if lane.setup.recipe.id == self.recipe and not lane.death()]


def _page(lane: Lane, query: str) -> Any:
    return _ask(lane, "GET", f"{_FAULTS_PATH}?{query}")


def _ask(lane: Lane, method: str, path: str) -> Any:
    url = f"http://127.0.0.1:{lane.setup.ports.gateway}{path}"
    try:
        answer = http.call(method, url, timeout_s=_TIMEOUT_S)
        if answer.status != 200:
            raise ValueError(f"status {answer.status}")
        return json.loads(answer.body)
    except (OSError, ValueError) as error:
        raise LaneFailed(
            f"{lane.setup.recipe.name} did not tell what it recorded ({error})",
            reason="crashed",
            phase="window",
            log_tail=lane.log_tail(),
        ) from error
