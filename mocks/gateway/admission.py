"""Who may pass: client keys and usage, asked at the control plane or, without one, at the configured list.

What the control plane says or fails to say becomes a Refused with the published codes. Valid keys are never
remembered, unknown ones for a few seconds.
"""

from __future__ import annotations

import hmac
import time
from typing import Protocol

from mocks.gateway.control import Closeout, ControlPlaneDown, ControlPlaneRefused, Identity, TokenUsage
from mocks.gateway.refusal import Refused

UNKNOWN_KEY_KEPT_S = 5.0
UNKNOWN_KEYS_KEPT_COUNT = 1024


class Control(Protocol):
    """The control plane's part in a request."""

    async def validate(self, key: str) -> Identity | None:
        """Return the identity behind a client key, None when the key is not known."""

    async def authorize(self, request_id: str, identity: Identity, model: str, usage: TokenUsage) -> str:
        """Return the id of the usage authorization."""

    async def dispatch(self, authorization_id: str, attempt_id: str) -> None:
        """Return when the attempt is noted."""

    async def complete(self, closeout: Closeout) -> None:
        """Return when the closeout is taken."""

    async def increment(self, agent_id: str, request_id: str, usage: TokenUsage) -> None:
        """Return when the usage is added up."""


class Standalone:
    """A gateway without a control plane: every listed key is one local identity, every usage is granted."""

    async def validate(self, key: str) -> Identity | None:  # noqa: ARG002 - the contract's arguments
        """Return the local identity."""
        return Identity("local", "local", "local")

    async def authorize(self, request_id: str, identity: Identity, model: str, usage: TokenUsage) -> str:  # noqa: ARG002
        """Return an id that nobody asks for."""
        return request_id

    async def dispatch(self, authorization_id: str, attempt_id: str) -> None:
        """Return at once."""

    async def complete(self, closeout: Closeout) -> None:
        """Return at once."""

    async def increment(self, agent_id: str, request_id: str, usage: TokenUsage) -> None:
        """Return at once."""


class Admission:
    """Asks for each request; `client_keys` None leaves the keys to the control plane alone."""

    def __init__(self, control: Control, client_keys: tuple[str, ...] | None) -> None:
        self._control = control
        self._client_keys = client_keys
        self._unknown: dict[str, float] = {}  # key to the end of its refusal, oldest first

    async def admit(self, key: str) -> Identity:
        """Return the identity behind a key; raises Refused."""
        if not self._listed(key) or self._known_unknown(key):
            raise Refused(401, "invalid_api_token", "this client key is not known")
        try:
            identity = await self._control.validate(key)
        except (ControlPlaneDown, ControlPlaneRefused) as trouble:
            raise Refused(503, "token_validation_unavailable", str(trouble)) from trouble
        if identity is None:
            self._remember_unknown(key)
            raise Refused(401, "invalid_api_token", "this client key is not known")
        return identity

    async def authorize(self, request_id: str, identity: Identity, model: str, usage: TokenUsage) -> str:
        """Return the id of a usage authorization; raises Refused."""
        try:
            return await self._control.authorize(request_id, identity, model, usage)
        except ControlPlaneDown as trouble:
            raise Refused(503, "usage_authorization_unavailable", str(trouble)) from trouble
        except ControlPlaneRefused as trouble:
            raise Refused(403, "usage_refused", str(trouble)) from trouble

    async def dispatch(self, authorization_id: str, attempt_id: str) -> None:
        """Return when the attempt is noted; raises Refused."""
        try:
            await self._control.dispatch(authorization_id, attempt_id)
        except (ControlPlaneDown, ControlPlaneRefused) as trouble:
            raise Refused(409, "gateway_dispatch_outcome_indeterminate", str(trouble)) from trouble

    def _listed(self, key: str) -> bool:
        if self._client_keys is None:
            return True
        return any(hmac.compare_digest(key.encode(), known.encode()) for known in self._client_keys)

    def _known_unknown(self, key: str) -> bool:
        return self._unknown.get(key, 0.0) > time.monotonic()

    def _remember_unknown(self, key: str) -> None:
        self._unknown.pop(key, None)
        self._unknown[key] = time.monotonic() + UNKNOWN_KEY_KEPT_S
        if len(self._unknown) > UNKNOWN_KEYS_KEPT_COUNT:
            del self._unknown[next(iter(self._unknown))]
