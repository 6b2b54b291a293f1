"""The mock control plane as a program: exact field names and types, bearer, counts, delivery ids, delay."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
DEADLINE_S = 10.0
TOKEN, KEYS, YAML = "vdt_machine", ["vdt_one", "vdt_two"], "pack: {name: weighbridge}\npolicies: {chain: []}\n"
CONFIG = {"machine_token": TOKEN, "client_keys": KEYS, "yaml": YAML, "delay_s": 0.0}

BINDING = {"subject_token_id": "4", "agent_id": "agent", "provider": "openai", "model": "mock-model"}
AUTHORIZE = {
    "request_id": "r",
    "delivery_kind": "upstream",
    "binding": BINDING,
    "usage": {"input_tokens": 1},
    "accepted_policy_version": "1",
    "accepted_policy_sha256": "x",
}
DELIVERY = {"X-Verdictan-Delivery-Id": "d-1", "X-Request-Id": "r", "Idempotency-Key": "i"}
COMPLETED = {"outcome": "completed", "input_tokens": 1, "output_tokens": 2, "cached_input_tokens": 0}
EVENT = {
    "delivery_id": "d-2",
    "event_id": "e-1",
    "event_kind": "decision",
    "org_id": "o",
    "request_id": "r",
    "created_at": "2026-01-01T00:00:00Z",
    "payload_sha256": "x",
    "payload": {},
}
DOCUMENT = {
    "schema_version": str,
    "policy_version": str,
    "policy_sha256": str,
    "document_sha256": str,
    "issued_at": str,
    "expires_at": str,
    "binding": {
        "organization_id": str,
        "gateway_id": str,
        "subject_token_id": str,
        "project_id": type(None),
        "configuration_id": type(None),
        "agent_id": str,
        "provider": str,
        "model": str,
        "request_family": str,
        "usage_category": str,
    },
    "access": {"mode": str},
    "budgets": list,
}
G = "/v1/gateway"
CALLS: dict[str, tuple[str, str, Any, Any]] = {
    "config_pull": (
        "GET",
        f"{G}/config/pull?runtime_registration_id=abc",
        None,
        {"gateway_id": str, "runtime_registration_id": str, "yaml": str},
    ),
    "validate": (
        "POST",
        f"{G}/tokens/validate",
        {"token": "vdt_one"},
        {
            "valid": bool,
            "org_id": str,
            "key_id": str,
            "agent_id": str,
            "key": {"id": str, "user_id": str, "current_spend": float, "metadata": dict},
            "authenticated_identity": {
                "proof_method": str,
                "issuer": str,
                "subject": str,
                "credential_id": str,
                "org_id": str,
                "assurance_level": str,
                "team_ids": list,
                "roles": list,
                "scopes": list,
                "expires_at": type(None),
            },
        },
    ),
    "runtime_routing": ("GET", f"{G}/settings/runtime-routing", None, {}),
    "agents": ("GET", "/v1/gateways/some-id/agents", None, {"agents": list}),
    "preflight": (
        "POST",
        f"{G}/access/preflight",
        {"org_id": "o", "agent_id": "a", "provider": "openai", "model": "m"},
        {"status": str, "status_reason": str, "resolved_api_key": str},
    ),
    "evaluate": ("POST", f"{G}/usage-authorizations/evaluate", {**BINDING, "request_family": "chat"}, DOCUMENT),
    "budget_check": (
        "GET",
        f"{G}/provider-budgets/openai/check",
        None,
        {"allowed": bool, "remaining_budget": type(None)},
    ),
    "authorize": (
        "POST",
        f"{G}/usage-authorizations",
        AUTHORIZE,
        {
            "gateway_usage_authorization_id": str,
            "state": str,
            "usage_at": str,
            "cost_estimate": {"pricing_snapshot_id": str, "authoritative_estimate_usd": str, "unit_prices": dict},
            "document": DOCUMENT,
        },
    ),
    "dispatch": (
        "POST",
        f"{G}/usage-authorizations/some-id/dispatch",
        {"attempt_id": "a-1", "provider_idempotency": "unsupported"},
        {"gateway_usage_authorization_id": str, "state": str, "attempt_id": str},
    ),
    "complete": (
        "POST",
        f"{G}/usage-authorizations/some-id/complete",
        COMPLETED,
        {
            "gateway_usage_authorization_id": str,
            "state": str,
            "actual_cost_usd": str,
            "usage_at": str,
            "delivery_id": str,
        },
    ),
    "usage_increment": (
        "POST",
        f"{G}/agents/some-id/usage-increment",
        {"response_count_increment": 1},
        {"accepted": bool},
    ),
    "events": ("POST", f"{G}/events", EVENT, {"accepted": bool, "delivery_id": str}),
    "history": ("POST", f"{G}/history/sessions", {}, {"accepted": bool}),
    "heartbeat": ("POST", f"{G}/heartbeat", {}, {}),
}
ADMISSION = {
    "validate",
    "runtime_routing",
    "agents",
    "preflight",
    "evaluate",
    "budget_check",
    "authorize",
    "dispatch",
}


class Mock:
    """A running control plane."""

    def __init__(self, port: int, admin_port: int) -> None:
        self.port, self.admin_port = port, admin_port

    def call(self, method: str, path: str, document: Any = None, **headers: str) -> tuple[int, Any]:
        """Status and JSON response of one call with the right bearer."""
        return self._call(
            self.port, method, path, document, {"Authorization": f"Bearer {TOKEN}", **DELIVERY, **headers}
        )

    def admin(self, method: str, path: str, document: Any = None) -> Any:
        """The admin port's response."""
        status, answer = self._call(self.admin_port, method, path, document, {})
        assert status == 200, answer
        return answer

    def counters(self) -> dict[str, Any]:
        return self.admin("GET", "/counters")

    def _call(self, port: int, method: str, path: str, document: Any, headers: dict[str, str]) -> tuple[int, Any]:
        with closing(HTTPConnection("127.0.0.1", port, timeout=DEADLINE_S)) as client:
            client.request(method, path, None if document is None else json.dumps(document), headers)
            answer = client.getresponse()
            return answer.status, json.loads(answer.read())


