"""The walk of one request through the gateway: admit, judge, record, call, judge, record, close out, response.

It knows the order and nothing of how each step is done; which control plane, ledger and chain it walks with is
decided at start, so there is no switch in here.
"""

from __future__ import annotations

import asyncio
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from http import HTTPStatus
from typing import Any, Protocol

from mocks.contract import CHAT_PATH
from mocks.gateway.admission import Admission, Control
from mocks.gateway.answer import UpstreamLost, UpstreamResponse
from mocks.gateway.chat import Chat, provider_headers, read_chat, read_key, read_request_id
from mocks.gateway.control import Closeout, ControlPlaneDown, ControlPlaneRefused, Identity, TokenUsage
from mocks.gateway.events import Event, closeout_record
from mocks.gateway.ledger import Ledger, LedgerFailed, MakeRecord
from mocks.gateway.policies.chain import Chain, ChainVerdict
from mocks.gateway.refusal import Refused
from mocks.gateway.relay import Relay, RelayOutcome, blocked, lost_provider
from mocks.gateway.upstream import Call
from mocks.gateway.visit import ClientRequest

READY_PATH = "/readyz"

Status = Callable[[], tuple[int, dict[str, Any]]]


class ProviderClient(Protocol):
    """Whoever sends calls to the provider."""

    async def send(self, call: Call, opened: Callable[[UpstreamResponse], None]) -> UpstreamResponse:
        """Return the response, as soon as its headers are there; raises UpstreamLost."""


@dataclass(frozen=True, slots=True)
class GatewayParts:
    """What a gateway is put together from."""

    admission: Admission
    control: Control
    ledger: Ledger
    chain: Chain
    provider: ProviderClient
    provider_key: str
    status: Status


@dataclass(slots=True)
class _RequestState:
    """One request on its way."""

    visit: ClientRequest
    request_id: str
    identity: Identity
    chat: Chat
    authorization_id: str = ""
    asked_ns: int = 0

    def event(self, kind: str, payload: dict[str, Any]) -> MakeRecord:
        return Event(kind, self.request_id, self.identity.org_id, payload).record


class Proxy:
    """The gateway's handler; `drain` waits for what is under way."""

    def __init__(self, parts: GatewayParts) -> None:
        self._parts = parts
        self._under_way: set[asyncio.Task[None]] = set()

    def handle(self, visit: ClientRequest) -> None:
        """Answer a request, at once or later."""
        if visit.path == CHAT_PATH and visit.method == "POST":
            task = asyncio.ensure_future(self._serve(visit))
            self._under_way.add(task)
            task.add_done_callback(self._under_way.discard)
        elif visit.path == READY_PATH:
            visit.respond_json(*self._parts.status())
        else:
            known = visit.path == CHAT_PATH
            refused = Refused(405 if known else 404, "not_served", f"{visit.method} {visit.path} is not served here")
            visit.respond_json(refused.status, refused.document(""))

    async def drain(self, within_s: float) -> bool:
        """Whether all requests under way, closeouts included, ended in time; those that did not are cut."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=max(0.0, within_s))
        left = list(self._under_way)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        return not left

    async def _serve(self, visit: ClientRequest) -> None:
        request_id = ""
        try:
            request_id = read_request_id(visit.headers)
            identity = await self._parts.admission.admit(read_key(visit.headers))
            await self._handle(_RequestState(visit, request_id, identity, read_chat(visit.body)))
        except Refused as refused:
            _refuse(visit, refused, request_id)
        except Exception as bug:  # noqa: BLE001 - one request's bug must not stay unanswered
            sys.stderr.write(f"gateway: a bug met request {request_id}: {bug!r}\n")
            _refuse(visit, Refused(500, "bug", "the gateway failed; see its log"), request_id)

    async def _handle(self, state: _RequestState) -> None:
        verdict = self._parts.chain.judge_prompt(state.chat.messages)
        if verdict.blocked_by:
            await self._append(state.event("decision", {"request": verdict.record()}))
            raise blocked(verdict)
        estimate = TokenUsage(state.chat.input_token_estimate, 0, counted=False)
        state.authorization_id = await self._parts.admission.authorize(
            state.request_id, state.identity, state.chat.model, estimate
        )
        try:
            outcome = await self._call_provider(state, verdict)
        except Refused as refused:
            outcome = RelayOutcome(0, refused.code, refused=refused)
        if state.chat.streamed:  # a stream's closeout comes after it, as with a stream that is passed on
            self._answer(state, outcome)
        await self._settle(state, outcome)
        if not state.chat.streamed:
            self._answer(state, outcome)

    async def _call_provider(self, state: _RequestState, verdict: ChainVerdict) -> RelayOutcome:
        chat, parts = state.chat, self._parts
        payload = {"request": verdict.record(), "model": chat.model, "streamed": chat.streamed}
        await self._append(state.event("decision", payload))
        await parts.admission.dispatch(state.authorization_id, str(uuid.uuid4()))
        headers = provider_headers(state.visit.headers, parts.provider_key, state.request_id)
        call = Call("POST", CHAT_PATH, headers, chat.encode(changed=verdict.changed))
        state.asked_ns = time.monotonic_ns()
        try:
            answer = await parts.provider.send(call, lambda answer: state.visit.on_gone(answer.abandon))
        except UpstreamLost as lost:
            raise lost_provider(lost, gone=state.visit.gone) from lost
        return await Relay(parts.chain, state.request_id, chat.input_token_estimate).bring(state.visit, answer)

    async def _settle(self, state: _RequestState, outcome: RelayOutcome) -> None:
        """Record how it ended and close it out; without a record a non-streaming response is not given."""
        try:
            await self._append(state.event("ai_usage", outcome.record()))
        except Refused as refused:
            outcome.ready, outcome.refused = None, outcome.refused or refused
        closeout = Closeout(state.request_id, state.authorization_id, outcome.usage, outcome.word)
        try:
            await self._parts.control.complete(closeout)
            if outcome.usage is not None:
                await self._parts.control.increment(state.identity.agent_id, state.request_id, outcome.usage)
        except (ControlPlaneDown, ControlPlaneRefused):
            await self._keep_for_later(partial(closeout_record, closeout, state.identity))

    async def _keep_for_later(self, make: MakeRecord) -> None:
        try:
            await self._parts.ledger.append(make)
        except LedgerFailed as failed:
            sys.stderr.write(f"gateway: a closeout is lost: {failed}\n")

    def _answer(self, state: _RequestState, outcome: RelayOutcome) -> None:
        visit = state.visit
        if outcome.refused is not None:
            _refuse(visit, outcome.refused, state.request_id)
        elif outcome.ready is not None:
            status, headers, body = outcome.ready
            own_ns = time.monotonic_ns() - visit.received_ns - (outcome.answered_ns - state.asked_ns)
            headers.append(("x-gateway-overhead-ms", f"{own_ns / 1e6:.3f}"))
            if state.chat.streamed and status == HTTPStatus.OK:
                visit.start_stream(status, headers)
                visit.send_chunk(body)
                visit.end_stream()
            else:
                visit.respond(status, headers, body)

    async def _append(self, make: MakeRecord) -> None:
        try:
            await self._parts.ledger.append(make)
        except LedgerFailed as failed:
            raise Refused(503, "audit_unavailable", str(failed)) from failed


def _refuse(visit: ClientRequest, refused: Refused, request_id: str) -> None:
    """Answer with the refusal, or cut a response that has begun."""
    if visit.finished:
        return
    if visit.started:
        visit.abort()
    else:
        visit.respond_json(refused.status, refused.document(request_id))
