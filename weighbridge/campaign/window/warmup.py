"""Warm-up of a lane and a mode: one request after the other until the times are steady, or time is up.

Each mode apart: the first stream of a process can cost a quarter of a second after any number of plain requests.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

from weighbridge.dialects import openai_chat
from weighbridge.dialects.openai_chat import Message
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.record.stamps import reference
from weighbridge.rig.lanes import http
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.mocks import MODEL

_GROUP = 10
_STEADY_RATIO = 0.10
_MOST_REQUESTS = 100
_LONGEST_S = 10.0
_TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Warmed:
    """Whether the times became steady."""

    is_steady: bool


def warm_up(lane: Lane, mode: Mode, answer: AnswerSpec) -> Warmed:
    """Return what a warm-up saw; steady when the medians of two groups of ten in a row differ by less than 10 %."""
    times: list[float] = []
    begun = time.monotonic()
    while len(times) < _MOST_REQUESTS and time.monotonic() - begun < _LONGEST_S:
        prompt = Message("user", f"{reference(len(times))} Say a few words about the weather.")
        document = openai_chat.request_document(MODEL, (prompt,), is_stream=mode == "stream")
        try:
            got = http.stream(
                "POST",
                lane.url,
                headers=(*lane.headers, ("content-type", "application/json")),
                body=openai_chat.request_body(document),
                timeout_s=_TIMEOUT_S + answer.provider_time_s(mode),
            )
        except OSError:
            break
        times.append((got.end_ns - got.sent_ns) / 1e9)
        if is_steady(times):
            return Warmed(True)
    return Warmed(False)


def is_steady(times_s: list[float]) -> bool:
    """Whether the last ten times agree with the ten before."""
    if len(times_s) < 2 * _GROUP:
        return False
    before = statistics.median(times_s[-2 * _GROUP : -_GROUP])
    last = statistics.median(times_s[-_GROUP:])
    return abs(last - before) <= _STEADY_RATIO * before
