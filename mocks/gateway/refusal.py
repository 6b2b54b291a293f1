"""A request that gets an error from the gateway itself: status, code and one sentence, as JSON.

Raised anywhere on a request's way and answered at one place in the proxy.
"""

from __future__ import annotations

from typing import Any


class Refused(Exception):
    """The request goes no further; `code` is for programs, the sentence for people."""

    def __init__(self, status: int, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status
        self.code = code
        self.sentence = sentence

    def document(self, request_id: str) -> dict[str, Any]:
        """Return the answer's JSON document."""
        kind = "policy_violation" if self.code == "policy_blocked" else "gateway_error"
        return {"error": {"message": self.sentence, "type": kind, "code": self.code, "request_id": request_id}}
