"""A client's chat request as the gateway reads it: key, id, messages, model, stream or not.

Raises Refused for what cannot be served. It checks no key, sends nothing.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mocks.gateway.answer import Header
from mocks.gateway.refusal import Refused

BYTES_PER_TOKEN = 4  # the usual rule of thumb for English; only for estimates before a response tells
_REQUEST_ID = re.compile(r"[A-Za-z0-9._:-]{1,128}")
PER_HOP = frozenset({"connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade"})
_OWN = frozenset(
    {"accept-encoding", "authorization", "content-length", "expect", "host", "proxy-authorization", "x-request-id"}
)


@dataclass(frozen=True, slots=True)
class Chat:
    """One chat request; `document` is the body's JSON, changed in place by policies."""

    document: dict[str, Any]
    body: bytes
    model: str
    streamed: bool

    @property
    def messages(self) -> list[Any]:
        """The messages, in the document."""
        messages: list[Any] = self.document["messages"]
        return messages

    @property
    def input_token_estimate(self) -> int:
        """Tokens of the request by its size."""
        return max(1, len(self.body) // BYTES_PER_TOKEN)

    def encode(self, *, changed: bool) -> bytes:
        """Return the body for the provider: the client's own bytes unless a policy changed the document."""
        if not changed:
            return self.body
        return json.dumps(self.document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")


def read_request_id(headers: Mapping[str, str]) -> str:
    """Return the client's request id or a new one; raises Refused for one that cannot be kept."""
    given = headers.get("x-request-id")
    if given is None:
        return uuid.uuid4().hex
    if not _REQUEST_ID.fullmatch(given):
        raise Refused(400, "invalid_request_id", "x-request-id must be 1 to 128 letters, digits or . _ : -")
    return given


def read_key(headers: Mapping[str, str]) -> str:
    """Return the client's key; raises Refused when there is none."""
    scheme, _, key = headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not key.strip():
        raise Refused(401, "missing_api_key", "send a client key as 'Authorization: Bearer KEY'")
    return key.strip()


def read_chat(body: bytes) -> Chat:
    """Read the chat request in a body; raises Refused when it is none."""
    try:
        document = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "invalid_json", "the body is not JSON") from None
    if not isinstance(document, dict) or not isinstance(document.get("messages"), list):
        raise Refused(400, "invalid_request", "the body must be a JSON object with a list of messages")
    model = document.get("model")
    if not isinstance(model, str) or not model:
        raise Refused(400, "invalid_request", "the body must name a model")
    return Chat(document, body, model, document.get("stream") is True)


def provider_headers(headers: Mapping[str, str], provider_key: str, request_id: str) -> list[Header]:
    """Return the client's headers for the provider: no hop's own, the provider's key, responses uncompressed."""
    passed = [
        (name.encode("latin-1"), value.encode("latin-1"))
        for name, value in headers.items()
        if name not in PER_HOP and name not in _OWN
    ]
    return [
        *passed,
        (b"authorization", b"Bearer " + provider_key.encode("utf-8")),
        (b"accept-encoding", b"identity"),
        (b"x-request-id", request_id.encode("latin-1")),
    ]
