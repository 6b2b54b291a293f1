"""Prompt injection: blocks prompts that try to overrule the instructions a model was given.

It judges wording only and never changes a text.
"""

from __future__ import annotations

import re

from mocks.gateway.policies.finding import Finding, Policy

_TRIP = re.compile(
    r"\b(?:"
    r"(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|of\s+){0,3}"
    r"(?:previous|prior|above|earlier|preceding|system)\s+(?:instructions?|prompts?|rules|directions|messages)"
    r"|(?:reveal|show|print|repeat|leak)\s+(?:me\s+)?(?:your|the)\s+(?:system|hidden|initial)\s+(?:prompt|instructions)"
    r"|you\s+are\s+now\s+(?:in\s+)?(?:dan|developer\s+mode|jailbroken|unrestricted)"
    r"|(?:pretend|act\s+as\s+if)\s+you\s+have\s+no\s+(?:rules|restrictions|guidelines|limits)"
    r"|(?:bypass|disable|turn\s+off)\s+(?:your|all|the|any)\s+(?:safety|guardrails?|filters?|restrictions)"
    r"|system\s+override"
    r"|do\s+anything\s+now"
    r")\b",
    re.IGNORECASE,
)


def check(text: str) -> Finding:
    """Blocked when the text holds a phrase that tries to overrule earlier instructions."""
    if _TRIP.search(text):
        return Finding(text, blocked="the prompt tries to overrule the instructions given to the model")
    return Finding(text)


POLICY = Policy("prompt-injection", on_prompt=check)
