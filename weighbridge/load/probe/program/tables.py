"""From the kept bytes to tables: one row per request, one row per content event, and the sample table of all drivers.

In the tables' `outcome` column `UNKNOWN` stands for a request without an end: the window was interrupted.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from weighbridge.load.probe.program.capture import Capture, Exchange
from weighbridge.load.probe.program.content import Content, content_of
from weighbridge.load.probe.program.late_turns import late_turns
from weighbridge.load.probe.program.outcome import outcome_of
from weighbridge.load.probe.program.plan import ProbeLane
from weighbridge.load.probe.program.response import Response
from weighbridge.record.probe_tables import OUTCOMES, STAMP_STATES, UNKNOWN, EventTable, LateTurns, RequestTable
from weighbridge.record.samples import SAMPLE_OUTCOMES, SampleTable, from_columns
from weighbridge.record.stamps import STAMP_WORD, find_reference, find_stamp
from weighbridge.units import DAY_S, NS_PER_S

# No number that a gateway would report has more characters.
_REPORT_LIMIT = 40
_MOST_TOKENS = 1 << 53
# Outcomes that are an HTTP response to count by its status; in all others there was no response worth the name.
HTTP_OUTCOMES = ("ok", "http_error")
_OUTCOME_CODES = {name: code for code, name in enumerate(OUTCOMES)}


@dataclass(frozen=True)
class Tables:
    """All of them, with the errors' texts and their counts; the rows are those requests that were released."""

    requests: RequestTable
    events: EventTable
    samples: SampleTable
    late_turns: LateTurns
    error_text: dict[str, int]


def make_tables(capture: Capture, lanes: Sequence[ProbeLane] = (), *, is_stream: bool) -> Tables:
    """Tables of a window; the requests lie in the order of their dispatch, which is that of the intended starts.

    `lanes` say in which header each of them reports its own overhead.
    """
    released = capture.exchanges[: capture.released_count]
    rows, errors, events = [], Counter[str](), []
    for number, exchange in enumerate(released):
        lane = lanes[exchange.lane] if lanes else None
        answer = Response(exchange.reads, b"" if lane is None else lane.overhead_header.encode())
        content = content_of(answer, is_stream=is_stream)
        outcome = outcome_of(exchange, answer, content, is_stream=is_stream)
        reported_ns = UNKNOWN if lane is None else _reported_ns(answer.wanted, lane.overhead_unit_s)
        rows.append((*_row(exchange, answer, content, outcome), reported_ns, *_usage(content)))
        events += [(number, exchange.reads[e[0]][0], e[1], e[2], e[0]) for e in content.events]
        if outcome and outcome not in HTTP_OUTCOMES:
            words = exchange.error or content.message
            errors[f"{outcome}: {words}" if words else outcome] += 1
    requests = _marked(_requests(rows))
    columns = np.array(events, dtype=np.int64).reshape(-1, len(fields(EventTable))).T
    samples = _samples(requests, released, capture)
    return Tables(requests, EventTable(*columns), samples, late_turns(capture), dict(errors))


def _row(exchange: Exchange, answer: Response, content: Content, outcome: str) -> tuple[int, ...]:
    """Values of one request in the order of the columns of `RequestTable`, but for what it reports and counts."""
    times = [now for now, _ in exchange.reads]
    reference = find_reference(exchange.line.decode("ascii", "replace"))
    recv_ns, send_ns, state = _stamp(exchange, content)
    counted = content.counted
    several = sum(count > 1 for count in Counter(counted).values())
    return (
        exchange.lane,
        _signed(reference),
        exchange.intended_ns or UNKNOWN,
        exchange.sent_ns or UNKNOWN,
        _time(times, answer.headers_read),
        _time(times, answer.parts[0][0] if answer.parts else -1),
        _time(times, content.first_event_read),
        _time(times, counted[0] if counted else -1),
        _time(times, counted[-1] if counted else -1),
        exchange.end_ns or UNKNOWN,
        recv_ns,
        send_ns,
        STAMP_STATES.index(state),
        len(counted),
        len(times),
        several,
        int(content.done),
        answer.status,
        answer.body_bytes if answer.status else UNKNOWN,
        _OUTCOME_CODES.get(outcome, UNKNOWN),
        int(exchange.reused),
        exchange.connect_ns or UNKNOWN,
    )