@contextmanager
def started(folder: Path, config: Any) -> Iterator[Mock]:
    """The control plane as its own process on free ports."""
    (folder / "control.json").write_text(json.dumps(config))
    command = [sys.executable, "-m", "mocks.control_plane", "--port", "0", "--admin-port", "0"]
    process = subprocess.Popen(
        [*command, "--config", str(folder / "control.json")], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    )
    with process:
        try:
            ports = [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", process.stdout.readline())]
            yield Mock(*ports)
        finally:
            process.terminate()
            assert process.wait(DEADLINE_S) == 0


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mock]:
    """One control plane for the module."""
    with started(tmp_path_factory.mktemp("control"), CONFIG) as mock:
        yield mock


@pytest.fixture
def plane(program: Mock) -> Mock:
    """The control plane with fresh counts."""
    program.admin("POST", "/reset")
    return program


def shape_faults(answer: Any, shape: Any, where: str = "") -> list[str]:
    """Fields that are missing, extra, or of another type than the contract says."""
    if isinstance(shape, dict):
        if not isinstance(answer, dict):
            return [f"{where} is no object"]
        faults = [f"{where}.{name}" for name in set(answer) ^ set(shape)]
        return faults + [
            f for n in set(answer) & set(shape) for f in shape_faults(answer[n], shape[n], f"{where}.{n}")
        ]
    return [] if type(answer) is shape else [f"{where} is {type(answer).__name__}"]


@pytest.mark.parametrize("kind", CALLS)
def test_each_call_has_the_contract_s_fields_and_is_counted_by_its_kind(plane: Mock, kind: str) -> None:
    """Field names and types are exact, for one wrong type fails the call; the count goes to that kind alone."""
    method, path, document, shape = CALLS[kind]
    status, answer = plane.call(method, path, document)
    counters = plane.counters()

    assert status == 200
    assert shape_faults(answer, shape) == []
    assert {name: count for name, count in counters["calls"].items() if count} == {kind: 1}
    assert counters["admission_call_count"] == (kind in ADMISSION)
    assert counters["background_call_count"] == (kind not in ADMISSION)


def test_the_configuration_comes_as_given(plane: Mock) -> None:
    """The pull hands out the file's YAML byte for byte, for the registration that asks."""
    _, answer = plane.call(*CALLS["config_pull"][:2])

    assert answer["yaml"] == YAML
    assert answer["runtime_registration_id"] == "abc"


def test_a_key_s_identity_is_consistent(plane: Mock) -> None:
    """Key ids are UUIDs that differ by key and agree wherever they stand; so do organisation and user."""
    answers = [plane.call("POST", f"{G}/tokens/validate", {"token": key})[1] for key in KEYS]

    assert len({answer["key_id"] for answer in answers}) == 2
    for answer in answers:
        identity = answer["authenticated_identity"]
        uuid.UUID(answer["key_id"])
        assert answer["valid"] is True
        assert answer["key_id"] == answer["key"]["id"] == identity["credential_id"]
        assert answer["org_id"] == identity["org_id"]
        assert identity["subject"] == answer["key"]["user_id"]


