"""Personal data: masks e-mail addresses, phone numbers, social security numbers and card numbers.

A stream under it is buffered until it is complete. Every pattern needs a digit or an at sign: text of letters alone,
such as this project's stamps, comes through untouched.
"""

from __future__ import annotations

import re

from mocks.gateway.policies.finding import Finding, Policy

_EMAIL = re.compile(r"(?<![\w.%+-])[A-Za-z0-9_%+-]+(?:\.[A-Za-z0-9_%+-]+)*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24}\b")
_CARD = re.compile(r"(?<![\w-])\d(?:[ -]?\d){12,18}(?![\w-])")
_SSN = re.compile(r"(?<![\w-])(?!000|666|9\d\d)\d{3}[- ](?!00)\d{2}[- ](?!0000)\d{4}(?![\w-])")
_PHONE = re.compile(
    r"(?<![\w-])(?:\+\d{1,3}[ .-]?)?(?:\(\d{3}\)[ .-]?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])"
    r"|(?<![\w+])\+[1-9](?:[ .-]?\d){7,14}(?!\w)"
)
_DIGIT = re.compile(r"\d")


def passes_luhn(digits: str) -> bool:
    """Whether a digit string has a right Luhn check digit (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value
    return total % 10 == 0


def _mask_card(match: re.Match[str]) -> str:
    digits = match.group().replace(" ", "").replace("-", "")
    return "[CARD]" if passes_luhn(digits) else match.group()


def check(text: str) -> Finding:
    """Replace what is found in the text by [EMAIL], [CARD], [SSN] and [PHONE]; never blocks."""
    masked_count = 0
    if "@" in text:
        text, masked_count = _EMAIL.subn("[EMAIL]", text)
    if _DIGIT.search(text):
        before = text.count("[CARD]")
        text = _CARD.sub(_mask_card, text)
        masked_count += text.count("[CARD]") - before
        for pattern, mask in ((_SSN, "[SSN]"), (_PHONE, "[PHONE]")):
            text, found_count = pattern.subn(mask, text)
            masked_count += found_count
    return Finding(text, masked_count=masked_count)


POLICY = Policy("pii", on_prompt=check, on_answer=check)
