"""One request through the lane before the first window: does the provider see it, does its answer come back whole.

Capabilities are tried, not believed. What is sent is compared with what the provider received, what the provider
answered with what came back; a claim that fails is evidence, not an exception.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weighbridge.errors import LaneFailed
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.record.run import Evidence
from weighbridge.record.stamps import find_chunks, find_stamp, reference
from weighbridge.rig import http
from weighbridge.rig.lane import MODEL, Lane
from weighbridge.rig.mocks import Mocks
from weighbridge.rig.tail import clean

_TIMEOUT_S = 20.0
_KEPT_BYTES = 500


@dataclass(frozen=True)
class _Came:
    """What came back: the text of the answer, its content events, and what is wrong with its form."""

    text: str = ""
    chunk_count: int | None = None
    end_marker: bool | None = None
    problem: str | None = None


def preflight(lane: Lane, mocks: Mocks, mode: Mode, answer: AnswerSpec) -> Evidence:
    """What one request of this mode through the lane showed."""
    mocks.reset(answer)
    sent = _body(mode)
    try:
        got = http.stream(
            "POST",
            lane.url,
            headers=(*lane.headers, ("content-type", "application/json")),
            body=json.dumps(sent).encode(),
            timeout_s=_TIMEOUT_S + answer.provider_time_s(mode),
        )
    except OSError as error:
        return Evidence(mode=mode, status=None, ok=False, problem=f"no answer ({error.strerror or error})")
    came = _read(got, mode)
    problem = came.problem or _difference(came, mode, answer)
    changes: tuple[str, ...] = ()
    if problem is None:
        received = _received(mocks)
        if received is None:
            problem = "an answer came, but the provider saw no request"
        else:
            changes = tuple(_changes(sent, received))
    return Evidence(
        mode=mode,
        status=got.status,
        ok=problem is None,
        problem=problem,
        body_head=clean(got.body[:_KEPT_BYTES], lane.setup.keys.all) if problem else "",
        upstream_changes=changes,
        stamp_survives=find_stamp(came.text) is not None,
        end_marker=came.end_marker,
        chunk_count=came.chunk_count,
    )


def _body(mode: Mode) -> dict[str, Any]:
    return {
        "model": MODEL,
        "messages": [
            {"role": "system", "content": "Answer in one short and friendly sentence."},
            {"role": "user", "content": f"{reference(0)} Tell me something about bridges and rivers."},
        ],
        "stream": mode == "stream",
    }


def _read(got: http.HttpAnswer, mode: Mode) -> _Came:
    if got.fault:
        return _Came(problem=f"the body {got.fault}")
    if got.status != 200:
        return _Came(problem=f"status {got.status}")
    kind = (got.header("content-type") or "none").split(";")[0].strip().lower()
    wanted = "text/event-stream" if mode == "stream" else "application/json"
    if kind != wanted:
        return _Came(problem=f"content type {kind[:60]} where {wanted} was expected")
    return _read_stream(got.body) if mode == "stream" else _read_plain(got.body)


def _read_plain(body: bytes) -> _Came:
    try:
        text = json.loads(body)["choices"][0]["message"]["content"]
    except (ValueError, KeyError, IndexError, TypeError):
        return _Came(problem="the body is no chat completion")
    return _Came(text=text) if isinstance(text, str) else _Came(problem="the answer has no text")


def _read_stream(body: bytes) -> _Came:
    pieces: list[str] = []
    done = False
    for line in body.decode("utf-8", "replace").splitlines():
        if not line.startswith("data:"):
            continue
        data = line[5:].strip()
        if data == "[DONE]":
            done = True
            continue
        try:
            event = json.loads(data)
            choices = event["choices"]
            piece = choices[0]["delta"].get("content") if choices else None
        except (ValueError, KeyError, IndexError, TypeError, AttributeError):
            return _Came(problem="an event of the stream is no chat completion chunk")
        if piece:
            pieces.append(str(piece))
    if not pieces:
        return _Came(problem="the stream has no content")
    return _Came(text="".join(pieces), chunk_count=len(pieces), end_marker=done)


def _difference(came: _Came, mode: Mode, answer: AnswerSpec) -> str | None:
    """What of the provider's stream is missing or out of order, by the stamps in its chunks."""
    stamps = find_chunks(came.text) if mode == "stream" else ()
    if not stamps:
        return None
    numbers = [stamp.sequence for stamp in stamps]
    missing = sorted(set(range(answer.chunk_count)) - set(numbers))
    if missing:
        return f"of {answer.chunk_count} chunks {_named(missing)} did not arrive"
    return None if numbers == sorted(set(numbers)) else "chunks arrived twice or out of order"


def _named(numbers: Sequence[int]) -> str:
    shown = ", ".join(str(number + 1) for number in numbers[:5])
    return f"number {shown}" if len(numbers) <= 5 else f"number {shown} and {len(numbers) - 5} more"


def _received(mocks: Mocks) -> dict[str, Any] | None:
    try:
        last = mocks.provider.ask("GET", "/last")
    except LaneFailed:
        return None
    body = last.get("body") if isinstance(last, dict) else None
    if isinstance(body, str):
        try:
            body = json.loads(body)
        except ValueError:
            return None
    return body if isinstance(body, dict) else None


def _changes(sent: dict[str, Any], received: dict[str, Any]) -> list[str]:
    added = [f"adds {key}" for key in received if key not in sent]
    dropped = [f"drops {key}" for key in sent if key not in received]
    changed = [f"changes {key}" for key in sent if key in received and sent[key] != received[key]]
    return added + dropped + changed
