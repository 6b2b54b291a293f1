"""What the probe is told: lanes, load, time-outs and places, as one JSON document.

Written by the probe driver, read by the program. The document holds keys, so it is never kept. It states the ceiling
of the probe and refuses what lies above: a generator that cannot keep its rate must not be asked to.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

from weighbridge.errors import InputError, Place
from weighbridge.matrix.arrivals import ARRIVALS, Arrivals

SCHEMA = "weighbridge.probe-plan/1"

# Safe on two cores: beyond them the probe's own lateness would be in every figure.
PLAIN_CEILING_RPS = 5_000.0
STREAM_CEILING_RPS = 300.0
CLIENTS_CEILING_COUNT = 1_000

LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True)
class ProbeLane:
    """One address: `url` of the chat-completions endpoint, its headers, and its share among the lanes.

    `overhead_header` is the header in which it reports its own overhead, in units of `overhead_unit_s` seconds; empty
    where it reports none.
    """

    url: str
    headers: tuple[tuple[str, str], ...]
    delay: float = 1.0
    overhead_header: str = ""
    overhead_unit_s: float = 1.0

    @property
    def host(self) -> str:
        """Host of the address; only loopback is served."""
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        """Port of the address."""
        return urlsplit(self.url).port or 80

    def head(self, body_bytes: int) -> bytes:
        """Return the request's line and headers for a body of that length."""
        parts = urlsplit(self.url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        lines = [f"POST {target} HTTP/1.1", f"host: {parts.netloc}"]
        lines += [f"{name}: {value}" for name, value in self.headers]
        return "\r\n".join([*lines, f"content-length: {body_bytes}", "", ""]).encode("latin-1")


@dataclass(frozen=True)
class Timeouts:
    """How long is waited for a connection, for headers, for the first byte of the body, between reads, and in all.

    Headers and the whole are counted from the send.
    """

    connect_s: float
    headers_s: float
    first_byte_s: float
    idle_s: float
    total_s: float


@dataclass(frozen=True)
class ProbePlan:
    """One window. `rate_rps` makes it an open loop, `clients` a closed one; exactly one of them is given.

    `connections` is the size of each lane's pool, None leaves it unbounded. `bodies` is a file with one request
    body a line; lines are used in their order, each once as far as they last. `ready` is a file that is made right
    before the window opens.
    """

    lanes: tuple[ProbeLane, ...]
    mode: Literal["plain", "stream"]
    rate_rps: float | None
    clients: int | None
    count: int
    connections: int | None
    seed: int
    bodies: Path
    out_dir: Path
    timeouts: Timeouts
    arrivals: Arrivals = "poisson"
    ready: Path | None = None

    def __post_init__(self) -> None:
        """Refuse what cannot be driven, with one sentence."""
        if (self.rate_rps is None) == (self.clients is None):
            raise InputError("the plan must give either a rate or a number of clients")
        if not self.lanes or any(lane.delay <= 0 for lane in self.lanes):
            raise InputError("the plan must give lanes, each with a delay above zero")
        if self.arrivals not in ARRIVALS:
            raise InputError(f"arrivals {self.arrivals!r} are not known", expected=f"one of {', '.join(ARRIVALS)}")
        if self.mode not in ("plain", "stream"):
            raise InputError(f"mode {self.mode!r} is not known", expected="plain or stream")
        if self.count < 1 or (self.connections is not None and self.connections < 1):
            raise InputError("the plan must give at least one request and one connection")
        for lane in self.lanes:
            if urlsplit(lane.url).scheme != "http" or lane.host not in LOOPBACK:
                raise InputError("the probe speaks http to this machine's own loopback address only")
        self._check_ceiling()

    @property
    def ceiling_rps(self) -> float:
        """Highest rate in this mode."""
        return STREAM_CEILING_RPS if self.mode == "stream" else PLAIN_CEILING_RPS

    def _check_ceiling(self) -> None:
        what = "streams" if self.mode == "stream" else "requests"
        if self.rate_rps is not None and not 0 < self.rate_rps <= self.ceiling_rps:
            raise InputError(
                f"the probe drives up to {self.ceiling_rps:,.0f} {what} per second, not {self.rate_rps:,.10g}",
                expected="lower the rate, or take oha or wrk",
            )
        if self.clients is not None and not 0 < self.clients <= CLIENTS_CEILING_COUNT:
            raise InputError(
                f"the probe drives up to {CLIENTS_CEILING_COUNT:,} clients, not {self.clients:,}",
                expected="lower the number, or take oha or wrk",
            )

    def to_json(self) -> bytes:
        """Return the document, secrets included."""
        return json.dumps({"schema": SCHEMA, **asdict(self)}, default=str).encode()

    def without_secrets(self) -> dict[str, Any]:
        """Return what may be kept: no header values and no folders of this machine."""
        shown = asdict(self)
        del shown["bodies"], shown["out_dir"], shown["ready"]
        for lane in shown["lanes"]:
            lane["headers"] = [name for name, _ in lane["headers"]]
        return shown


def read_plan(path: Path) -> ProbePlan:
    """Read the plan in a file; InputError with one sentence for what is none."""
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read as a plan ({error})", place=Place(path)) from error
    if not isinstance(document, dict) or document.pop("schema", None) != SCHEMA:
        raise InputError("is no plan of this probe", place=Place(path), expected=f"its schema would be {SCHEMA}")
    try:
        return _plan(document)
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise InputError(f"is a damaged plan ({error})", place=Place(path)) from error


def _plan(document: Mapping[str, Any]) -> ProbePlan:
    lanes = tuple(
        ProbeLane(str(one["url"]), tuple((str(n), str(v)) for n, v in one["headers"]), float(one["delay"]))
        for one in document["lanes"]
    )
    places = {name: Path(document[name]) for name in ("bodies", "out_dir", "ready") if document.get(name) is not None}
    return ProbePlan(**{**document, **places, "lanes": lanes, "timeouts": Timeouts(**document["timeouts"])})
