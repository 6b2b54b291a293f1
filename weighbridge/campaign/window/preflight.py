"""One request through the lane before the first window: does the provider see it, does its response come back whole.

Capabilities are tried, not believed. What is sent is compared with what the provider received, what the provider
answered with what came back; a claim that fails is evidence, not an exception.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from weighbridge.dialects import media_type, openai_chat
from weighbridge.dialects.openai_chat import Message
from weighbridge.errors import LaneFailed
from weighbridge.matrix.requests import AnswerSpec, Mode
from weighbridge.record.run import Evidence
from weighbridge.record.stamps import find_chunks, find_stamp, reference
from weighbridge.rig.lanes import http
from weighbridge.rig.lanes.lane import Lane
from weighbridge.rig.lanes.mocks import MODEL, Mocks
from weighbridge.rig.processes.logs import clean

_TIMEOUT_S = 20.0
_STORED_BYTES = 500
_STORED_CHARACTERS = 300


@dataclass(frozen=True)
class _Came:
    """What came back: the response as its dialect reads it, and what is wrong with its form."""

    answer: openai_chat.ChatAnswer
    problem: str | None = None


def preflight(lane: Lane, mocks: Mocks, mode: Mode, answer: AnswerSpec) -> Evidence:
    """Send one request of this mode through the lane and return what it showed."""
    mocks.reset(answer)
    sent = _request(mode)
    try:
        got = http.stream(
            "POST",
            lane.url,
            headers=(*lane.headers, ("content-type", "application/json")),
            body=openai_chat.request_body(sent),
            timeout_s=_TIMEOUT_S + answer.provider_time_s(mode),
        )
    except OSError as error:
        silence = f"no response ({error.strerror or error})"
        refused = isinstance(error, (ConnectionRefusedError, ConnectionResetError))
        return Evidence(mode=mode, status=None, ok=False, problem=silence, is_refused=refused)
    came = _read(got, mode)
    has_events = mode == "stream" and came.problem is None
    secrets = lane.setup.keys.all
    problem = came.problem or _difference(came, mode, answer)
    changes: tuple[str, ...] = ()
    if problem is None:
        received = _received(mocks)
        if received is None:
            problem = "a response came, but the provider saw no request"
        else:
            changes = tuple(_changes(sent, received))
    return Evidence(
        mode=mode,
        status=got.status,
        ok=problem is None,
        problem=clean(problem.encode("utf-8", "replace"), secrets)[:_STORED_CHARACTERS] if problem else None,
        body_head=clean(got.body[:_STORED_BYTES], secrets) if problem else "",
        upstream_changes=changes,
        stamp_survives=find_stamp(came.answer.text) is not None,
        body_bytes=len(got.body),
        added_s=_added_s(got, came) if problem is None else None,
        end_marker=came.answer.is_done if has_events else None,
        chunk_count=len(came.answer.pieces) if has_events else None,
    )


def _added_s(got: http.HttpAnswer, came: _Came) -> float | None:
    """Return the time of this request less the provider's own: to the end, of a stream to the first content."""
    stamp = find_stamp(came.answer.text)
    if stamp is None:
        return None
    first = came.answer.pieces[0][0] if came.answer.pieces else None
    read_ns = got.end_ns if first is None else got.chunks[first].at_ns
    return (read_ns - got.sent_ns - (stamp.send_ns - stamp.recv_ns)) / 1e9


def _request(mode: Mode) -> dict[str, Any]:
    messages = (
        Message("system", "Answer in one short and friendly sentence."),
        Message("user", f"{reference(0)} Tell me something about bridges and rivers."),
    )
    return openai_chat.request_document(MODEL, messages, is_stream=mode == "stream")


def _read(got: http.HttpAnswer, mode: Mode) -> _Came:
    kind = got.header("content-type") or ""
    parts = [(number, chunk.data) for number, chunk in enumerate(got.chunks)]
    answer = openai_chat.read_answer(mode, kind, parts)
    problem = _http_problem(got) or _form_problem(got, mode, answer)
    return _Came(openai_chat.ChatAnswer(), problem) if problem else _Came(answer)


def _http_problem(got: http.HttpAnswer) -> str | None:
    """Return what is wrong before the body is read, None for nothing."""
    if got.fault:
        return got.fault
    if got.has_more:
        return "bytes came behind the end of the answer"
    return None if got.status // 100 == 2 else f"status {got.status}"


def _form_problem(got: http.HttpAnswer, mode: Mode, answer: openai_chat.ChatAnswer) -> str | None:
    """Return what is wrong with a response as a response of its dialect; the probe's outcomes are the same."""
    if answer.error is not None:
        return f"an error in the body: {' '.join(answer.error.split())}"
    kind = got.header("content-type") or ""
    if not openai_chat.answers_kind(mode, kind):
        wanted = "text/event-stream" if mode == "stream" else "application/json"
        return f"content type {media_type.essence(kind)[:60] or 'none'} where {wanted} was expected"
    is_empty = not answer.is_broken and not answer.text
    encoding = (got.header("content-encoding") or "identity").strip().lower()
    if (answer.is_broken or is_empty) and encoding != "identity":
        return f"the body has content-encoding {encoding[:60]}, which was not asked for"
    if answer.is_broken:
        is_stream = mode == "stream"
        return "an event of the stream is no chat completion chunk" if is_stream else "the body is no chat completion"
    if is_empty:
        return "the stream has no content" if mode == "stream" else "the response has no text"
    if mode == "stream" and not answer.is_ended:
        return "the stream ended without a finish_reason and without an end marker"
    return None


def _difference(came: _Came, mode: Mode, answer: AnswerSpec) -> str | None:
    """Tell what of the provider's stream is missing or out of order, by the stamps in its chunks."""
    stamps = find_chunks(came.answer.text) if mode == "stream" else ()
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
