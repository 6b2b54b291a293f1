"""The plan of the stream opener, one JSON document, and the files by which it and its caller take turns.

Written by `load.probe.open_streams`, read by the program. The document holds keys, so it is never kept.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from weighbridge.errors import InputError, Place
from weighbridge.load.probe.program.plan import LOOPBACK, ProbeLane

SCHEMA = "weighbridge.stream-opener-plan/1"


@dataclass(frozen=True)
class StreamOpenerPlan:
    """One window: `counts[n]` streams are open at step n, and every one of them stays open to the last step.

    A step is over when all its streams have content, at the latest after `step_s`; a stream ends by itself within
    `length_s` of its opening. `bodies` has one request body a line. Turns are taken by files in `steps_dir`, and
    `ready` is a file that is made right before the first step.
    """

    url: str
    headers: tuple[tuple[str, str], ...]
    counts: tuple[int, ...]
    step_s: float
    length_s: float
    bodies: Path
    out_dir: Path
    steps_dir: Path
    ready: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be opened, with one sentence."""
        if not self.counts or list(self.counts) != sorted(set(self.counts)) or self.counts[0] < 0:
            raise InputError("the plan must give numbers of streams that rise from step to step")
        if urlsplit(self.url).scheme != "http" or self.lane.host not in LOOPBACK:
            raise InputError("the stream opener speaks http to this machine's own loopback address only")

    @property
    def lane(self) -> ProbeLane:
        """Where the streams are opened."""
        return ProbeLane(self.url, self.headers)

    def reached(self, step: int) -> Path:
        """File in which the program tells that a step stands, and how."""
        return self.steps_dir / f"step-{step}.json"

    def seen(self, step: int) -> Path:
        """File by which the caller tells that it has looked and that the next step may begin."""
        return self.steps_dir / f"seen-{step}"

    def to_json(self) -> bytes:
        """Return the document, secrets included."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, default=str).encode()


def put(path: Path, document: object) -> None:
    """Write a JSON document, whole or not at all: what a reader finds was written to its end."""
    part = path.with_name(f"{path.name}.part")
    part.write_text(json.dumps(document, indent=1) + "\n")
    part.replace(path)


def read_plan(path: Path) -> StreamOpenerPlan:
    """Read the plan in a file; InputError with one sentence for what is none."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as a plan ({error})", place=Place(path)) from error
    if not isinstance(document, dict) or document.pop("schema", None) != SCHEMA:
        raise InputError(
            "is no plan of this stream opener", place=Place(path), expected=f"its schema would be {SCHEMA}"
        )
    try:
        return _plan(document)
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(f"is a damaged plan ({error})", place=Place(path)) from error


def _plan(document: Mapping[str, Any]) -> StreamOpenerPlan:
    names = ("bodies", "out_dir", "steps_dir", "ready")
    places = {name: Path(document[name]) for name in names if document.get(name) is not None}
    headers = tuple((str(name), str(value)) for name, value in document["headers"])
    return StreamOpenerPlan(
        **{**document, **places, "headers": headers, "counts": tuple(map(int, document["counts"]))}
    )
