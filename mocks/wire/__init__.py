"""HTTP/1.1 for the mocks: a server protocol on uvloop and httptools, due times, and how a mock program runs.

It knows nothing of what they response.
"""

from __future__ import annotations

from mocks.wire.duetimes import Due, DueTimes
from mocks.wire.exchange import Headers, HttpExchange
from mocks.wire.program import RunningMock, TwoPorts, run
from mocks.wire.server import Handler, Server, serve

__all__ = [
    "Due",
    "DueTimes",
    "Handler",
    "Headers",
    "HttpExchange",
    "RunningMock",
    "Server",
    "TwoPorts",
    "run",
    "serve",
]
