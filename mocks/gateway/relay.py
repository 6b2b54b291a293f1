"""From the provider's response to the client's: passed on as it comes, or buffered until policies have seen its text.

It gives back a RelayOutcome for the audit record and raises nothing but Refused: what the provider did wrong is told
to the client, not to the log.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from mocks.gateway.answer import UpstreamLost, UpstreamResponse
from mocks.gateway.buffered import BufferedStream, PlainAnswer, find_usage, read_plain, read_stream, usage_of
from mocks.gateway.chat import BYTES_PER_TOKEN, PER_HOP
from mocks.gateway.control import TokenUsage
from mocks.gateway.policies.chain import Chain, ChainVerdict
from mocks.gateway.refusal import Refused
from mocks.gateway.visit import ClientRequest

ANSWER_LIMIT_BYTES = 16 * 1024 * 1024
TAIL_BYTES = 8 * 1024
_CONTENT_KEY = b'"content"'


@dataclass(slots=True)
class RelayOutcome:
    """How the provider's part ended, and what is left to send: a response, a refusal, or nothing."""

    status: int
    word: str
    usage: TokenUsage | None = None
    verdict: ChainVerdict = field(default_factory=ChainVerdict)
    ready: tuple[int, list[tuple[str, str]], bytes] | None = None
    refused: Refused | None = None
    answered_ns: int = 0  # when the provider's whole response was here

    def record(self) -> dict[str, Any]:
        """Return the audit record's part."""
        usage = self.usage
        return {
            "outcome": self.word,
            "provider_status": self.status,
            "response": self.verdict.record(),
            "usage": None
            if usage is None
            else {"input": usage.input_token_count, "output": usage.output_token_count},
        }


def client_headers(answer: UpstreamResponse, request_id: str) -> list[tuple[str, str]]:
    """Return the provider's headers for the client: no hop's own, no framing, the gateway's request id."""
    decoded = ((name.decode("latin-1"), value.decode("latin-1")) for name, value in answer.headers)
    kept = [(n, v) for n, v in decoded if n not in PER_HOP and n not in ("content-length", "x-request-id", "date")]
    return [*kept, ("x-request-id", request_id)]


def blocked(verdict: ChainVerdict) -> Refused:
    """Return the refusal that a blocking verdict means."""
    return Refused(400, "policy_blocked", f"blocked by {verdict.blocked_by}: {verdict.reason}")


def lost_provider(lost: UpstreamLost, *, gone: bool) -> Refused:
    """Return the refusal for a lost provider: 504 when it stayed silent, else 502; 499 when the client went first."""
    if gone:
        return Refused(499, "client_gone", "the client went before the response was there")
    if lost.timed_out:
        return Refused(504, "provider_timed_out", f"the provider did not answer: {lost}")
    return Refused(502, "provider_unreachable", f"the provider gave no whole answer: {lost}")


class Relay:
    """Brings one response over; `input_token_estimate` stands in where the provider tells no usage."""

    def __init__(self, chain: Chain, request_id: str, input_token_estimate: int) -> None:
        self._chain = chain
        self._request_id = request_id
        self._input_token_estimate = input_token_estimate

    async def bring(self, visit: ClientRequest, answer: UpstreamResponse) -> RelayOutcome:
        """Return the outcome of a response; raises Refused when nothing was sent yet and nothing good can be."""
        headers = client_headers(answer, self._request_id)
        is_stream = dict(headers).get("content-type", "").startswith("text/event-stream")
        if answer.status == HTTPStatus.OK and is_stream and not self._chain.on_answer:
            return await self._pass_on(visit, answer, headers)
        try:
            body = await answer.whole(ANSWER_LIMIT_BYTES)
        except UpstreamLost as lost:
            raise lost_provider(lost, gone=visit.gone) from lost
        answered_ns = time.monotonic_ns()
        if answer.status == HTTPStatus.OK:
            outcome = self._judge(body, headers, is_stream=is_stream)
        else:
            outcome = RelayOutcome(answer.status, "provider_error", ready=(answer.status, headers, body))
        outcome.answered_ns = answered_ns
        return outcome

    async def _pass_on(
        self, visit: ClientRequest, answer: UpstreamResponse, headers: list[tuple[str, str]]
    ) -> RelayOutcome:
        """Each read of the provider's stream as one chunk of ours."""
        visit.start_stream(answer.status, headers)
        tail, event_count = b"", 0
        try:
            while (piece := await answer.piece()) is not None:
                visit.send_chunk(piece)
                event_count += piece.count(_CONTENT_KEY)
                tail = (tail + piece)[-TAIL_BYTES:]
        except UpstreamLost:
            visit.abort()  # a proper end would call a broken stream whole
            return RelayOutcome(answer.status, "client_gone" if visit.gone else "provider_broke_off")
        visit.end_stream()
        # Without a told usage a content event counts as a token, as most providers send them.
        usage = find_usage(tail) or TokenUsage(self._input_token_estimate, event_count, counted=False)
        return RelayOutcome(answer.status, "completed", usage)

    def _judge(self, body: bytes, headers: list[tuple[str, str]], *, is_stream: bool) -> RelayOutcome:
        try:
            content: BufferedStream | PlainAnswer = read_stream(body) if is_stream else read_plain(body)
            verdict, texts = self._chain.judge_answer(content.texts)
        except ValueError as error:
            if self._chain.on_answer:
                raise Refused(502, "provider_answer_unreadable", f"the provider's answer: {error}") from error
            return RelayOutcome(200, "unreadable", ready=(200, headers, body))
        if verdict.blocked_by:
            refused = blocked(verdict)
            return RelayOutcome(200, "blocked", self._usage(content), verdict, refused=refused)
        if verdict.changed:
            body = content.replace(texts)
        return RelayOutcome(200, "completed", self._usage(content), verdict, (200, headers, body))

    def _usage(self, content: BufferedStream | PlainAnswer) -> TokenUsage | None:
        if isinstance(content, PlainAnswer):
            return usage_of(content.document)
        reported = [usage for usage in map(usage_of, content.chunks) if usage is not None]
        completion_token_count = sum(map(len, content.texts)) // BYTES_PER_TOKEN
        return (
            reported[-1]
            if reported
            else TokenUsage(self._input_token_estimate, completion_token_count, counted=False)
        )
