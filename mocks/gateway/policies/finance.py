"""What a bank adds: leaks in prompts, inside information, unhedged advice and poor responses.

dlp acts on prompts, the others on responses. They judge wording only; what they look for is far from the plain words
that loads are made of.
"""

from __future__ import annotations

import re

from mocks.gateway.policies.finding import Finding, Policy

DISCLAIMER = "This is general information and no investment advice. "
LOWEST_QUALITY_RATIO = 0.05

_SECRET = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----"
    r"|\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"
    r"|\bgh[pousr]_[A-Za-z0-9]{36,}\b"
    r"|\bxox[abprs]-[A-Za-z0-9-]{10,}"
    r"|\bsk-(?:[a-z]+-)?[A-Za-z0-9]{20,}\b"
)
_MARKING = re.compile(r"\b(?:strictly\s+confidential|internal\s+use\s+only|top\s+secret)\b", re.IGNORECASE)
_INSIDE = re.compile(
    r"\b(?:not\s+(?:yet\s+)?public|non-?public\s+information|insider\s+information|inside\s+information"
    r"|board\s+decision|ahead\s+of\s+the\s+announcement|unannounced\s+(?:merger|acquisition|earnings))\b",
    re.IGNORECASE,
)
_ADVICE = re.compile(
    r"\b(?:buy|sell)\s+(?:the\s+|more\s+|your\s+|these\s+|this\s+)?(?:stock|shares?|bonds?|options?|fund|position)"
    r"|\bguaranteed\s+(?:returns?|profits?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+")


def check_leak(text: str) -> Finding:
    """Blocked when a prompt carries a credential or a confidentiality marking."""
    if _SECRET.search(text):
        return Finding(text, blocked="the prompt carries what looks like a credential")
    if _MARKING.search(text):
        return Finding(text, blocked="the prompt carries a confidentiality marking")
    return Finding(text)


def check_inside(text: str) -> Finding:
    """Blocked when a response speaks of material information that is not public."""
    if _INSIDE.search(text):
        return Finding(text, blocked="the response speaks of material information that is not public")
    return Finding(text)


def check_advice(text: str) -> Finding:
    """Put a disclaimer in front of a response that advises a trade or promises a return; never blocks."""
    if _ADVICE.search(text) and not text.startswith(DISCLAIMER):
        return Finding(DISCLAIMER + text, note="disclaimer")
    return Finding(text)


def quality(text: str) -> float:
    """Share of different words among the words of a response, 0 to 1; 1 for a response without words."""
    words = _WORD.findall(text.lower())
    return len(set(words)) / len(words) if words else 1.0


def check_quality(text: str) -> Finding:
    """Blocked when a response repeats itself without end; the score is in the note."""
    score = quality(text)
    if score < LOWEST_QUALITY_RATIO:
        return Finding(text, blocked="the response repeats itself without end", note=f"{score:.2f}")
    return Finding(text, note=f"{score:.2f}")


DLP = Policy("dlp", on_prompt=check_leak)
MNPI = Policy("mnpi", on_answer=check_inside)
FINANCIAL_COMPLIANCE = Policy("financial-compliance", on_answer=check_advice)
QUALITY_SCORER = Policy("quality-scorer", on_answer=check_quality)
