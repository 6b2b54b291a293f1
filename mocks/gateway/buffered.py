"""Answers whose text policies must see: the texts of a plain response or of a complete stream, and their replacement.

Raises ValueError for what is no chat response. Unchanged responses are passed on byte for byte; in a changed stream
the whole new text stands in the first content event and the other events lose theirs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from mocks.gateway.control import TokenUsage

DONE_DATA = "[DONE]"
_EVENT_END = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True, slots=True)
class PlainAnswer:
    """A non-streaming response's JSON document."""

    document: dict[str, Any]

    @property
    def texts(self) -> list[str]:
        """The text of each choice that has one."""
        return [message["content"] for message in self._messages()]

    def replace(self, texts: list[str]) -> bytes:
        """Return the answer's bytes with new texts."""
        for message, text in zip(self._messages(), texts, strict=True):
            message["content"] = text
        return _encode(self.document)

    def _messages(self) -> list[dict[str, Any]]:
        choices = self.document.get("choices")
        messages = [choice.get("message") for choice in choices or () if isinstance(choice, dict)]
        return [m for m in messages if isinstance(m, dict) and isinstance(m.get("content"), str)]


@dataclass(frozen=True, slots=True)
class BufferedStream:
    """The events of a complete stream, without the end marker."""

    chunks: list[dict[str, Any]]

    @property
    def texts(self) -> list[str]:
        """The whole text of each choice, by its index."""
        parts: dict[int, list[str]] = {}
        for index, delta in self._deltas():
            parts.setdefault(index, []).append(delta["content"])
        return ["".join(parts[index]) for index in sorted(parts)]

    def replace(self, texts: list[str]) -> bytes:
        """Return the stream's bytes with new texts, end marker included."""
        waiting = dict(zip(sorted({index for index, _ in self._deltas()}), texts, strict=True))
        for index, delta in self._deltas():
            delta["content"] = waiting.pop(index, "")
        events = [b"data: " + _encode(chunk) + b"\n\n" for chunk in self.chunks if not _is_empty(chunk)]
        return b"".join(events) + b"data: [DONE]\n\n"

    def _deltas(self) -> list[tuple[int, dict[str, Any]]]:
        """Every delta with content, with the index of its choice, in order."""
        return [
            (choice.get("index", 0), choice["delta"])
            for chunk in self.chunks
            for choice in chunk.get("choices") or ()
            if isinstance(choice, dict)
            and isinstance(choice.get("delta"), dict)
            and isinstance(choice["delta"].get("content"), str)
            and isinstance(choice.get("index", 0), int)
        ]


def read_plain(body: bytes) -> PlainAnswer:
    """Read the document of a non-streaming response; raises ValueError."""
    document = json.loads(body)
    if not isinstance(document, dict):
        raise ValueError("the response is not a JSON object")  # noqa: TRY004 - as for bad JSON
    return PlainAnswer(document)


def read_stream(body: bytes) -> BufferedStream:
    """Read the events of a stream that came to its end marker; raises ValueError for any other."""
    chunks: list[dict[str, Any]] = []
    for event in _EVENT_END.split(body):
        text = _event_text(event)
        if text == DONE_DATA:
            return BufferedStream(chunks)
        if text:
            chunk = json.loads(text)
            if not isinstance(chunk, dict):
                raise ValueError("an event of the stream is not a JSON object")
            chunks.append(chunk)
    raise ValueError("the stream has no end marker")


def find_usage(tail: bytes) -> TokenUsage | None:
    """Return the usage told in the last events of a stream, None when they tell none."""
    for event in reversed(_EVENT_END.split(tail)):
        if b'"usage"' not in event:
            continue
        try:
            return usage_of(json.loads(_event_text(event)))
        except ValueError:  # the tail may begin in the middle of an event
            return None
    return None


def usage_of(document: Any) -> TokenUsage | None:
    """Return the usage that a response or event tells, None when it tells none."""
    usage = document.get("usage") if isinstance(document, dict) else None
    if not isinstance(usage, dict):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    return TokenUsage(prompt, completion) if isinstance(prompt, int) and isinstance(completion, int) else None


def _event_text(event: bytes) -> str:
    """Return the data of one server-sent event; empty for comments."""
    lines = event.decode("utf-8").split("\n")  # no other sign ends a line: texts may hold U+2028 as it is
    return "\n".join(line[5:].removeprefix(" ").rstrip("\r") for line in lines if line.startswith("data:"))


def _is_empty(chunk: dict[str, Any]) -> bool:
    """Whether an event lost all it said: no usage, and only choices with an empty text."""
    choices = chunk.get("choices")
    if chunk.get("usage") or not choices:
        return False
    return all(choice.get("finish_reason") is None and choice.get("delta") == {"content": ""} for choice in choices)


def _encode(document: Any) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
