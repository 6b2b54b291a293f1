"""What a body says: the text of a plain answer, or the events of a stream with the read that completed each.

Called by `tables` after the window. Content is text, reasoning or a tool call; everything else in a stream is an
event without content. The chunk stamps are looked for in the text, across events when a gateway cut it anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from weighbridge.record.inband import UNKNOWN
from weighbridge.record.stamps import CHUNK_WORD, find_chunks

_CHUNK_LENGTH = len(CHUNK_WORD) + 16 + 4 + 1


@dataclass
class Content:
    """What one body held. `events` are rows (read, send_ns, sequence) of content, one for each chunk that is told.

    `counted` has the reads of content events in their order; `broken` says that something in it was no JSON of the
    expected shape, `error` that it was an error's.
    """

    text: str = ""
    error: bool = False
    broken: bool = False
    done: bool = False
    finished: bool = False
    first_event_read: int = -1
    counted: list[int] = field(default_factory=list)
    events: list[tuple[int, int, int]] = field(default_factory=list)


def plain_content(body: bytes) -> Content:
    """Content of a JSON answer."""
    document = _object(body)
    if document is None:
        return Content(broken=True)
    if document.get("error"):
        return Content(error=True)
    message = _first_choice(document).get("message")
    return Content(text=_text_of(message), broken=not isinstance(message, dict))


def stream_content(parts: Sequence[tuple[int, bytes]]) -> Content:
    """Content of a body of server-sent events."""
    content, texts, tail = Content(), [], ""
    for read, name, data in _events(parts):
        if content.first_event_read < 0:
            content.first_event_read = read
        if data == b"[DONE]":
            content.done = True
            continue
        document = _object(data)
        if document is None:
            content.broken = True
            continue
        if document.get("error") or name == b"error":
            content.error = True
            continue
        choice = _first_choice(document)
        content.finished = content.finished or bool(choice.get("finish_reason"))
        text = _text_of(choice.get("delta"))
        if text:
            texts.append(text)
            tail = _count(content, read, tail + text)
    content.text = "".join(texts)
    return content


def _count(content: Content, read: int, text: str) -> str:
    """Add a content event; gives back the end of `text` that may be the begin of a chunk stamp."""
    content.counted.append(read)
    found = find_chunks(text)
    content.events += [(read, chunk.send_ns, chunk.sequence) for chunk in found] or [(read, UNKNOWN, UNKNOWN)]
    place = text.rfind(CHUNK_WORD)
    is_cut = place >= 0 and len(text) - place < _CHUNK_LENGTH
    return text[place:] if is_cut else text[1 - len(CHUNK_WORD) :]


def _events(parts: Sequence[tuple[int, bytes]]) -> Iterator[tuple[int, bytes, bytes]]:
    """Read, name and data of each event; an event belongs to the read that brought its blank line."""
    rest, read = b"", -1
    for read, part in parts:
        rest += part
        # A CR at the very end, half of a line end, stays in the rest until its LF comes.
        *blocks, rest = rest.replace(b"\r\n", b"\n").split(b"\n\n")
        yield from _named(blocks, read)
    # A last event without a blank line is one all the same: gateways forget it.
    yield from _named([rest.replace(b"\r", b"\n")], read)


def _named(blocks: Sequence[bytes], read: int) -> Iterator[tuple[int, bytes, bytes]]:
    for block in blocks:
        name, data = b"", []
        for line in block.split(b"\n"):
            key, _, value = line.partition(b":")
            if key == b"data":
                data.append(value.removeprefix(b" "))
            elif key == b"event":
                name = value.strip()
        if data:
            yield read, name, b"\n".join(data)


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _first_choice(document: dict[str, Any]) -> dict[str, Any]:
    choices = document.get("choices")
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, dict) else {}


def _text_of(message: object) -> str:
    """Text, reasoning or tool calls of a message or delta; empty without any."""
    if not isinstance(message, dict):
        return ""
    for name in ("content", "reasoning_content", "reasoning"):
        if isinstance(value := message.get(name), str) and value:
            return value
        if isinstance(value, list) and value:
            return json.dumps(value)
    calls = message.get("tool_calls")
    return json.dumps(calls) if calls else ""
