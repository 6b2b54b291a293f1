"""Connections: how many were opened, how long each took, and when a gateway did not keep them."""

from __future__ import annotations

import io
from dataclasses import replace

import numpy as np
import pytest

from tests.examples.trace_examples import plain
from weighbridge.judge.figures.connections import connection_figures, is_not_kept_alive, opened_count
from weighbridge.record.figures import NOT_MEASURED, Absent, Figure, Timing
from weighbridge.record.probe_tables import UNKNOWN, RequestTable, from_bytes, to_bytes


def opened(count: int, rows: slice, connect_ns: int = 240_000) -> RequestTable:
    """Requests of which these opened a connection."""
    table = plain(count)
    reused, connect = np.ones(count, dtype=np.int64), np.full(count, UNKNOWN, dtype=np.int64)
    reused[rows], connect[rows] = 0, connect_ns
    return replace(table, reused=reused, connect_ns=connect)


def test_connections_are_counted_and_timed() -> None:
    """Every third request opened one, in 0.24 ms."""
    found = connection_figures(opened(90, slice(None, None, 3)))
    assert found["connections_per_request"] == Figure(value=30 / 90)
    timing = found["connect_ms"]
    assert isinstance(timing, Timing)
    assert (timing.p50, timing.n) == (pytest.approx(0.24), 30)


def test_nothing_sent_is_no_figure() -> None:
    """A window in which nothing went out opened nothing to be divided by it."""
    none = plain(5)
    found = connection_figures(replace(none, sent_ns=np.full(5, UNKNOWN)))
    assert {type(one) for one in found.values()} == {Absent}


@pytest.mark.parametrize(
    ("count", "rows", "expected"),
    [
        (90, slice(0, 1), False),  # the first one alone
        (90, slice(0, 6), False),  # a few, for what servers close in good order
        (90, slice(None, None, 1), True),
        (200, slice(None, None, 10), True),  # every tenth answer closes
    ],
)
def test_a_gateway_that_closes_connections_is_flagged(count: int, rows: slice, *, expected: bool) -> None:
    """One request at a time needs one connection; what is opened beyond that was lost."""
    assert is_not_kept_alive(opened(count, rows)) is expected


def test_connections_for_requests_at_one_time_are_no_lost_ones() -> None:
    """Twenty requests that are open at once need twenty connections."""
    table = opened(200, slice(0, 20))
    first = np.arange(200) < 20
    together = replace(table, sent_ns=np.where(first, table.sent_ns[0], table.sent_ns))
    assert opened_count(together) == 20
    assert not is_not_kept_alive(together)
    assert is_not_kept_alive(table)


def test_tables_of_before_know_no_time_of_connecting() -> None:
    """A table that was kept without the column is read, and its figure is absent."""
    table = opened(20, slice(0, 20))
    with np.load(io.BytesIO(to_bytes(table))) as archive:
        columns = {name: archive[name] for name in archive.files if name != "connect_ns"}
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **columns)
    read = from_bytes(RequestTable, buffer.getvalue(), origin="requests.npz")
    assert (read.connect_ns == UNKNOWN).all()
    assert connection_figures(read)["connect_ms"] == NOT_MEASURED
