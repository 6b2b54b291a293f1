"""Tables as the probe makes them, simulated exactly, so that every injected fault has a known size."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from tests.examples.judge_examples import ANSWER, client, rate_load, report, table, window_of
from weighbridge.judge.window import Trace, Window
from weighbridge.matrix.requests import Mode
from weighbridge.record.probe_tables import OUTCOMES, STAMP_STATES, UNKNOWN, EventTable, LateTurns, RequestTable
from weighbridge.record.provider_rows import ProviderRows

US, MS, S = 1_000, 1_000_000, 1_000_000_000
EPOCH_NS = 1_000 * S
CONNECTIONS = 32


def state(name: str) -> int:
    """Code of a stamp state."""
    return STAMP_STATES.index(name)


def outcome(name: str) -> int:
    """Code of an outcome."""
    return OUTCOMES.index(name)


def plain(
    count: int, request_path_ns: Any = 80 * US, response_path_ns: Any = 60 * US, *, residence_ns: Any = 20 * MS
) -> RequestTable:
    """Non-streaming responses, one every 20 ms, with these legs around the provider's residence."""
    sent = EPOCH_NS + np.arange(count, dtype=np.int64) * 20 * MS
    recv = sent + np.asarray(request_path_ns)
    send = recv + np.asarray(residence_ns)
    end = send + np.asarray(response_path_ns)
    unknown = np.full(count, UNKNOWN, dtype=np.int64)
    return RequestTable(
        **{
            **{column.name: np.zeros(count, dtype=np.int64) for column in fields(RequestTable)},
            "reference": np.arange(count, dtype=np.int64) + 7_000,
            "intended_ns": sent - 30 * US,
            "sent_ns": sent,
            "headers_ns": end - 5 * US,
            "first_byte_ns": end - 5 * US,
            "first_event_ns": unknown,
            "first_content_ns": unknown,
            "last_content_ns": unknown,
            "end_ns": end,
            "recv_ns": recv,
            "send_ns": send,
            "status": np.full(count, 200, dtype=np.int64),
            "received_bytes": np.full(count, 500, dtype=np.int64),
            "reused": np.ones(count, dtype=np.int64),
            "prompt_token_count": np.full(count, 50, dtype=np.int64),
            "completion_token_count": np.full(count, 16, dtype=np.int64),
            "total_token_count": np.full(count, 66, dtype=np.int64),
        }
    )


@dataclass(frozen=True)
class Streams:
    """Read times, send times and read numbers of equal streams, one row a stream, one column a chunk."""

    sent_ns: np.ndarray
    send_ns: np.ndarray
    read_ns: np.ndarray
    read: np.ndarray


def streams(count: int, chunk_count: int = 16, *, gap_ns: int = 5 * MS, delay_ns: Any = 100 * US) -> Streams:
    """Streams that are passed through: chunk k is read `delay_ns` after it was sent, in a read of its own."""
    sent = EPOCH_NS + np.arange(count, dtype=np.int64)[:, None] * 200 * MS
    send = sent + 80 * US + 20 * MS + np.arange(chunk_count, dtype=np.int64) * gap_ns
    return Streams(sent, send, send + np.asarray(delay_ns), np.tile(np.arange(1, chunk_count + 1), (count, 1)))


def released(given: Streams, by: int, *, one_read: bool) -> Streams:
    """The streams with `by` chunks released at a time, as the last of them is sent."""
    chunk_count = given.send_ns.shape[1]
    last = np.minimum((np.arange(chunk_count) // by + 1) * by, chunk_count) - 1
    step = 0 if one_read else 20 * US
    read_ns = given.read_ns[:, last] + (np.arange(chunk_count) % by) * step
    number = np.broadcast_to(np.arange(chunk_count) // by if one_read else np.arange(chunk_count), read_ns.shape)
    return replace(given, read_ns=read_ns, read=number + 1)


def tables(given: Streams) -> tuple[RequestTable, EventTable]:
    """Tables of whole streams."""
    count, chunk_count = given.send_ns.shape
    first, last = given.read_ns[:, 0], given.read_ns[:, -1]
    sent = given.sent_ns[:, 0]
    requests = replace(
        plain(count),
        sent_ns=sent,
        intended_ns=sent - 30 * US,
        recv_ns=sent + 80 * US,
        send_ns=given.send_ns[:, 0],
        first_event_ns=first,
        first_content_ns=first,
        last_content_ns=last,
        end_ns=last + 10 * US,
        content_count=np.full(count, chunk_count),
        read_count=np.full(count, chunk_count + 2),
        done_seen=np.ones(count, dtype=np.int64),
    )
    events = EventTable(
        row=np.repeat(np.arange(count), chunk_count),
        read_ns=given.read_ns.ravel(),
        send_ns=given.send_ns.ravel(),
        sequence=np.tile(np.arange(chunk_count), count),
        read=np.ascontiguousarray(given.read).ravel(),
    )
    return requests, events


def pick(events: EventTable, mask: Any) -> EventTable:
    """The events that a mask or row numbers pick."""
    return EventTable(**{column.name: getattr(events, column.name)[mask] for column in fields(EventTable)})


def late_turns(*spans: tuple[int, int]) -> LateTurns:
    """Late turns of the probe's loop from begin to end."""
    columns = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    return LateTurns(*columns)


def provider_rows(requests: RequestTable) -> ProviderRows:
    """The provider's own record of these requests."""
    return ProviderRows(
        *(requests.reference.copy(), requests.recv_ns.copy(), requests.send_ns.copy()),
        *(requests.prompt_token_count.copy(), requests.completion_token_count.copy()),
    )


def traced_window(
    requests: RequestTable, events: EventTable | None = None, *, trim_count: int = 0, **changes: Any
) -> Window:
    """Window of a probe, with a sample table that fits."""
    rate = S / float(np.median(np.diff(requests.sent_ns))) if len(requests) > 1 else 50.0
    load = rate_load(rate, len(requests) - CONNECTIONS, CONNECTIONS)
    cut = changes.pop("cut", False)
    sent, end, intended = (
        (column - EPOCH_NS) / S for column in (requests.sent_ns, requests.end_ns, requests.intended_ns)
    )
    samples = table(sent, end, intended_s=intended, released_s=intended, status=requests.status)
    mode: Mode = "plain" if events is None else "stream"
    seen = Trace(mode, ANSWER, requests, trim_count, events, **changes)
    reported = report(samples, load, tool="probe")
    return window_of(client(load, samples, cut=cut, report=reported, trace=seen, sees_stamps=True), mode=mode)
