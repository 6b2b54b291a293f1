"""The responses of the contract: exact field names and types, money as text, times as RFC 3339.

They keep nothing and must not know sockets. Every function raises BadBody with a sentence when the call lacks what
its response needs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

from mocks.contract import GATEWAY_ID, REGISTRATION_ID
from mocks.control_plane.config import AGENT_ID, ORGANIZATION_ID, USER_ID, Config
from mocks.wire.routes import BadBody

# How long a usage document holds decides how often a gateway asks for the next: not within a campaign.
DOCUMENT_LIFE = timedelta(hours=6)
DELIVERY_HEADER = "x-verdictan-delivery-id"
EVENT_KINDS = frozenset({"decision", "ai_usage", "trail"})
EVENT_FIELDS = ("event_id", "event_kind", "org_id", "request_id", "created_at", "payload_sha256", "payload")

_POLICY_VERSION = "1"
_POLICY_SHA256 = hashlib.sha256(b"weighbridge policy 1").hexdigest()
_DOCUMENT_SHA256 = hashlib.sha256(b"weighbridge document 1").hexdigest()

JsonDocument = dict[str, Any]


def now_text(after: timedelta = timedelta(0)) -> str:
    """Return the time of day, UTC, with milliseconds and a Z."""
    return (datetime.now(UTC) + after).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def config_pull(config: Config, query: str) -> JsonDocument:
    """Call 1: the configuration that the gateway is to serve."""
    asked = parse_qs(query).get("runtime_registration_id", [REGISTRATION_ID])[0]
    return {"gateway_id": GATEWAY_ID, "runtime_registration_id": asked, "yaml": config.yaml}


def validate(config: Config, body: JsonDocument) -> JsonDocument:
    """Call 2: who a client key belongs to; an unknown key is a valid response, not an error."""
    key_id = config.key_id(text(body, "token"))
    if key_id is None:
        return {"valid": False, "reason": "unknown"}
    return {
        "valid": True,
        "org_id": ORGANIZATION_ID,
        "key_id": key_id,
        "agent_id": AGENT_ID,
        "key": {"id": key_id, "user_id": USER_ID, "current_spend": 0.0, "metadata": {}},
        "authenticated_identity": {
            "proof_method": "api_token",
            "issuer": "mock",
            "subject": USER_ID,
            "credential_id": key_id,
            "org_id": ORGANIZATION_ID,
            "assurance_level": "token",
            "team_ids": [],
            "roles": [],
            "scopes": [],
            "expires_at": None,
        },
    }


def preflight() -> JsonDocument:
    """Call 5: the provider key that a gateway stores at the control plane."""
    return {"status": "ready_byok", "status_reason": "provider_key_ready", "resolved_api_key": "sk-mock"}


def usage_document(asked: Mapping[str, Any], subject_token_id: str) -> JsonDocument:
    """Return the usage document of calls 6 and 8, bound to what was asked."""
    return {
        "schema_version": "usage-authorization/v1",
        "policy_version": _POLICY_VERSION,
        "policy_sha256": _POLICY_SHA256,
        "document_sha256": _DOCUMENT_SHA256,
        "issued_at": now_text(),
        "expires_at": now_text(DOCUMENT_LIFE),
        "binding": {
            "organization_id": ORGANIZATION_ID,
            "gateway_id": GATEWAY_ID,
            "subject_token_id": subject_token_id,
            "project_id": asked.get("project_id"),
            "configuration_id": asked.get("configuration_id"),
            "agent_id": asked.get("agent_id") or AGENT_ID,
            "provider": text(asked, "provider"),
            "model": text(asked, "model"),
            "request_family": asked.get("request_family") or "chat",
            "usage_category": asked.get("usage_category") or "general",
        },
        "access": {"mode": "unrestricted"},
        "budgets": [],
    }


def evaluate(body: JsonDocument) -> JsonDocument:
    """Call 6: the document itself."""
    return usage_document(body, text(body, "subject_token_id"))


def authorize(body: JsonDocument, authorization_id: str) -> JsonDocument:
    """Call 8: one request is authorized."""
    text(body, "request_id")
    binding = body.get("binding")
    if not isinstance(binding, dict):
        raise BadBody("binding must be an object")
    return {
        "gateway_usage_authorization_id": authorization_id,
        "state": "authorized",
        "usage_at": now_text(),
        "cost_estimate": {"pricing_snapshot_id": "mock", "authoritative_estimate_usd": "0", "unit_prices": {}},
        "document": usage_document(binding, text(binding, "subject_token_id")),
    }


def dispatch(body: JsonDocument, authorization_id: str) -> JsonDocument:
    """Call 9: the request goes to the provider now."""
    return {
        "gateway_usage_authorization_id": authorization_id,
        "state": "dispatched",
        "attempt_id": text(body, "attempt_id"),
    }


def complete(body: JsonDocument, authorization_id: str, headers: Mapping[str, str]) -> JsonDocument:
    """Call 10: the request has ended. The delivery id must come back, or the sender repeats it for ever."""
    outcome = body.get("outcome")
    if outcome not in {"completed", "released"}:
        raise BadBody("outcome must be completed or released")
    delivery_id = headers.get(DELIVERY_HEADER)
    if not delivery_id:
        raise BadBody("the header X-Verdictan-Delivery-Id is missing")
    return {
        "gateway_usage_authorization_id": authorization_id,
        "state": outcome,
        "actual_cost_usd": "0",
        "usage_at": now_text(),
        "delivery_id": delivery_id,
    }


def event(body: JsonDocument) -> JsonDocument:
    """Call 12: an event was taken."""
    return {"accepted": True, "delivery_id": text(body, "delivery_id")}


def is_whole_event(body: Mapping[str, Any]) -> bool:
    """Whether an event carries every field of the contract, and a kind that the contract knows."""
    return all(body.get(field) is not None for field in EVENT_FIELDS) and body["event_kind"] in EVENT_KINDS


def text(document: Mapping[str, Any], name: str) -> str:
    """Return a text of a JSON object. Raises BadBody when it is missing or empty."""
    value = document.get(name)
    if not isinstance(value, str) or not value:
        raise BadBody(f"{name} must be a text that is not empty")
    return value
