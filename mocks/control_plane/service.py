"""The control plane's public port: checks the bearer, counts the call, responds, late if it was told to be.

Started by `__main__`, read and reset by `admin`. It must not refuse what the contract allows: a gateway that
gets a wrong response retries, and retries would be measured as calls.
"""

from __future__ import annotations

import hmac
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from mocks.clock import NS_PER_S
from mocks.control_plane import answers
from mocks.control_plane.answers import JsonDocument
from mocks.control_plane.config import AGENT_ID, Config
from mocks.control_plane.kinds import ADMISSION, CallKind, kind_of
from mocks.wire import DueTimes, HttpExchange
from mocks.wire.lateness import Lateness
from mocks.wire.routes import BadBody, read_object, refuse


class CallTally:
    """Counts since the last reset."""

    def __init__(self) -> None:
        self.calls: Counter[CallKind] = Counter()
        self.refused: Counter[int] = Counter()
        self.event_count = 0
        self.whole_event_count = 0
        self.event_ids: set[str] = set()
        self.completed_ids: set[str] = set()
        self.lateness = Lateness()

    def document(self) -> dict[str, Any]:
        """Return the counts by name."""
        admission_count = sum(count for kind, count in self.calls.items() if kind in ADMISSION)
        return {
            "calls": {kind.value: self.calls[kind] for kind in CallKind},
            "admission_call_count": admission_count,
            "background_call_count": sum(self.calls.values()) - admission_count,
            "event_count": self.event_count,
            "distinct_event_count": len(self.event_ids),
            "incomplete_event_count": self.event_count - self.whole_event_count,
            "distinct_complete_count": len(self.completed_ids),
            "unauthorized_count": self.refused[401],
            "bad_request_count": self.refused[400],
            **self.lateness.figures(),
        }


class ControlPlane:
    """Answers the calls of the contract."""

    def __init__(self, config: Config, due_times: DueTimes) -> None:
        self.config = config
        self.tally = CallTally()
        self._bearer = f"Bearer {config.machine_token}".encode()
        self._due_times = due_times
        self._authorization_count = 0
        self._calls: dict[CallKind, Callable[[HttpExchange, str], JsonDocument]] = {
            CallKind.CONFIG_PULL: self._config_pull,
            CallKind.VALIDATE: self._validate,
            CallKind.RUNTIME_ROUTING: lambda *_: {},
            CallKind.AGENTS: lambda *_: {"agents": [{"id": AGENT_ID}]},
            CallKind.PREFLIGHT: lambda *_: answers.preflight(),
            CallKind.EVALUATE: self._evaluate,
            CallKind.BUDGET_CHECK: lambda *_: {"allowed": True, "remaining_budget": None},
            CallKind.AUTHORIZE: self._authorize,
            CallKind.DISPATCH: self._dispatch,
            CallKind.COMPLETE: self._complete,
            CallKind.USAGE_INCREMENT: self._taken,
            CallKind.EVENTS: self._event,
            CallKind.HISTORY: self._taken,
            CallKind.HEARTBEAT: lambda *_: {},
        }

    def reset(self) -> None:
        """Start all counts anew."""
        self.tally = CallTally()

    def set_delay(self, delay_s: float) -> None:
        """Every call from now on is answered so much later."""
        self.config = replace(self.config, delay_s=delay_s)

    def handle(self, exchange: HttpExchange) -> None:
        """Serve one call."""
        kind, ident = kind_of(exchange.method, exchange.path)
        self.tally.calls[kind] += 1
        due_ns = exchange.received_ns + round(self.config.delay_s * NS_PER_S)
        if self.config.delay_s > 0:
            self._due_times.at(due_ns, lambda: self._answer(exchange, kind, ident, due_ns))
        else:
            self._answer(exchange, kind, ident, due_ns)

    def _answer(self, exchange: HttpExchange, kind: CallKind, ident: str, due_ns: int) -> None:
        given = exchange.headers.get("authorization", "").encode("latin-1")
        try:
            if not hmac.compare_digest(given, self._bearer):
                self._refuse(exchange, 401, "the machine token is missing or wrong")
            elif kind is CallKind.OTHER:
                refuse(exchange, 404, f"no call is known at {exchange.method} {exchange.path}")
            else:
                exchange.respond_json(200, self._calls[kind](exchange, ident))
        except BadBody as error:
            self._refuse(exchange, 400, str(error))
        self.tally.lateness.add(time.monotonic_ns() - due_ns)

    def _refuse(self, exchange: HttpExchange, status: int, message: str) -> None:
        self.tally.refused[status] += 1
        refuse(exchange, status, message)

    def _config_pull(self, exchange: HttpExchange, _: str) -> JsonDocument:
        return answers.config_pull(self.config, exchange.query)

    def _validate(self, exchange: HttpExchange, _: str) -> JsonDocument:
        return answers.validate(self.config, read_object(exchange))

    def _evaluate(self, exchange: HttpExchange, _: str) -> JsonDocument:
        return answers.evaluate(read_object(exchange))

    def _authorize(self, exchange: HttpExchange, _: str) -> JsonDocument:
        self._authorization_count += 1
        authorization_id = f"77777777-7777-4777-8777-{self._authorization_count:012x}"
        return answers.authorize(read_object(exchange), authorization_id)

    def _dispatch(self, exchange: HttpExchange, ident: str) -> JsonDocument:
        return answers.dispatch(read_object(exchange), ident)

    def _complete(self, exchange: HttpExchange, ident: str) -> JsonDocument:
        document = answers.complete(read_object(exchange), ident, exchange.headers)
        self.tally.completed_ids.add(ident)
        return document

    def _event(self, exchange: HttpExchange, _: str) -> JsonDocument:
        """Take an event; the same event delivered again counts as one distinct event."""
        body = read_object(exchange)
        document = answers.event(body)
        tally = self.tally
        tally.event_count += 1
        tally.whole_event_count += answers.is_whole_event(body)
        tally.event_ids.add(str(body.get("event_id") or document["delivery_id"]))
        return document

    def _taken(self, exchange: HttpExchange, _: str) -> JsonDocument:
        """Take a report whose content nobody asks for."""
        read_object(exchange)
        return {"accepted": True}
