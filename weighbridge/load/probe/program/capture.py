"""What the window keeps: for each request its instants and the bytes of every read with their time, unparsed.

Filled by `connection`, `pool` and `engine`, read by `tables` when the window is over. Times are nanoseconds of
CLOCK_MONOTONIC, 0 where there is none yet.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

# How a response can end for the transport, besides the outcomes that it decides itself.
CLOSED = "closed"
RESET = "reset"


class Exchange:
    """One request and its response.

    `released_ns` is when the pacer let it go, `sent_ns` when its first byte was written (a new connection and the
    wait for a free one lie between), `connect_ns` how long its own new connection took, `fault` what the transport
    or a time-out said, empty when the response ended by itself.
    """

    __slots__ = (
        "body_begun",
        "connect_ns",
        "end_ns",
        "error",
        "fault",
        "headers_ns",
        "intended_ns",
        "lane",
        "last_read_ns",
        "line",
        "reads",
        "released_ns",
        "reused",
        "sent_ns",
    )

    def __init__(self, line: bytes, lane: int) -> None:
        self.line = line
        self.lane = lane
        self.intended_ns = self.released_ns = self.sent_ns = 0
        self.headers_ns = self.last_read_ns = self.end_ns = self.connect_ns = 0
        self.body_begun = self.reused = False
        self.reads: list[tuple[int, bytes]] = []
        self.fault = self.error = ""


@dataclass
class Beats:
    """What the heartbeat saw: when each beat came and how late, and (due, end of its turn) of those too late."""

    came_ns: array[int] = field(default_factory=lambda: array("q"))
    late_ns: array[int] = field(default_factory=lambda: array("q"))
    too_late: list[tuple[int, int]] = field(default_factory=list)


@dataclass
class Capture:
    """Everything that one window left, in the order of dispatch; `started_ns` is its begin."""

    exchanges: list[Exchange]
    started_ns: int = 0
    ended_ns: int = 0
    interrupted: bool = False
    released_count: int = 0
    in_flight_max_count: int = 0
    connection_count: int = 0
    pacing: str = ""
    short_slice: bool = False
    cpu_s: float = 0.0
    beats: Beats = field(default_factory=Beats)
