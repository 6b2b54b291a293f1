"""The records of the audit log and how each is delivered: two events a request, and closeouts that failed.

A record is one line of JSON; an event's record is the envelope that the control plane gets, byte for byte.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from mocks.gateway.control import Closeout, ControlPlaneClient, ControlPlaneRefused, Identity, TokenUsage

CLOSEOUT_KIND = "closeout"


@dataclass(frozen=True, slots=True)
class Event:
    """What happened at one point of a request: `decision` before the provider call, `ai_usage` after it."""

    kind: str
    request_id: str
    org_id: str
    payload: Mapping[str, Any]

    def record(self) -> bytes:
        """Return the envelope; its delivery id is the same whenever it is made for the same event."""
        payload = _encode(self.payload)
        event_id = f"{self.request_id}-{self.kind}"
        envelope = {
            "delivery_id": event_id,
            "event_id": event_id,
            "event_kind": self.kind,
            "org_id": self.org_id,
            "request_id": self.request_id,
            "created_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "payload_sha256": hashlib.sha256(payload).hexdigest(),
            "payload": self.payload,
        }
        return _encode(envelope)


def closeout_record(closeout: Closeout, identity: Identity) -> bytes:
    """Return the record of a closeout that must still reach the control plane."""
    usage = closeout.usage
    return _encode(
        {
            "event_kind": CLOSEOUT_KIND,
            "request_id": closeout.request_id,
            "authorization_id": closeout.authorization_id,
            "agent_id": identity.agent_id,
            "usage": None if usage is None else [usage.input_token_count, usage.output_token_count],
            "reason": closeout.reason,
        }
    )


class Courier:
    """Brings records to the control plane and raises what its calls raise."""

    def __init__(self, control: ControlPlaneClient) -> None:
        self._control = control

    async def send(self, record: bytes) -> None:
        """Return when the control plane has acknowledged what the record asks for."""
        try:
            document = json.loads(record)
            if document["event_kind"] != CLOSEOUT_KIND:
                await self._control.deliver(record, document["delivery_id"])
                return
            usage = None if document["usage"] is None else TokenUsage(*document["usage"])
            closeout = Closeout(document["request_id"], document["authorization_id"], usage, document["reason"])
        except (ValueError, KeyError, TypeError) as error:
            raise ControlPlaneRefused(f"the record is damaged: {error!r}") from error
        await self._control.complete(closeout)
        if usage is not None:
            await self._control.increment(document["agent_id"], closeout.request_id, usage)


def _encode(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
