"""What a chat request asks for, or why it cannot be answered.

It must not respond; it reads the whole body, as a provider does.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from mocks import stamps
from mocks.wire.routes import BadBody

_CONTENT_TYPES = (str, list, type(None))


@dataclass(slots=True)  # not frozen: a frozen one costs a microsecond a request
class ChatRequest:
    """A chat request that can be answered."""

    model: str
    stream: bool
    include_usage: bool
    prompt_token_count: int


def find_reference(body: bytes) -> str | None:
    """Return the reference's letters in the prompt; letters are never escaped in JSON, so the text is searched."""
    letters = stamps.find_reference(body)
    return None if letters is None else letters.decode("ascii")


def read_chat(body: bytes) -> ChatRequest:
    """Read the request in `body`. Raises BadBody with a sentence in the words of OpenAI's API."""
    try:
        document = json.loads(body.decode())
    except (ValueError, RecursionError):
        raise BadBody("We could not parse the JSON body of your request.") from None
    if not isinstance(document, dict):
        raise BadBody("The body of your request must be a JSON object.")
    model = document.get("model")
    if not isinstance(model, str) or not model:
        raise BadBody("you must provide a model parameter")
    _check_messages(document.get("messages"))
    stream = _flag(document, "stream")
    options = document.get("stream_options")
    if options is not None and not isinstance(options, dict):
        raise BadBody("Invalid type for 'stream_options': expected an object.")
    include_usage = stream and options is not None and _flag(options, "include_usage")
    # Four bytes a token: the usual rule of thumb; the figure only has to be steady and plausible.
    return ChatRequest(model, stream, include_usage, max(1, len(body) // 4))


def _check_messages(messages: object) -> None:
    if not isinstance(messages, list) or not messages:
        raise BadBody("Missing required parameter: 'messages'.")
    for place, message in enumerate(messages):
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadBody(f"Missing required parameter: 'messages[{place}].role'.")
        if not isinstance(message.get("content"), _CONTENT_TYPES):
            raise BadBody(f"Invalid type for 'messages[{place}].content': expected a string or an array.")


def _flag(document: dict[str, Any], name: str) -> bool:
    value = document.get(name)
    if value is not None and not isinstance(value, bool):
        raise BadBody(f"Invalid type for '{name}': expected a boolean.")
    return bool(value)
