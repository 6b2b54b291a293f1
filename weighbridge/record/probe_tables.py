"""What the probe saw of each request and of each event of a stream, in nanoseconds of CLOCK_MONOTONIC.

Kept beside the sample table as compressed NumPy archives (`requests.npz`, `events.npz`, `late_turns.npz`). The stamps
use the same clock on one host; an added time needs no common clock, for each of its two brackets uses one clock only.
"""

from __future__ import annotations

import io
import zipfile
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from weighbridge.errors import StoreError
from weighbridge.record.arrays import Ints

UNKNOWN = -1
# What the file of requests was called in runs of the first versions.
FORMER_REQUESTS = "inband.npz"

# `stamp_state`: the position is the code. `stale` is a stamp older than the request (a cache answered), `repeated`
# one that another request had, `damaged` a marker word without a whole stamp, `absent` no marker word at all.
STAMP_STATES = ("whole", "absent", "damaged", "stale", "repeated")

# Columns that tables of method version 1 do not have; each is unknown there.
_SINCE_2 = frozenset(
    {"connect_ns", "reported_ns", "prompt_token_count", "completion_token_count", "total_token_count"}
)

# `outcome`: the position is the code.
OUTCOMES = (
    "ok",
    "connect_error",
    "connect_timeout",
    "header_timeout",
    "first_byte_timeout",
    "idle_stall",
    "total_timeout",
    "http_error",
    "json_error",
    "stream_error",
    "truncated",
    "reset",
    "empty_stream",
    "wrong_content_type",
    "protocol",
    "empty_response",
)
OK = OUTCOMES.index("ok")


@dataclass(frozen=True)
class RequestTable:
    """One row per request, in the order of the intended starts; times are ns, `UNKNOWN` where there is none.

    `lane` numbers the address that the request went to (mixed runs have several), `reference` is the number in its
    prompt, `intended_ns`, `sent_ns` (first byte written), `headers_ns`, `first_byte_ns`, `first_event_ns`,
    `first_content_ns`, `last_content_ns`, `end_ns` (response read); `recv_ns` and `send_ns` of the provider's stamp,
    `stamp_state`; `content_count` and `read_count` of a stream, `coalesced_count` reads that contained more than one
    content event, `done_seen` (1 when `[DONE]` came), `status`, `received_bytes`, `outcome`, `reused` (1 on a
    connection that had served before), `connect_ns` (how long its own new connection took to open), `reported_ns`
    (overhead that the gateway reported in a header of it), `prompt_token_count`, `completion_token_count` and
    `total_token_count` (token usage that the response tells).
    """

    lane: Ints
    reference: Ints
    intended_ns: Ints
    sent_ns: Ints
    headers_ns: Ints
    first_byte_ns: Ints
    first_event_ns: Ints
    first_content_ns: Ints
    last_content_ns: Ints
    end_ns: Ints
    recv_ns: Ints
    send_ns: Ints
    stamp_state: Ints
    content_count: Ints
    read_count: Ints
    coalesced_count: Ints
    done_seen: Ints
    status: Ints
    received_bytes: Ints
    outcome: Ints
    reused: Ints
    connect_ns: Ints
    reported_ns: Ints
    prompt_token_count: Ints
    completion_token_count: Ints
    total_token_count: Ints

    def __len__(self) -> int:
        """Return the number of requests."""
        return len(self.sent_ns)

    def where(self, mask: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> RequestTable:
        """Return the table of the rows that `mask` (booleans or row numbers) picks, in its order."""
        return RequestTable(**{c.name: getattr(self, c.name)[mask] for c in fields(self)})


@dataclass(frozen=True)
class EventTable:
    """One row per content event: `row` of its request, `read_ns`, the chunk's own `send_ns` and `sequence`, `read`.

    `read` numbers the reads of the request, so that two events of one read can be told; `send_ns` and `sequence`
    are `UNKNOWN` where the chunk's stamp did not survive.
    """

    row: Ints
    read_ns: Ints
    send_ns: Ints
    sequence: Ints
    read: Ints

    def __len__(self) -> int:
        """Return the number of events."""
        return len(self.read_ns)


@dataclass(frozen=True)
class LateTurns:
    """Late turns of the probe's own loop, apart and in order.

    `begun_ns` is the last instant at which the loop is known to have been about, `ended_ns` the end of the turn in
    which the late beat came: what was read in between may have waited for us.
    """

    begun_ns: Ints
    ended_ns: Ints

    def __len__(self) -> int:
        """Return the number of turns."""
        return len(self.begun_ns)


TableType = TypeVar("TableType", RequestTable, EventTable, LateTurns)


def no_late_turns() -> LateTurns:
    """Return the table of a loop that was never late."""
    return LateTurns(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))


def to_bytes(table: RequestTable | EventTable | LateTurns) -> bytes:
    """Return the table as a compressed NumPy archive."""
    buffer = io.BytesIO()
    columns: dict[str, Any] = {c.name: getattr(table, c.name) for c in fields(table)}
    np.savez_compressed(buffer, **columns)
    return buffer.getvalue()


def from_bytes(kind: type[TableType], data: bytes, *, origin: str) -> TableType:
    """Read a table back from `to_bytes`; StoreError names `origin` when it is damaged."""
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            columns = {name: archive[name] for name in archive.files}
            for name in _SINCE_2.intersection(c.name for c in fields(kind)).difference(columns):
                columns[name] = np.full(len(columns[fields(kind)[0].name]), UNKNOWN, dtype=np.int64)
            return kind(**{c.name: columns[c.name] for c in fields(kind)})
    except (ValueError, KeyError, OSError, zipfile.BadZipFile) as error:
        raise StoreError(f"{origin}: not a probe table ({error})") from error
