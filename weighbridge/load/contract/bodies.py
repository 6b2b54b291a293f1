"""The file of request bodies that drivers send: one chat-completions request a line, every prompt different.

Texts are letters, spaces and full stops only: policies hunt for digit runs and phrases, and must find none. Each
prompt carries a reference of its own by which the mock provider counts it.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weighbridge.dialects.openai_chat import Message, request_frame
from weighbridge.load.contract.prompt_words import WORDS
from weighbridge.matrix.requests import Mode, PayloadSpec
from weighbridge.record.stamps import reference

# oha draws lines with replacement: ten lines per request keep the repeats below 5 %.
_LINES_PER_REQUEST = 10
_FEWEST_LINES = 2_000
_MOST_LINES = 200_000
# oha holds all lines in memory; larger prompts get fewer lines, and the printed share of repeats says so.
_MOST_BYTES = 256 * 1024 * 1024
_POOL_BYTES = 256 * 1024
_WORD_MASK = 2**64 - 1


@dataclass(frozen=True)
class BodyPlan:
    """What the lines of one file are: prompts of `payload` for `request_count` requests of a window."""

    payload: PayloadSpec
    mode: Mode
    model: str
    request_count: int
    seed: int


@dataclass(frozen=True)
class BodyFacts:
    """What was written: number of lines and bytes, and the SHA-256 of the file."""

    line_count: int
    byte_count: int
    sha256: str = ""

    def expected_repeat_ratio(self, request_count: int) -> float:
        """Share of `request_count` prompts that repeat an earlier one, drawn with replacement.

        1 − (K/N)(1 − e^(−N/K)) for N draws from K lines: the expected number of distinct lines is K(1 − e^(−N/K)).
        """
        if request_count < 1 or self.line_count < 1:
            return 0.0
        draws_per_line = request_count / self.line_count
        return max(0.0, 1 - (1 - math.exp(-draws_per_line)) / draws_per_line)


def write_bodies(path: Path, plan: BodyPlan) -> BodyFacts:
    """Write the body lines of `plan` to `path` and tell how many they are; the same plan gives the same bytes."""
    head, tail = _frame(plan)
    user_bytes = max(plan.payload.user_bytes, len(reference(0)))
    line_bytes = len(head) + user_bytes + len(tail)
    wanted = min(_MOST_LINES, max(_FEWEST_LINES, _LINES_PER_REQUEST * plan.request_count))
    lines = max(1, min(wanted, _MOST_BYTES // line_bytes))
    written = hashlib.sha256()
    with path.open("wb") as file:
        for prompt in _prompts(plan.seed, user_bytes, lines):
            line = f"{head}{prompt}{tail}".encode("ascii")
            written.update(line)
            file.write(line)
    return BodyFacts(lines, lines * line_bytes, written.hexdigest())


def _frame(plan: BodyPlan) -> tuple[str, str]:
    """Return what stands before and after the user's text in each line."""
    before: list[Message] = []
    if plan.payload.system_bytes:
        before.append(Message("system", _Filler(plan.seed, "system").text(plan.payload.system_bytes)))
    head, tail = request_frame(plan.model, before, is_stream=plan.mode == "stream")
    return head, tail + "\n"


def _prompts(seed: int, size: int, count: int) -> Iterator[str]:
    filler, start = _Filler(seed, "user"), _number(seed, "reference")
    for index in range(count):
        mark = reference(_scatter(start + index))
        left = size - len(mark) - 1
        yield f"{mark} {filler.text(left)}" if left > 0 else mark.ljust(size, ".")


class _Filler:
    """Endless plain text: pieces of one seeded pool of words, each from the start of a word."""

    def __init__(self, seed: int, purpose: str) -> None:
        self._random = random.Random(f"{seed} {purpose}")  # noqa: S311 - repeatable, not secret
        words: list[str] = []
        length = 0
        self._starts: list[int] = []
        while length < _POOL_BYTES:
            word = self._random.choice(WORDS)
            self._starts.append(length)
            words.append(word)
            length += len(word) + 1
        self._pool = " ".join(words)

    def text(self, size: int) -> str:
        """Text of exactly `size` bytes that ends with a full stop."""
        begin = self._random.choice(self._starts)
        piece = self._pool[begin : begin + size - 1]
        while len(piece) < size - 1:
            piece += " " + self._pool[: size - 2 - len(piece)]
        return piece.rstrip().ljust(size, ".")


def _number(seed: int, purpose: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed} {purpose}".encode()).digest()[:8], "big")


def _scatter(number: int) -> int:
    """One-to-one scrambling of 64-bit numbers (the finalizer of SplitMix64): different in, different out."""
    mixed = number * 0x9E3779B97F4A7C15 & _WORD_MASK
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 & _WORD_MASK
    mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & _WORD_MASK
    return mixed ^ mixed >> 31
