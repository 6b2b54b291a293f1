"""Client of the control plane: the calls that admit a request, close it out and deliver its events.

It tells apart a control plane that does not respond (ControlPlaneDown: worth repeating) from one that says no
(ControlPlaneRefused). It keeps no state.
"""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from mocks.contract import GATEWAY_ID, REGISTRATION_ID
from mocks.gateway.answer import Header, UpstreamLost
from mocks.gateway.upstream import Call, UpstreamPool

REPEAT_COUNT = 2
CONTROL_ANSWER_LIMIT_BYTES = 4 * 1024 * 1024
REPEATED_STATUSES = frozenset({408, 429, 500, 502, 503, 504})


class ControlPlaneDown(Exception):
    """The control plane gave no usable response; the same call may succeed later."""


class ControlPlaneRefused(Exception):
    """The control plane answered no; repeating the call will not help."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a client key belongs to."""

    org_id: str
    key_id: str
    agent_id: str


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """Tokens of one request; `counted` is false when they are an estimate."""

    input_token_count: int
    output_token_count: int
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Closeout:
    """What ends an authorized request: completed with its usage, or released with a reason (usage None)."""

    request_id: str
    authorization_id: str
    usage: TokenUsage | None
    reason: str = ""

    def body(self) -> dict[str, Any]:
        """Return the call's document."""
        if self.usage is None:
            return {"outcome": "released", "reason": self.reason}
        return {
            "outcome": "completed",
            "input_tokens": self.usage.input_token_count,
            "output_tokens": self.usage.output_token_count,
            "cached_input_tokens": 0,
        }


class ControlPlaneClient:
    """The calls of the published contract that this gateway makes."""

    def __init__(self, pool: UpstreamPool, machine_token: str) -> None:
        self._pool = pool
        self._headers: tuple[Header, ...] = (
            (b"authorization", b"Bearer " + machine_token.encode("utf-8")),
            (b"content-type", b"application/json"),
        )

    async def pull_config(self) -> str:
        """Return the configuration text that the control plane holds for this gateway."""
        target = f"/v1/gateway/config/pull?runtime_registration_id={REGISTRATION_ID}"
        return str((await self._call("GET", target)).get("yaml", ""))

    async def validate(self, key: str) -> Identity | None:
        """Return the identity behind a client key, None when the key is not known."""
        answer = await self._repeat("/v1/gateway/tokens/validate", {"token": key})
        if answer.get("valid") is not True:
            return None
        try:
            return Identity(str(answer["org_id"]), str(answer["key_id"]), str(answer["agent_id"]))
        except KeyError as missing:
            raise ControlPlaneDown(f"the validation response has no {missing}") from missing

    async def authorize(self, request_id: str, identity: Identity, model: str, usage: TokenUsage) -> str:
        """Return the id of the usage authorization for one request."""
        body = {
            "request_id": request_id,
            "delivery_kind": "upstream",
            "binding": {
                "organization_id": identity.org_id,
                "gateway_id": GATEWAY_ID,
                "subject_token_id": identity.key_id,
                "project_id": None,
                "configuration_id": None,
                "agent_id": identity.agent_id,
                "provider": "openai",
                "model": model,
                "request_family": "chat",
                "usage_category": "general",
            },
            "usage": {"input_tokens": usage.input_token_count, "request_units": 1},
            "accepted_policy_version": "1",
            "accepted_policy_sha256": "0" * 64,
        }
        answer = await self._repeat("/v1/gateway/usage-authorizations", body)
        if answer.get("state") != "authorized":
            raise ControlPlaneRefused(f"usage was not authorized: {answer.get('state')}")
        return str(answer.get("gateway_usage_authorization_id"))

    async def dispatch(self, authorization_id: str, attempt_id: str) -> None:
        """Return when the attempt is noted; never repeated, for its outcome would be in doubt."""
        target = f"/v1/gateway/usage-authorizations/{authorization_id}/dispatch"
        answer = await self._call("POST", target, {"attempt_id": attempt_id, "provider_idempotency": "unsupported"})
        if answer.get("attempt_id") != attempt_id:
            raise ControlPlaneRefused("the dispatch response names another attempt")

    async def complete(self, closeout: Closeout) -> None:
        """Return when the control plane has taken the closeout."""
        delivery_id = f"{closeout.request_id}-closeout"
        answer = await self._repeat(
            f"/v1/gateway/usage-authorizations/{closeout.authorization_id}/complete",
            closeout.body(),
            (
                (b"x-verdictan-delivery-id", delivery_id.encode("latin-1")),
                (b"x-request-id", closeout.request_id.encode("latin-1")),
                (b"idempotency-key", delivery_id.encode("latin-1")),
            ),
        )
        if answer.get("delivery_id") != delivery_id:
            raise ControlPlaneDown("the completion was not acknowledged under its delivery id")

    async def increment(self, agent_id: str, request_id: str, usage: TokenUsage) -> None:
        """Return when the usage of one response is added to its agent."""
        body = {
            "input_tokens": usage.input_token_count,
            "output_tokens": usage.output_token_count,
            "response_count_increment": 1,
        }
        key = ((b"idempotency-key", f"{request_id}-increment".encode("latin-1")),)
        await self._repeat(f"/v1/gateway/agents/{agent_id}/usage-increment", body, key)

    async def deliver(self, envelope: bytes, delivery_id: str) -> None:
        """Return when an event is acknowledged under its own delivery id; not repeated here."""
        answer = await self._call("POST", "/v1/gateway/events", envelope)
        if answer.get("accepted") is not True or answer.get("delivery_id") != delivery_id:
            raise ControlPlaneDown("the event was not acknowledged under its delivery id")

    async def _repeat(self, target: str, body: Mapping[str, Any], headers: tuple[Header, ...] = ()) -> dict[str, Any]:
        for _ in range(REPEAT_COUNT):
            try:
                return await self._call("POST", target, body, headers)
            except ControlPlaneDown:
                await asyncio.sleep(random.uniform(0.1, 0.5))  # noqa: S311 - spreads repeats, guards nothing
        return await self._call("POST", target, body, headers)

    async def _call(
        self,
        method: str,
        target: str,
        body: Mapping[str, Any] | bytes = b"",
        headers: tuple[Header, ...] = (),
    ) -> dict[str, Any]:
        payload = body if isinstance(body, bytes) else json.dumps(body).encode("utf-8")
        try:
            answer = await self._pool.send(Call(method, target, self._headers + headers, payload))
            text = await answer.whole(CONTROL_ANSWER_LIMIT_BYTES)
        except UpstreamLost as lost:
            raise ControlPlaneDown(f"the control plane gave no answer: {lost}") from lost
        if answer.status in REPEATED_STATUSES:
            raise ControlPlaneDown(f"the control plane answered {answer.status}")
        if not 200 <= answer.status < 300:
            raise ControlPlaneRefused(f"the control plane answered {answer.status}")
        return _read_object(text)


def _read_object(text: bytes) -> dict[str, Any]:
    try:
        document = json.loads(text or b"{}")
    except ValueError as error:
        raise ControlPlaneDown("the control plane's response is not JSON") from error
    if not isinstance(document, dict):
        raise ControlPlaneDown("the control plane's response is not a JSON object")
    return document