def test_an_unknown_key_is_a_valid_answer(plane: Mock) -> None:
    """The readiness probe's key is refused with 200, as the contract asks; so is the machine's own token."""
    for token in ("vdt_probe_invalid", TOKEN):
        assert plane.call("POST", f"{G}/tokens/validate", {"token": token}) == (
            200,
            {"valid": False, "reason": "unknown"},
        )


def test_the_linked_agent_is_the_key_s_agent(plane: Mock) -> None:
    """The first agent of the gateway is the one that a key belongs to."""
    _, agents = plane.call(*CALLS["agents"][:2])
    _, validated = plane.call(*CALLS["validate"][:3])

    assert agents["agents"][0] == {"id": validated["agent_id"]}


def test_a_document_is_bound_to_what_was_asked_and_holds(plane: Mock) -> None:
    """Provider, model, key and agent are those of the question; it has begun and ends hours from now."""
    _, answer = plane.call(*CALLS["authorize"][:3])
    document = answer["document"]
    issued, expires = (datetime.fromisoformat(document[name]) for name in ("issued_at", "expires_at"))

    assert {name: document["binding"][name] for name in BINDING} == BINDING
    assert document["issued_at"].endswith("Z")
    assert document["policy_version"]
    assert document["policy_sha256"]
    assert issued <= datetime.now(UTC) < expires
    assert (expires - issued).total_seconds() >= 3600


def test_the_steps_of_one_request_belong_together(plane: Mock) -> None:
    """Authorizations differ; dispatch and complete response for the id in their path and echo what was sent."""
    first, second = (plane.call(*CALLS["authorize"][:3])[1]["gateway_usage_authorization_id"] for _ in range(2))
    path = f"{G}/usage-authorizations/{first}"
    _, dispatched = plane.call("POST", f"{path}/dispatch", {"attempt_id": "a-7"})
    _, completed = plane.call("POST", f"{path}/complete", COMPLETED)
    _, released = plane.call("POST", f"{path}/complete", {"outcome": "released", "reason": "x"})

    assert first != second
    assert dispatched == {"gateway_usage_authorization_id": first, "state": "dispatched", "attempt_id": "a-7"}
    assert completed["gateway_usage_authorization_id"] == first
    assert (completed["state"], released["state"]) == ("completed", "released")
    assert completed["actual_cost_usd"] == "0"
    assert plane.counters()["distinct_complete_count"] == 1


def test_delivery_ids_come_back(plane: Mock) -> None:
    """The id of a completion's header and of an event's envelope is echoed; without it the call is refused."""
    complete, event = CALLS["complete"][:3], CALLS["events"][:3]

    assert plane.call(*complete, **{"X-Verdictan-Delivery-Id": "d-9"})[1]["delivery_id"] == "d-9"
    assert plane.call(*complete, **{"X-Verdictan-Delivery-Id": ""})[0] == 400
    assert plane.call(*event)[1] == {"accepted": True, "delivery_id": "d-2"}
    assert plane.call(*event[:2], {**EVENT, "delivery_id": None})[0] == 400
    assert plane.counters()["bad_request_count"] == 2


def test_events_delivered_twice_are_one_distinct_event(plane: Mock) -> None:
    """Repeated deliveries count as deliveries, not as events; an envelope with a hole is noticed, not refused."""
    for document in (
        EVENT,
        EVENT,
        {**EVENT, "delivery_id": "d-3"},
        {**EVENT, "delivery_id": "d-4", "event_id": "e-2", "event_kind": "gossip"},
    ):
        assert plane.call("POST", f"{G}/events", document)[0] == 200
    counters = plane.counters()

    assert (counters["event_count"], counters["distinct_event_count"]) == (4, 2)
    assert counters["incomplete_event_count"] == 1


@pytest.mark.parametrize("bearer", ["", "Bearer wrong", "Bearer vdt_one", TOKEN, "Basic dmR0", "Bearer \xff"])
def test_every_call_needs_the_machine_token(plane: Mock, bearer: str) -> None:
    """Any other authorization is 401, for known calls and unknown ones, and is counted as refused."""
    for method, path, document, _ in (*CALLS.values(), ("GET", "/elsewhere", None, None)):
        assert plane.call(method, path, document, Authorization=bearer)[0] == 401

    assert plane.counters()["unauthorized_count"] == len(CALLS) + 1
    assert plane.counters()["event_count"] == 0


