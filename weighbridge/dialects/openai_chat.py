"""Chat completions in the dialect of OpenAI: the body of a request, a plain response, a stream, and their errors.

It knows the form alone. Prompts are passed in, and what a text means is for those who read it.
A chunk may lack `choices` or `delta`, carry null, a role or token usage only: it is good and has no content.
Content is text, reasoning or a tool call.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from weighbridge.dialects import event_stream, media_type

AnswerKind = Literal["plain", "stream"]

_DONE = b"[DONE]"
_TEXTS = ("content", "reasoning_content", "reasoning")
_PLACE = "\x00"
_ESCAPED_PLACE = "\\u0000"


@dataclass(frozen=True)
class Message:
    """One message of a request."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True)
class Usage:
    """Tokens as the response counts them; None for a number that it does not give."""

    prompt_count: int | None
    completion_count: int | None
    total_count: int | None


@dataclass
class ChatAnswer:
    """What one response says.

    `pieces` has number and text of each event with content, of a stream only. `error` is the message of an error in
    it, None without one. `is_broken` says that a part of it is not of this dialect, `is_done` that the end marker
    came, `first_event` is the number of the first event, -1 without one.
    """

    text: str = ""
    pieces: list[tuple[int, str]] = field(default_factory=list)
    error: str | None = None
    is_broken: bool = False
    is_done: bool = False
    finish_reason: str | None = None
    usage: Usage | None = None
    first_event: int = -1

    @property
    def is_ended(self) -> bool:
        """Return whether a stream says that it is at its end, by its marker or by a reason."""
        return self.is_done or self.finish_reason is not None


def request_document(model: str, messages: Sequence[Message], *, is_stream: bool) -> dict[str, Any]:
    """Return a request as it is sent; a stream is asked for its usage, which its last chunk tells."""
    return {
        "model": model,
        "stream": is_stream,
        **({"stream_options": {"include_usage": True}} if is_stream else {}),
        "messages": [{"role": message.role, "content": message.content} for message in messages],
    }


def request_body(document: dict[str, Any]) -> bytes:
    """Return the bytes of a request, in ASCII and without blanks between its parts."""
    return _encoded(document).encode("ascii")


def request_frame(model: str, messages: Sequence[Message], *, is_stream: bool) -> tuple[str, str]:
    """Return what stands before and behind the text of a last user's message that follows `messages`."""
    all_messages = (*messages, Message("user", _PLACE))
    head, _, tail = _encoded(request_document(model, all_messages, is_stream=is_stream)).rpartition(_ESCAPED_PLACE)
    return head, tail


def answers_kind(kind: AnswerKind, content_type: str) -> bool:
    """Return whether a content type is that of such a response, whatever its case and parameters."""
    essence = media_type.essence(content_type)
    return essence == event_stream.CONTENT_TYPE if kind == "stream" else media_type.is_json(essence)


def read_answer(kind: AnswerKind, content_type: str, parts: Sequence[tuple[int, bytes]]) -> ChatAnswer:
    """Return what a body says by its content type; JSON where a stream was asked is read for its error."""
    if kind == "stream" and answers_kind("stream", content_type):
        return read_stream(parts)
    if answers_kind("plain", content_type):
        return read_plain(b"".join(data for _, data in parts))
    return ChatAnswer()


def read_plain(body: bytes) -> ChatAnswer:
    """Return what the JSON of a non-streaming response says."""
    document = _object(body)
    if document is None:
        return ChatAnswer(is_broken=True)
    choice = _first_choice(document)
    error = _error(document, choice)
    if error is not None:
        return ChatAnswer(error=error)
    message = choice.get("message")
    return ChatAnswer(
        text=_text(message),
        is_broken=not isinstance(message, dict),
        finish_reason=_reason(choice),
        usage=_usage(document),
    )


def read_stream(parts: Iterable[tuple[int, bytes]]) -> ChatAnswer:
    """Return what the events of a stream say; `parts` are pieces of its body, each with a number."""
    answer = ChatAnswer()
    for number, name, data in event_stream.read_events(parts):
        if name.strip() == b"error":
            _note_first(answer, number)
            _add_error_event(answer, data)
        elif data.strip() == _DONE:
            _note_first(answer, number)
            answer.is_done = True
        elif data.strip():
            _note_first(answer, number)
            _add_chunk(answer, number, data)
    answer.text = "".join(text for _, text in answer.pieces)
    return answer


def _note_first(answer: ChatAnswer, number: int) -> None:
    if answer.first_event < 0:
        answer.first_event = number


def _add_chunk(answer: ChatAnswer, number: int, data: bytes) -> None:
    document = _event_object(data)
    if document is None:
        answer.is_broken = True
        return
    choice = _first_choice(document)
    error = _error(document, choice)
    if error is not None:
        answer.error = answer.error or error
        return
    answer.finish_reason = _reason(choice) or answer.finish_reason
    if "usage" in document:
        answer.usage = _usage(document) or answer.usage
    text = _text(choice.get("delta"))
    if text:
        answer.pieces.append((number, text))


def _add_error_event(answer: ChatAnswer, data: bytes) -> None:
    document = _event_object(data)
    error = _error(document, _first_choice(document)) if document is not None else None
    answer.error = answer.error or error or data.decode("utf-8", "replace")


def _event_object(data: bytes) -> dict[str, Any] | None:
    # Streams of events are decoded so: what is no UTF-8 is replaced, and no error.
    return _object(data.decode("utf-8", "replace").removeprefix("\ufeff"))


def _object(data: bytes | str) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first_choice(document: dict[str, Any]) -> dict[str, Any]:
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _error(document: dict[str, Any], choice: dict[str, Any]) -> str | None:
    """Return the message of an error, None where a document tells of none."""
    error = document.get("error") or choice.get("error")
    if not error:
        if document.get("object") != "error":
            return None
        error = document
    message = error.get("message") if isinstance(error, dict) else error
    return message if isinstance(message, str) else json.dumps(error)


def _reason(choice: dict[str, Any]) -> str | None:
    reason = choice.get("finish_reason")
    return str(reason) if reason else None


def _usage(document: dict[str, Any]) -> Usage | None:
    usage = document.get("usage")
    if not isinstance(usage, dict):
        return None
    return Usage(*(_count(usage.get(name)) for name in ("prompt_tokens", "completion_tokens", "total_tokens")))


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(message: object) -> str:
    """Return text, reasoning or tool calls of a message or delta; empty without any."""
    if not isinstance(message, dict):
        return ""
    for name in _TEXTS:
        if isinstance(value := message.get(name), str) and value:
            return value
        if isinstance(value, list) and value:
            return json.dumps(value)
    calls = message.get("tool_calls")
    return json.dumps(calls) if calls else ""


def _encoded(document: dict[str, Any]) -> str:
    return json.dumps(document, separators=(",", ":"))
