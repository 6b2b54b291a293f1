"""The provider's non-streaming response without its HTTP: what both equivalents serve.

It reads, records and responds with the provider's own code, so that only the way through HTTP differs.
"""

from __future__ import annotations

import gc
import time

from mocks import stamps
from mocks.provider import answers
from mocks.provider.answers import AnswerTexts
from mocks.provider.book import ANSWERED, PLAIN_MODE, Book
from mocks.provider.request import find_reference, read_chat


class Chat:
    """Non-streaming responses without delay, each one recorded."""

    def __init__(self) -> None:
        self._book = Book()
        self._texts = AnswerTexts()

    def answer(self, body: bytes, received_ns: int) -> bytes:
        """Return the answer's body. Raises ValueError for a body that is no chat request."""
        reference = find_reference(body)
        request = read_chat(body)
        row = self._book.open(reference, received_ns, PLAIN_MODE)
        ident = stamps.encode_number(received_ns) + stamps.encode_number(row, 8)
        used = answers.usage(request.prompt_token_count, answers.PLAIN_TOKEN_COUNT)
        before, after = answers.plain_parts(self._texts.model(request.model), ident, int(time.time()), used)
        begun = stamps.begin_stamp(received_ns)
        send_ns = time.monotonic_ns()
        text = before + stamps.finish_stamp(begun, send_ns) + after
        self._book.sent(row, send_ns)
        self._book.lateness.add(send_ns - received_ns)
        self._book.close(row, send_ns, ANSWERED)
        return text


def quiet_collector() -> None:
    """Freeze the garbage collector and turn it off, as in the mocks, so that it makes no difference."""
    gc.collect()
    gc.freeze()
    gc.disable()
