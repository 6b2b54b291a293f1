"""One response on its way: sent when due, stamped on sending, cancelled when the client goes.

Due times are absolute, counted from the reading of the request, so one late chunk does not shift the next. It must
not read or judge requests.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from mocks import stamps
from mocks.provider.answers import AnswerPlan, StreamTexts
from mocks.provider.book import ABORTED, ANSWERED, Book
from mocks.wire import Due, DueTimes, HttpExchange
from mocks.wire.exchange import JSON_HEADERS

_STREAM_HEADERS = (("content-type", "text/event-stream; charset=utf-8"), ("cache-control", "no-cache"))
_DONE_EVENT = b"data: [DONE]\n\n"


@dataclass(slots=True)  # not frozen: a frozen one costs a microsecond a request
class Task:
    """What every response needs: the exchange, its record, how and when to respond."""

    exchange: HttpExchange
    book: Book
    row: int
    plan: AnswerPlan
    due_times: DueTimes
    wait_ns: int  # to the response or the first chunk, jitter included


class PlainReply:
    """A whole JSON response after the delay."""

    __slots__ = ("_after", "_before", "_due", "_due_ns", "_task")

    def __init__(self, task: Task, before: bytes, after: bytes) -> None:
        exchange = task.exchange
        self._task = task
        begun = stamps.begin_stamp(exchange.received_ns) if task.plan.stamps else b""
        length = len(before) + (stamps.STAMP_BYTES if begun else 0) + len(after)
        self._before = exchange.head(200, JSON_HEADERS, length) + before
        self._after = after
        self._due_ns = exchange.received_ns + task.wait_ns
        self._due: Due | None = None
        if task.wait_ns == 0:
            self._send(begun)
        else:
            self._due = task.due_times.at(self._due_ns, lambda: self._send(begun))
            exchange.on_gone(self._gone)

    def _send(self, begun: bytes) -> None:
        send_ns = time.monotonic_ns()
        task = self._task
        stamp = stamps.finish_stamp(begun, send_ns) if begun else b""
        task.exchange.write(self._before + stamp + self._after, last=True)
        task.book.sent(task.row, send_ns)
        task.book.lateness.add(send_ns - self._due_ns)
        task.book.close(task.row, send_ns, ANSWERED)

    def _gone(self) -> None:
        if self._due is not None:
            self._due.cancel()
        self._task.book.close(self._task.row, time.monotonic_ns(), ABORTED)


class StreamReply:
    """Server-sent events: content chunks at their due times, then finish, usage if asked, end marker."""

    __slots__ = ("_after", "_before", "_due", "_due_ns", "_sequence", "_task", "_texts", "_used")

    def __init__(self, task: Task, texts: StreamTexts, used: bytes | None) -> None:
        exchange = task.exchange
        self._task = task
        self._texts = texts
        self._used = used
        self._sequence = 0
        self._due_ns = exchange.received_ns + task.wait_ns
        head = exchange.head(200, _STREAM_HEADERS, None)
        before, after = texts.content(0)
        length = 0
        if task.plan.stamps:
            before += stamps.begin_stamp(exchange.received_ns)
            # The rest of the first stamp, a space and the chunk's own stamp are to come.
            length = stamps.NUMBER_LETTERS + 2 + stamps.CHUNK_BYTES
        self._before, self._after = self._framed(before, length, after)
        self._before = head + self._before
        exchange.on_gone(self._gone)
        self._due = task.due_times.at(self._due_ns, self._send_first)

    def _framed(self, before: bytes, length: int, after: bytes) -> tuple[bytes, bytes]:
        """`before` and `after` with the HTTP chunk's frame around them and `length` bytes between them."""
        if not length:
            return self._task.exchange.frame(before + after), b""
        hole = b"?" * length
        frame = self._task.exchange.frame(before + hole + after)
        start, _, end = frame.partition(hole)
        return start, end

    def _send_first(self) -> None:
        send_ns = time.monotonic_ns()
        task = self._task
        if task.plan.stamps:
            begun_place = len(self._before) - stamps.STAMP_BYTES + stamps.NUMBER_LETTERS + 1
            stamp = stamps.finish_stamp(self._before[begun_place:], send_ns)
            chunk = stamps.encode_chunk_stamp(send_ns, 0)
            task.exchange.write(self._before[:begun_place] + stamp + b" " + chunk + self._after)
        else:
            task.exchange.write(self._before)
        task.book.sent(task.row, send_ns)
        self._went(send_ns)

    def _send_next(self) -> None:
        send_ns = time.monotonic_ns()
        task = self._task
        stamp = stamps.encode_chunk_stamp(send_ns, self._sequence) if task.plan.stamps else b""
        task.exchange.write(self._before + stamp + self._after)
        self._went(send_ns)

    def _went(self, send_ns: int) -> None:
        """After each content chunk: prepares the next one, or ends the stream."""
        task = self._task
        task.book.lateness.add(send_ns - self._due_ns)
        self._sequence += 1
        if self._sequence == task.plan.chunk_count:
            self._end(send_ns)
            return
        self._due_ns += task.plan.gap_ns
        self._due = task.due_times.at(self._due_ns, self._send_next)
        before, after = self._texts.content(self._sequence)
        length = stamps.CHUNK_BYTES if task.plan.stamps else 0
        self._before, self._after = self._framed(before, length, after)

    def _end(self, send_ns: int) -> None:
        """Send the events without content at once after the last content, as a provider that has no more to say."""
        exchange = self._task.exchange
        exchange.send_chunk(self._texts.finish())
        if self._used is not None:
            exchange.send_chunk(self._texts.usage(self._used))
        exchange.send_chunk(_DONE_EVENT)
        exchange.end_stream()
        self._task.book.close(self._task.row, send_ns, ANSWERED)

    def _gone(self) -> None:
        self._due.cancel()
        self._task.book.close(self._task.row, time.monotonic_ns(), ABORTED)