def _reported_ns(text: str, unit_s: float) -> int:
    """Return the overhead that a header reports, in ns; `UNKNOWN` for what is no time from zero to a day."""
    try:
        seconds = float(text) * unit_s if len(text) <= _REPORT_LIMIT else math.nan
    except ValueError:
        return UNKNOWN
    return round(seconds * NS_PER_S) if 0 <= seconds <= DAY_S else UNKNOWN


def _usage(content: Content) -> tuple[int, int, int]:
    """Return the numbers of tokens for prompt, completion and both; `UNKNOWN` for each that is not told."""
    used = content.usage
    if used is None:
        return UNKNOWN, UNKNOWN, UNKNOWN
    return _tokens(used.prompt_count), _tokens(used.completion_count), _tokens(used.total_count)


def _tokens(count: int | None) -> int:
    # A number that no column holds is wrong however it is cut.
    return UNKNOWN if count is None else min(max(count, UNKNOWN), _MOST_TOKENS)


def _time(times: Sequence[int], read: int) -> int:
    return times[read] if read >= 0 else UNKNOWN


def _signed(reference: int | None) -> int:
    """Return the 64 bits of a reference as a signed number, which the columns are; `UNKNOWN` without one."""
    if reference is None:
        return UNKNOWN
    return reference - (1 << 64) if reference >> 63 else reference


def _stamp(exchange: Exchange, content: Content) -> tuple[int, int, str]:
    """Return the times of the provider's stamp and its state as far as one response shows it."""
    stamp = find_stamp(content.text)
    if stamp is None:
        return UNKNOWN, UNKNOWN, "damaged" if STAMP_WORD in content.text.lower() else "absent"
    if stamp.recv_ns < exchange.sent_ns:
        return stamp.recv_ns, stamp.send_ns, "stale"
    if stamp.send_ns < stamp.recv_ns or (exchange.end_ns and stamp.send_ns > exchange.end_ns):
        return UNKNOWN, UNKNOWN, "damaged"
    return stamp.recv_ns, stamp.send_ns, "whole"


def _requests(rows: Sequence[tuple[int, ...]]) -> RequestTable:
    columns = np.array(rows, dtype=np.int64).reshape(-1, len(fields(RequestTable))).T
    return RequestTable(*(column.copy() for column in columns))


def _marked(table: RequestTable) -> RequestTable:
    """Mark repeated stamps in the table, and return it."""
    whole = np.flatnonzero(table.stamp_state == STAMP_STATES.index("whole"))
    if len(whole):
        pairs = np.stack([table.recv_ns[whole], table.send_ns[whole], table.end_ns[whole]])
        order = whole[np.lexsort(pairs[::-1])]
        # Of responses with one and the same stamp the first to arrive keeps it.
        same = (np.diff(table.recv_ns[order]) == 0) & (np.diff(table.send_ns[order]) == 0)
        table.stamp_state[order[1:][same]] = STAMP_STATES.index("repeated")
    return table


def _samples(table: RequestTable, released: Sequence[Exchange], capture: Capture) -> SampleTable:
    """Tell the same as every driver does, in seconds from the begin of the window."""

    def seconds(
        column: np.ndarray[tuple[int, ...], np.dtype[np.int64]],
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        return np.where(column == UNKNOWN, np.nan, (column - capture.started_ns) / NS_PER_S)

    answered = np.isin(table.outcome, [_OUTCOME_CODES[name] for name in HTTP_OUTCOMES])
    failed, censored = SAMPLE_OUTCOMES.index("failed"), SAMPLE_OUTCOMES.index("censored")
    return from_columns(
        intended_s=seconds(table.intended_ns),
        released_s=seconds(np.array([exchange.released_ns for exchange in released], dtype=np.int64)),
        sent_s=seconds(table.sent_ns),
        first_byte_s=seconds(table.first_byte_ns),
        end_s=seconds(table.end_ns),
        status=table.status.copy(),
        received_bytes=table.received_bytes.copy(),
        outcome=np.where(answered, 0, np.where(table.outcome == UNKNOWN, censored, failed)),
    )