@pytest.mark.parametrize(
    ("kind", "document"),
    [
        ("validate", {}),
        ("validate", {"token": 3}),
        ("validate", []),
        ("evaluate", {"provider": "openai", "model": "m"}),
        ("authorize", {**AUTHORIZE, "binding": None}),
        ("authorize", {**AUTHORIZE, "request_id": ""}),
        ("dispatch", {}),
        ("complete", {"outcome": "lost"}),
    ],
)
def test_a_call_without_what_its_answer_needs_is_refused(plane: Mock, kind: str, document: Any) -> None:
    """400 with a sentence: a gateway that forgets a field is told, not indulged."""
    status, answer = plane.call(*CALLS[kind][:2], document)

    assert status == 400
    assert answer["error"]["message"]


def test_the_relay_and_unknown_calls_are_not_found(plane: Mock) -> None:
    """A WebSocket upgrade and calls outside the contract are 404 and counted as other, never as a known kind."""
    upgrade = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "eA==",
    }
    assert plane.call("GET", f"{G}/relay", **upgrade)[0] == 404
    for path in ("/v1/agents", f"{G}/usage-authorizations/a/b/dispatch", f"{G}/usage-authorizations//dispatch"):
        assert plane.call("POST", path, {})[0] == 404
    calls = plane.counters()["calls"]

    assert calls["other"] == sum(calls.values()) == 4


def test_an_added_delay_holds_until_it_is_taken_back(plane: Mock) -> None:
    """With a delay, calls take many times what they take without, never less than the delay; then as before."""

    def fastest_s() -> float:
        times = []
        for _ in range(3):
            start = time.perf_counter()
            plane.call(*CALLS["validate"][:3])
            times.append(time.perf_counter() - start)
        return min(times)

    before = fastest_s()
    assert plane.admin("POST", "/settings", {"delay_s": 0.1}) == {"delay_s": 0.1}
    delayed = fastest_s()
    plane.admin("POST", "/settings", {"delay_s": 0})
    after = fastest_s()

    assert delayed >= 0.1
    assert delayed > 3 * max(before, after)
    assert plane.counters()["delay_s"] == 0


@pytest.mark.parametrize("document", [{}, {"delay_s": -1}, {"delay_s": None}, {"delay": 1}, {"delay_s": 1, "x": 2}])
def test_impossible_settings_are_refused(plane: Mock, document: Any) -> None:
    """Settings that cannot be are refused and change nothing."""
    status, _ = plane._call(plane.admin_port, "POST", "/settings", document, {})

    assert status == 400
    assert plane.counters()["delay_s"] == 0


@pytest.mark.parametrize(
    "config",
    [
        [],
        {},
        {**CONFIG, "machine_token": ""},
        {**CONFIG, "client_keys": []},
        {**CONFIG, "client_keys": "vdt_one"},
        {**CONFIG, "yaml": {}},
        {**CONFIG, "delay_s": "1"},
        {**CONFIG, "tokens": []},
    ],
)
def test_bad_settings_are_explained(tmp_path: Path, config: Any) -> None:
    """A file that cannot be used is exit 2 and one sentence naming it."""
    file = tmp_path / "control.json"
    file.write_text(json.dumps(config))
    command = [sys.executable, "-m", "mocks.control_plane", "--port", "0", "--admin-port", "0", "--config", str(file)]
    ended = subprocess.run(command, cwd=CHECKOUT, capture_output=True, text=True, check=False, timeout=DEADLINE_S)

    assert ended.returncode == 2
    assert ended.stderr.count("\n") == 1
    assert str(file) in ended.stderr


@pytest.mark.real
def test_counts_equal_those_of_wrk(plane: Mock, tool, tmp_path: Path) -> None:
    """As many calls are counted as wrk makes, but for at most one a connection in flight at its end."""
    script = tmp_path / "validate.lua"
    script.write_text(
        f"wrk.method = 'POST'\nwrk.headers['Authorization'] = 'Bearer {TOKEN}'\n"
        'wrk.body = \'{"token":"vdt_one"}\'\n'
    )
    url = f"http://127.0.0.1:{plane.port}{G}/tokens/validate"
    command = [str(tool("wrk")), "-t1", "-c4", "-d1s", "-s", str(script), url]
    report = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    counted = int(re.search(r"(\d+) requests in", report)[1])
    counters = plane.counters()

    assert "Non-2xx" not in report
    assert 0 <= counters["calls"]["validate"] - counted <= 4
    assert counters["admission_call_count"] == counters["calls"]["validate"]
