"""What a gateway of known weights recorded of each request, asked over its own port and kept as CSV.

Called by the window for every run of such a gateway, and by the mixed blocks for all their lanes.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from weighbridge.errors import LaneFailed
from weighbridge.rig import http
from weighbridge.rig.lane import Lane

WEIGHTS_FILE = "weights.csv"
_PATH = "/faults"
_ROWS_A_PAGE = 5_000
_TIMEOUT_S = 10.0


def witness_of(recipe: str) -> Callable[[Lane], Mapping[str, bytes]]:
    """What is kept of each run of the gateway of known weights besides the files of every run."""

    def told(lane: Lane) -> Mapping[str, bytes]:
        if lane.setup.recipe.id != recipe or lane.death():
            return {}
        return {WEIGHTS_FILE: recorded(lane)}

    return told


def recorded(lane: Lane) -> bytes:
    """All rows of a gateway as CSV, page by page; LaneFailed when it does not tell."""
    lines: list[str] = []
    while True:
        page = _ask(lane, "GET", f"{_PATH}?offset={max(0, len(lines) - 1)}&limit={_ROWS_A_PAGE}")
        if not lines:
            lines.append(",".join(page["columns"]))
        lines += [",".join("" if value is None else str(value) for value in row) for row in page["rows"]]
        if len(lines) - 1 >= page["row_count"] or not page["rows"]:
            return ("\n".join(lines) + "\n").encode()


def forget(lane: Lane) -> None:
    """Let a gateway start its record anew."""
    _ask(lane, "POST", f"{_PATH}/reset")


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
