"""The bytes of an answer: everything but the stamps is built before it is due.

It must not know clocks or sockets. Texts are plain English words without digits, and none of them is a word that a
policy looks for.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from mocks import stamps
from mocks.clock import NS_PER_S
from mocks.wire.routes import read_seconds

_SENTENCE_PARTS = (
    "the river runs past old stone walls",
    "and the morning light falls on quiet fields",
    "while a small boat drifts along the bank",
    "where tall reeds bend in the soft wind",
    "so the miller opens his wooden door",
    "and looks over the water for a while",
    "as white clouds move slowly to the east",
    "until the bell in the village rings",
)
_FINGERPRINT = b"fp_weighbridge"
_CHUNK_WORDS = tuple(words.encode("ascii") + b" " for words in _SENTENCE_PARTS)
_PLAIN_WORDS = b"".join(_CHUNK_WORDS)
PLAIN_TOKEN_COUNT = len(_PLAIN_WORDS.split())
_DETAILS = (
    b'"prompt_tokens_details":{"cached_tokens":0,"audio_tokens":0},"completion_tokens_details":'
    b'{"reasoning_tokens":0,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}'
)
CACHED_MODELS_COUNT = 64


@dataclass(frozen=True, slots=True)
class AnswerPlan:
    """How the provider responds: time to the response or the first chunk, number of chunks, time between chunks.

    A time with the mean `jitter_s` is drawn for each request from an exponential distribution, whose tail is that of
    real providers, and added to the delay. Without `stamps` an answer's text has none; its record has the times all
    the same.
    """

    delay_s: float
    chunk_count: int
    gap_s: float
    jitter_s: float = 0.0
    stamps: bool = True

    def __post_init__(self) -> None:
        for name in ("delay_s", "gap_s", "jitter_s"):
            read_seconds({name: getattr(self, name)}, name, 0.0)
        if not isinstance(self.stamps, bool):
            raise ValueError(f"stamps must be true or false, not {self.stamps!r}")  # noqa: TRY004 - one error for callers
        count: object = self.chunk_count
        if isinstance(count, bool) or not isinstance(count, int) or not 1 <= count < stamps.SEQUENCE_LIMIT_COUNT:
            raise ValueError(f"chunk_count must be a whole number from 1 to 65,535, not {count!r}")

    @property
    def delay_ns(self) -> int:
        """Time from the request to the response or the first chunk."""
        return round(self.delay_s * NS_PER_S)

    @property
    def jitter_ns(self) -> int:
        """Mean of what is added to the delay."""
        return round(self.jitter_s * NS_PER_S)

    @property
    def gap_ns(self) -> int:
        """Time from chunk to chunk."""
        return round(self.gap_s * NS_PER_S)

    def changed(self, document: Mapping[str, Any]) -> AnswerPlan:
        """Return the plan with the given keys replaced. Raises ValueError for unknown keys and impossible values.

        Jitter and missing stamps hold for one plan only: where they are not named again they are gone, so that
        whoever has never heard of them gets an undisturbed provider.
        """
        known = {field.name for field in fields(AnswerPlan)}
        if unknown := sorted(set(document) - known):
            raise ValueError(f"unknown key {unknown[0]!r}; known are {', '.join(sorted(known))}")
        kept = {"delay_s": self.delay_s, "chunk_count": self.chunk_count, "gap_s": self.gap_s}
        return AnswerPlan(**{**kept, **document})


def read_seed(value: object) -> int | None:
    """Return the seed of the jitter, or None for none. Raises ValueError for anything but a whole number."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"jitter_seed must be a whole number, not {value!r}")
    return value


@dataclass(frozen=True, slots=True)
class ModelTexts:
    """The parts of responses that hang on the model's name alone."""

    plain_before: bytes
    chunk_before: bytes

    @classmethod
    def of(cls, model: str) -> ModelTexts:
        """Make the parts for `model`."""
        name = json.dumps(model).encode("ascii").replace(b"%", b"%%")
        return cls(
            b'{"id":"chatcmpl-%%b","object":"chat.completion","created":%%d,"model":%b,"service_tier":"default",'
            b'"system_fingerprint":"%b","choices":[{"index":0,"message":{"role":"assistant","refusal":null,'
            b'"annotations":[],"content":"' % (name, _FINGERPRINT),
            b'data: {"id":"chatcmpl-%%b","object":"chat.completion.chunk","created":%%d,"model":%b,'
            b'"service_tier":"default","system_fingerprint":"%b","choices":[' % (name, _FINGERPRINT),
        )


class AnswerTexts:
    """Answers for any model."""

    def __init__(self) -> None:
        self._models: dict[str, ModelTexts] = {}

    def model(self, name: str) -> ModelTexts:
        """Return the model's parts, kept for the next request."""
        texts = self._models.get(name)
        if texts is None:
            texts = ModelTexts.of(name)
            if len(self._models) < CACHED_MODELS_COUNT:
                self._models[name] = texts
        return texts


def usage(prompt_token_count: int, completion_token_count: int) -> bytes:
    """Return the usage object."""
    total = prompt_token_count + completion_token_count
    return b'{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,%b}' % (
        prompt_token_count,
        completion_token_count,
        total,
        _DETAILS,
    )


def plain_parts(texts: ModelTexts, ident: bytes, created: int, used: bytes) -> tuple[bytes, bytes]:
    """Return what stands before and after the stamp of a non-streaming response."""
    before = texts.plain_before % (ident, created) + _PLAIN_WORDS
    return before, b'"},"logprobs":null,"finish_reason":"stop"}],"usage":%b}' % used


@dataclass(frozen=True, slots=True)
class StreamTexts:
    """The parts of one stream's events."""

    before: bytes
    no_usage: bytes  # with include_usage every chunk but the last carries a null

    @classmethod
    def of(cls, texts: ModelTexts, ident: bytes, created: int, *, include_usage: bool) -> StreamTexts:
        """Make the parts for one stream."""
        return cls(texts.chunk_before % (ident, created), b',"usage":null' if include_usage else b"")

    def content(self, sequence: int) -> tuple[bytes, bytes]:
        """Return what stands before and after the stamps of a content event; the first one carries the role."""
        role = b'"role":"assistant","refusal":null,' if sequence == 0 else b""
        before = b'%b{"index":0,"delta":{%b"content":"%b' % (
            self.before,
            role,
            _CHUNK_WORDS[sequence % len(_CHUNK_WORDS)],
        )
        return before, b' "},"logprobs":null,"finish_reason":null}]%b}\n\n' % self.no_usage

    def finish(self) -> bytes:
        """Return the event that says why the response ended."""
        return b'%b{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]%b}\n\n' % (
            self.before,
            self.no_usage,
        )

    def usage(self, used: bytes) -> bytes:
        """Return the event with the usage and no choice."""
        return b'%b],"usage":%b}\n\n' % (self.before, used)
