"""What the provider remembers: one record a request, and counts.

Written by `service` and `replies`, read by the admin port. A reset opens a new book; requests at hand end in the
old one, so a new book never holds half a request.
"""

from __future__ import annotations

from array import array
from typing import Any

from mocks.clock import NS_PER_S
from mocks.wire.lateness import Lateness

BOOK_COLUMNS = (
    *("reference", "recv_ns", "send_ns", "end_ns", "mode", "outcome"),
    *("prompt_token_count", "completion_token_count"),
)
ROW_LIMIT_COUNT = 1_000_000

PLAIN_MODE, STREAM_MODE, UNKNOWN_MODE = 0, 1, 2
OPEN, ANSWERED, ABORTED, BAD_REQUEST = 0, 1, 2, 3
_BOOK_MODES = ("plain", "stream", None)
_BOOK_OUTCOMES = ("open", "answered", "aborted", "bad_request")


class Book:
    """Records of the requests since the last reset. Times are monotonic nanoseconds; 0 means not yet."""

    def __init__(self) -> None:
        self._references: list[str | None] = []
        self._recv_ns, self._send_ns, self._end_ns = array("q"), array("q"), array("q")
        self._prompt_tokens, self._completion_tokens = array("l"), array("l")
        self._modes, self._outcomes = bytearray(), bytearray()
        self._distinct: set[str] = set()
        self._request_count = 0
        self._mode_counts = [0, 0, 0]
        self._outcome_counts = [0, 0, 0, 0]
        self._unreferenced_count = 0
        self._in_flight_max_count = 0
        self._jitter_count = 0
        self._jitter_sum_ns = 0
        self._jitter_max_ns = 0
        self.unstamped_count = 0
        self.other_path_count = 0
        self.lateness = Lateness()

    def open(self, reference: str | None, recv_ns: int, mode: int) -> int:
        """Open the row of a new request and return its number; rows beyond the limit are counted, not kept."""
        row = self._request_count
        self._request_count += 1
        self._mode_counts[mode] += 1
        self._outcome_counts[OPEN] += 1
        self._in_flight_max_count = max(self._in_flight_max_count, self._outcome_counts[OPEN])
        if reference is None:
            self._unreferenced_count += 1
        else:
            self._distinct.add(reference)
        if row < ROW_LIMIT_COUNT:
            self._references.append(reference)
            self._recv_ns.append(recv_ns)
            self._send_ns.append(0)
            self._end_ns.append(0)
            self._prompt_tokens.append(0)
            self._completion_tokens.append(0)
            self._modes.append(mode)
            self._outcomes.append(OPEN)
        return row

    def jittered(self, jitter_ns: int) -> None:
        """Count a response whose due time was moved back by so much."""
        self._jitter_count += 1
        self._jitter_sum_ns += jitter_ns
        self._jitter_max_ns = max(self._jitter_max_ns, jitter_ns)

    def sent(self, row: int, send_ns: int) -> None:
        """Note that the response or its first chunk was sent."""
        if row < ROW_LIMIT_COUNT:
            self._send_ns[row] = send_ns

    def used(self, row: int, prompt_token_count: int, completion_token_count: int) -> None:
        """Note the token usage that the answer tells; without it none was asked for."""
        if row < ROW_LIMIT_COUNT:
            self._prompt_tokens[row] = prompt_token_count
            self._completion_tokens[row] = completion_token_count

    def close(self, row: int, end_ns: int, outcome: int) -> None:
        """Give the request its outcome; `end_ns` is when the last content was sent, or when the client went."""
        self._outcome_counts[OPEN] -= 1
        self._outcome_counts[outcome] += 1
        if row < ROW_LIMIT_COUNT:
            self._end_ns[row] = end_ns
            self._outcomes[row] = outcome

    def counts(self) -> dict[str, Any]:
        """Return counts since the last reset."""
        return {
            "request_count": self._request_count,
            "plain_count": self._mode_counts[PLAIN_MODE],
            "stream_count": self._mode_counts[STREAM_MODE],
            "bad_request_count": self._outcome_counts[BAD_REQUEST],
            "answered_count": self._outcome_counts[ANSWERED],
            "aborted_count": self._outcome_counts[ABORTED],
            "in_flight_count": self._outcome_counts[OPEN],
            "in_flight_max_count": self._in_flight_max_count,
            "distinct_reference_count": len(self._distinct),
            "unreferenced_count": self._unreferenced_count,
            "unrecorded_count": max(0, self._request_count - ROW_LIMIT_COUNT),
            "other_path_count": self.other_path_count,
            "unstamped_count": self.unstamped_count,
            "jitter_count": self._jitter_count,
            "jitter_mean_s": self._jitter_sum_ns / self._jitter_count / NS_PER_S if self._jitter_count else None,
            "jitter_max_s": self._jitter_max_ns / NS_PER_S if self._jitter_count else None,
            "due_count": self.lateness.count,
            **self.lateness.figures(),
        }

    def rows(self, offset: int, limit: int | None) -> list[list[Any]]:
        """Return records in the order of arrival, as `BOOK_COLUMNS` names them; times that did not come are null."""
        end = len(self._references) if limit is None else min(len(self._references), offset + limit)
        return [
            [
                self._references[row],
                self._recv_ns[row],
                self._send_ns[row] or None,
                self._end_ns[row] or None,
                _BOOK_MODES[self._modes[row]],
                _BOOK_OUTCOMES[self._outcomes[row]],
                self._prompt_tokens[row] or None,
                self._completion_tokens[row] or None,
            ]
            for row in range(offset, end)
        ]

    @property
    def row_count(self) -> int:
        """Records that are kept."""
        return len(self._references)
