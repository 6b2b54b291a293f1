"""A chain: the policies of one configuration in their order, applied to a request document or to an answer's texts.

Built once at start from the configured names; the proxy asks it for a Verdict. It changes the
documents that are handed to it and sends nothing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mocks.gateway.policies import finance, injection, pii
from mocks.gateway.policies.finding import Finding, Policy, TextCheck


def _accept(text: str) -> Finding:
    return Finding(text, note=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())


AUDIT_LOGGER = Policy("audit-logger", on_prompt=_accept)
CATALOGUE: Mapping[str, Policy] = {
    policy.name: policy
    for policy in (
        injection.POLICY,
        pii.POLICY,
        finance.DLP,
        finance.MNPI,
        finance.FINANCIAL_COMPLIANCE,
        finance.QUALITY_SCORER,
        AUDIT_LOGGER,
    )
}


@dataclass(slots=True)
class ChainVerdict:
    """What a chain made of a request or a response, in the form that goes into the audit record."""

    masked_count: int = 0
    changed: bool = False
    blocked_by: str | None = None
    reason: str | None = None
    notes: dict[str, list[str]] = field(default_factory=dict)

    def record(self) -> dict[str, Any]:
        """Return the audit record's part."""
        return {
            "action": "block" if self.blocked_by else "redact" if self.changed else "allow",
            "policy": self.blocked_by,
            "masked_count": self.masked_count,
            "notes": self.notes,
        }


class Chain:
    """Policies in order; raises ValueError for a name that no policy has."""

    def __init__(self, names: Sequence[str]) -> None:
        unknown = [name for name in names if name not in CATALOGUE]
        if unknown:
            raise ValueError(f"no policy is called {unknown[0]!r}; known are {', '.join(CATALOGUE)}")
        policies = [CATALOGUE[name] for name in names]
        self.on_prompt = [(policy.name, policy.on_prompt) for policy in policies if policy.on_prompt]
        self.on_answer = [(policy.name, policy.on_answer) for policy in policies if policy.on_answer]

    def judge_prompt(self, messages: Iterable[Any]) -> ChainVerdict:
        """Return the verdict on chat messages; masked text is written back into them."""
        verdict = ChainVerdict()
        if not self.on_prompt:
            return verdict
        for message in messages:
            if not isinstance(message, dict):
                continue
            content = message.get("content")
            if isinstance(content, str):
                message["content"] = self._apply(self.on_prompt, content, verdict)
            elif isinstance(content, list):
                for part in content:
                    if isinstance(part, dict) and isinstance(part.get("text"), str):
                        part["text"] = self._apply(self.on_prompt, part["text"], verdict)
        return verdict

    def judge_answer(self, texts: Sequence[str]) -> tuple[ChainVerdict, list[str]]:
        """Return the verdict on the texts of an answer's choices, and the texts to go on with."""
        verdict = ChainVerdict()
        return verdict, [self._apply(self.on_answer, text, verdict) for text in texts]

    @staticmethod
    def _apply(checks: Sequence[tuple[str, TextCheck]], text: str, verdict: ChainVerdict) -> str:
        original = text
        for name, check in checks:
            if verdict.blocked_by:
                break
            finding = check(text)
            text = finding.text
            verdict.masked_count += finding.masked_count
            if finding.note is not None:
                verdict.notes.setdefault(name, []).append(finding.note)
            if finding.blocked is not None:
                verdict.blocked_by, verdict.reason = name, finding.blocked
        verdict.changed = verdict.changed or text != original
        return text
