"""Faults of streams: buffered, coalesced, robbed of a chunk, heavy, never ended.

Built by the faulty wrapper from a fault's value. Each bends every streamed response and leaves plain ones alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from mocks.gateway.faults import values
from mocks.gateway.faults.bent import Bend, Bent
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.visit import ClientRequest, Handle, Wrap

_CONTENT_PATTERN = re.compile(rb'"content":\s*"[^"]')
_END_MARKER = b"data: [DONE]"


def is_content(event: bytes) -> bool:
    """Whether a server-sent event carries text of the response."""
    return _CONTENT_PATTERN.search(event) is not None


class Events:
    """Cuts a stream's bytes into whole server-sent events, blank line included."""

    def __init__(self) -> None:
        self._rest = b""

    def cut(self, data: bytes) -> list[bytes]:
        """Return the events that are whole with this piece."""
        *events, self._rest = (self._rest + data).split(b"\n\n")
        return [event + b"\n\n" for event in events]

    def rest(self) -> bytes:
        """Return what came behind the last whole event."""
        return self._rest


class Unbent:
    """The stream as it is."""

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Return the piece."""
        return (data,)

    def end(self) -> Iterable[bytes] | None:
        """Return nothing more."""
        return ()


class Buffered:
    """The whole stream in one piece at its end."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Nothing yet."""
        self._pieces.append(data)
        return ()

    def end(self) -> Iterable[bytes] | None:
        """All of it."""
        return (b"".join(self._pieces),)


class Coalesced:
    """So many events in one piece."""

    def __init__(self, event_count: int) -> None:
        self._event_count = event_count
        self._events = Events()
        self._waiting: list[bytes] = []

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Yield a piece whenever enough events have gathered."""
        self._waiting += self._events.cut(data)
        while len(self._waiting) >= self._event_count:
            yield b"".join(self._waiting[: self._event_count])
            del self._waiting[: self._event_count]

    def end(self) -> Iterable[bytes] | None:
        """Return what has gathered since."""
        return (b"".join(self._waiting) + self._events.rest(),)


class Robbed:
    """The stream without one of its content events, counted from 1."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._seen_count = 0
        self._events = Events()

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Yield the events but the one."""
        for event in self._events.cut(data):
            if is_content(event):
                self._seen_count += 1
                if self._seen_count == self._number:
                    continue
            yield event

    def end(self) -> Iterable[bytes] | None:
        """Return what is left."""
        return (self._events.rest(),)


class Heavy:
    """The stream as it is; while it is open it takes so many bytes more."""

    def __init__(self, extra_bytes: int) -> None:
        self._extra_bytes = extra_bytes
        self._ballast = b""

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Return the piece; from the first one on the ballast is there."""
        if not self._ballast:
            self._ballast = b"x" * self._extra_bytes  # written to, for pages that are only reserved are not resident
        return (data,)

    def end(self) -> Iterable[bytes] | None:
        """Nothing more, and the ballast is gone."""
        self._ballast = b""
        return ()


class Endless:
    """The stream without its end marker and without an end."""

    def __init__(self) -> None:
        self._events = Events()

    def feed(self, data: bytes) -> Iterable[bytes]:
        """Return the events but the end marker."""
        return [event for event in self._events.cut(data) if not event.startswith(_END_MARKER)]

    def end(self) -> Iterable[bytes] | None:
        """No end."""
        return None


def _bending(make: Callable[[], Bend], truth: GroundTruth) -> Wrap:
    def wrap(proxy: Handle) -> Handle:
        def handle(visit: ClientRequest) -> None:
            truth.request_count += 1
            proxy(Bent(visit, make()))

        return handle

    return wrap


def buffer(value: str, truth: GroundTruth) -> Wrap:
    """`buffer`: the whole stream is buffered until it is complete."""
    values.read_nothing(value)
    return _bending(Buffered, truth)


def coalesce(value: str, truth: GroundTruth) -> Wrap:
    """`coalesce:N`: N events at a time."""
    event_count = values.read_count(value)
    return _bending(lambda: Coalesced(event_count), truth)


def drop_chunk(value: str, truth: GroundTruth) -> Wrap:
    """`drop-chunk:N`: the Nth content event of each stream is missing."""
    number = values.read_count(value)
    return _bending(lambda: Robbed(number), truth)


def heavy(value: str, truth: GroundTruth) -> Wrap:
    """`heavy:N`: each stream takes N KiB more while it is open."""
    extra_bytes = values.read_count(value) * 1024
    return _bending(lambda: Heavy(extra_bytes), truth)


def no_end(value: str, truth: GroundTruth) -> Wrap:
    """`no-end`: streams have no end marker and stay open."""
    values.read_nothing(value)
    return _bending(Endless, truth)
