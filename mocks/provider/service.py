"""The provider's public port: chat completions and the list of models.

Started by `__main__`, read and reset by `admin`. It must not add time of its own but what the plan says.
"""

from __future__ import annotations

import random
import time

from mocks import stamps
from mocks.contract import CHAT_PATH
from mocks.provider import answers
from mocks.provider.answers import AnswerPlan, AnswerTexts, StreamTexts
from mocks.provider.book import BAD_REQUEST, PLAIN_MODE, STREAM_MODE, UNKNOWN_MODE, Book
from mocks.provider.replies import PlainReply, StreamReply, Task
from mocks.provider.request import ChatRequest, find_reference, read_chat
from mocks.wire import DueTimes, HttpExchange
from mocks.wire.routes import refuse

MODELS_PATH = "/v1/models"
_MODELS_CREATED = 1_735_689_600  # 1 January 2025


class Provider:
    """Answers chat requests by the plan and keeps a record of each."""

    def __init__(self, plan: AnswerPlan, model: str, due_times: DueTimes) -> None:
        self.plan = plan
        self.book = Book()
        self.last: HttpExchange | None = None
        self._due_times = due_times
        self._texts = AnswerTexts()
        self._model = model
        self._draws = _draws(0)

    def reset(self, plan: AnswerPlan, jitter_seed: int | None = None) -> None:
        """Open a new book and respond by `plan` from now on; responses on their way keep their own.

        Without a seed the jitter's draws go on: two windows by one plan must not meet the same ones.
        """
        self.plan = plan
        if jitter_seed is not None:
            self._draws = _draws(jitter_seed)
        self.book = Book()
        self.last = None

    def handle(self, exchange: HttpExchange) -> None:
        """Serve one request."""
        if exchange.path == CHAT_PATH and exchange.method == "POST":
            self._chat(exchange)
        elif exchange.path == MODELS_PATH and exchange.method == "GET":
            model = {"id": self._model, "object": "model", "created": _MODELS_CREATED, "owned_by": "weighbridge"}
            exchange.respond_json(200, {"object": "list", "data": [model]})
        else:
            self.book.other_path_count += 1
            status = 405 if exchange.path in {CHAT_PATH, MODELS_PATH} else 404
            refuse(exchange, status, f"Invalid URL ({exchange.method} {exchange.path})", code="unknown_url")

    def _chat(self, exchange: HttpExchange) -> None:
        self.last = exchange
        reference = find_reference(exchange.body)
        try:
            request = read_chat(exchange.body)
        except ValueError as error:
            row = self.book.open(reference, exchange.received_ns, UNKNOWN_MODE)
            self.book.close(row, 0, BAD_REQUEST)
            refuse(exchange, 400, str(error))
            return
        row = self.book.open(reference, exchange.received_ns, STREAM_MODE if request.stream else PLAIN_MODE)
        self._reply(request, Task(exchange, self.book, row, self.plan, self._due_times, self._wait_ns()))

    def _wait_ns(self) -> int:
        """Time to this answer: the delay, and its jitter if there is any."""
        plan = self.plan
        if plan.jitter_s == 0:
            return plan.delay_ns
        jitter_ns = round(self._draws.expovariate(1.0) * plan.jitter_ns)
        self.book.jittered(jitter_ns)
        return plan.delay_ns + jitter_ns

    def _reply(self, request: ChatRequest, task: Task) -> None:
        if not task.plan.stamps:
            self.book.unstamped_count += 1
        texts = self._texts.model(request.model)
        ident = stamps.encode_number(task.exchange.received_ns) + stamps.encode_number(task.row, 8)
        created = int(time.time())
        told = task.plan.chunk_count if request.stream else answers.PLAIN_TOKEN_COUNT
        used = answers.usage(request.prompt_token_count, told)
        if request.include_usage or not request.stream:
            task.book.used(task.row, request.prompt_token_count, told)
        if request.stream:
            stream = StreamTexts.of(texts, ident, created, include_usage=request.include_usage)
            StreamReply(task, stream, used if request.include_usage else None)
        else:
            PlainReply(task, *answers.plain_parts(texts, ident, created, used))


def _draws(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - jitter has to be repeatable, not secret
