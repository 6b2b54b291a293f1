"""What a body says: the text of a plain response, or the events of a stream with the read that completed each.

The dialect tells what is content; here the chunk stamps are looked for in its text, across events when a gateway cut
it anew.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from weighbridge.dialects import openai_chat
from weighbridge.load.probe.program.response import Response
from weighbridge.record.probe_tables import UNKNOWN
from weighbridge.record.stamps import CHUNK_WORD, find_chunks

_CHUNK_LENGTH = len(CHUNK_WORD) + 16 + 4 + 1

# So much of an error's own words is kept.
_MESSAGE_LIMIT = 120


@dataclass
class Content:
    """What one body held. `events` are rows (read, send_ns, sequence) of content, one for each chunk that is told.

    `counted` has the reads of content events in their order; `broken` says that something in it was no JSON of the
    expected shape, `error` that it was an error's, `message` what that one said; `usage` is the last one told.
    """

    text: str = ""
    error: bool = False
    message: str = ""
    broken: bool = False
    done: bool = False
    finished: bool = False
    first_event_read: int = -1
    counted: list[int] = field(default_factory=list)
    events: list[tuple[int, int, int]] = field(default_factory=list)
    usage: openai_chat.Usage | None = None


def content_of(answer: Response, *, is_stream: bool) -> Content:
    """Return the content of a response by its content type."""
    kind: openai_chat.AnswerKind = "stream" if is_stream else "plain"
    return _content(openai_chat.read_answer(kind, answer.content_type, answer.parts))


def plain_content(body: bytes) -> Content:
    """Return the content of a JSON response."""
    return _content(openai_chat.read_plain(body))


def stream_content(parts: Sequence[tuple[int, bytes]]) -> Content:
    """Return the content of a body of server-sent events."""
    return _content(openai_chat.read_stream(parts))


def _content(message: openai_chat.ChatAnswer) -> Content:
    content = Content(
        text=message.text,
        error=message.error is not None,
        message=" ".join((message.error or "").split())[:_MESSAGE_LIMIT],
        broken=message.is_broken,
        done=message.is_done,
        finished=message.finish_reason is not None,
        first_event_read=message.first_event,
        usage=message.usage,
    )
    tail = ""
    for read, text in message.pieces:
        tail = _count(content, read, tail + text)
    return content


def _count(content: Content, read: int, text: str) -> str:
    """Add a content event; gives back the end of `text` that may be the begin of a chunk stamp."""
    content.counted.append(read)
    found = find_chunks(text)
    content.events += [(read, chunk.send_ns, chunk.sequence) for chunk in found] or [(read, UNKNOWN, UNKNOWN)]
    place = text.rfind(CHUNK_WORD)
    is_cut = place >= 0 and len(text) - place < _CHUNK_LENGTH
    return text[place:] if is_cut else text[1 - len(CHUNK_WORD) :]
