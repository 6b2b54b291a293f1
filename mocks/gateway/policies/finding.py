"""What a policy is and what it finds: the two types that every policy module and the chain share.

A check gets one text and gives back a Finding. It keeps nothing between calls and never sees a request or a socket.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The text to go on with, how much was masked in it, and why it may not pass (None: it may)."""

    text: str
    masked_count: int = 0
    blocked: str | None = None
    note: str | None = None


TextCheck = Callable[[str], Finding]


@dataclass(frozen=True, slots=True)
class Policy:
    """One named policy: its check of prompts, its check of responses; None where it does not act."""

    name: str
    on_prompt: TextCheck | None = None
    on_answer: TextCheck | None = None
