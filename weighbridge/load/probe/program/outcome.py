"""How a request ended: one of the outcomes of `record.probe_tables`, from transport and content.

A status of 200 is no success: content and end are looked at as well.
"""

from __future__ import annotations

from weighbridge.dialects.openai_chat import answers_kind
from weighbridge.load.probe.program.capture import CLOSED, RESET, Exchange
from weighbridge.load.probe.program.content import Content
from weighbridge.load.probe.program.response import Response

CENSORED = ""


def outcome_of(exchange: Exchange, answer: Response, content: Content, *, is_stream: bool) -> str:
    """Name of the outcome; `CENSORED` for a request without an end."""
    if not exchange.end_ns:
        return CENSORED
    if exchange.fault not in ("", CLOSED, RESET):
        return exchange.fault
    if not answer.status:
        return "reset"
    if answer.status // 100 != 2:
        return "http_error"
    return _of_stream(exchange, answer, content) if is_stream else _of_plain(exchange, answer, content)


def _is_whole(exchange: Exchange, answer: Response) -> bool:
    """Whether the message is complete; without a length, the close of the connection is its end."""
    return answer.complete or (exchange.fault == CLOSED and not answer.framed)


def _of_plain(exchange: Exchange, answer: Response, content: Content) -> str:
    if exchange.fault == RESET:
        return "reset"
    if not _is_whole(exchange, answer):
        return "truncated"
    if not answers_kind("plain", answer.content_type):
        return "wrong_content_type"
    if content.error:
        return "json_error"
    if content.broken:
        return "protocol"
    return "ok" if content.text else "empty_response"


def _of_stream(exchange: Exchange, answer: Response, content: Content) -> str:
    if not answers_kind("stream", answer.content_type):
        return "json_error" if content.error else "wrong_content_type"
    if content.error:
        return "stream_error"
    if exchange.fault == RESET:
        return "reset"
    is_ended = content.done or content.finished
    if content.broken:
        # The last event of a stream that was cut is a piece; elsewhere it is a fault of its own.
        return "protocol" if is_ended or _is_whole(exchange, answer) else "truncated"
    if not _is_whole(exchange, answer):
        return "protocol" if is_ended else "truncated"
    if not content.counted:
        return "empty_stream"
    return "ok" if is_ended else "truncated"
