"""Added time per request: (t1 − t0) − (send − recv), each bracket by one clock (METHOD 1).

t0 is the first byte written, t1 the response read. A stream has two such times and never one: to its first content
and to its end. Nothing here is a percentile, and nothing is left out silently: rows without the instants of a time
are no rows of that time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from weighbridge.judge.figures.chunk_gaps import last_send_ns
from weighbridge.judge.figures.row_masks import Mask
from weighbridge.record.arrays import Ints
from weighbridge.record.probe_tables import UNKNOWN, EventTable, RequestTable


@dataclass(frozen=True)
class Legs:
    """Times in ns of the picked rows with all instants: `request_path_ns + response_path_ns = added_ns`, row by row.

    `rows` are those rows, as numbers. The request path is recv − t0, the response path is t1 − send; the two alone
    need one clock for both hosts, the sum does not.
    """

    rows: Ints
    added_ns: Ints
    request_path_ns: Ints
    response_path_ns: Ints


@dataclass(frozen=True)
class ToStreamEnd:
    """Added time of streams to their end, in ns, of these rows (as numbers)."""

    rows: Ints
    added_ns: Ints


def added_to_end(requests: RequestTable, rows: Mask) -> Legs:
    """Return the added time of non-streaming responses: to the last byte."""
    return _legs(requests, rows, requests.end_ns)


def added_to_first(requests: RequestTable, rows: Mask) -> Legs:
    """Return the added time of streams to the first content; its send is that of the first chunk."""
    return _legs(requests, rows, requests.first_content_ns)


def added_to_stream_end(requests: RequestTable, events: EventTable, rows: Mask, chunk_count: int) -> ToStreamEnd:
    """Return the added time of streams to their end in ns: (end − t0) − (send of the last chunk − recv).

    The provider's end marker follows its last chunk at once, so that the chunk's stamp stands for the end. A
    stream whose last chunk did not come has no such time.
    """
    last_ns = last_send_ns(events, len(requests), chunk_count)
    known = np.flatnonzero(
        rows & (last_ns != UNKNOWN) & _all_known(requests.end_ns, requests.sent_ns, requests.recv_ns)
    )
    outside: Ints = requests.end_ns[known] - requests.sent_ns[known]
    outside -= last_ns[known] - requests.recv_ns[known]
    return ToStreamEnd(known, outside)


def _legs(requests: RequestTable, rows: Mask, until_ns: Ints) -> Legs:
    known = np.flatnonzero(rows & _all_known(until_ns, requests.sent_ns, requests.recv_ns, requests.send_ns))
    request_path = requests.recv_ns[known] - requests.sent_ns[known]
    response_path = until_ns[known] - requests.send_ns[known]
    return Legs(known, request_path + response_path, request_path, response_path)


def _all_known(*columns: Ints) -> Mask:
    known = np.ones(len(columns[0]), dtype=bool)
    for column in columns:
        known &= column != UNKNOWN
    return known
