"""What each request of a cell is: its mode, the size of its prompt, and how the mock provider responds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import ConfigDict, Field

from weighbridge.matrix.strict import STRICT

Mode = Literal["plain", "stream"]


@dataclass(frozen=True)
class PayloadSpec:
    """Size of the prompt in bytes: a system and a user message; every prompt is different and seeded."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: Annotated[str, Field(description="Name in the matrix.")]
    system_bytes: Annotated[int, Field(description="Bytes of the system message.")]
    user_bytes: Annotated[int, Field(description="Bytes of the user message.")]


@dataclass(frozen=True)
class AnswerSpec:
    """What the mock provider responds: after `delay_s`; streams send `chunk_count` chunks `gap_s` apart."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    name: Annotated[str, Field(description="Name in the matrix.")]
    delay_s: Annotated[float, Field(description="Time to the response or to the first chunk, s.")]
    chunk_count: Annotated[int, Field(description="Chunks of a stream.")]
    gap_s: Annotated[float, Field(description="Time between chunks, s.")]

    def provider_time_s(self, mode: Mode) -> float:
        """Time from the whole request to the last byte of the response by the provider's own schedule."""
        return self.delay_s + (self.chunk_count - 1) * self.gap_s if mode == "stream" else self.delay_s


@dataclass(frozen=True)
class GoodputBounds:
    """In what time a response counts as goodput, from its intended start; null: in any."""

    __pydantic_config__: ClassVar[ConfigDict] = STRICT

    ttft_s: Annotated[float | None, Field(description="Longest time to the first content of a stream, s.")]
    end_s: Annotated[float | None, Field(description="Longest time to the end of a response, s.")]
