"""What an error text means: the failure classes of the load report.

Most wording comes from the libraries below the tool and changes with their versions, so texts are told apart by parts
of them, in lower case, first match first.
"""

from __future__ import annotations

from collections.abc import Mapping

# A worker that was cancelled at the deadline, idle or busy: it counts workers, never requests.
DEADLINE_ABORT = "aborted due to deadline"

_PARTS: tuple[tuple[str, str], ...] = (
    ("too many open files", "client_files"),
    ("connection refused", "connect_refused"),
    ("timeout", "timeout"),
    ("timed out", "timeout"),
    ("deadline has elapsed", "timeout"),
    ("closed before message completed", "closed_before_answer"),
    ("reading a body", "body_broken"),
    ("end of file before message length", "body_broken"),
    ("connection reset", "reset"),
    ("broken pipe", "reset"),
    ("connection error", "reset"),
    ("parsed", "protocol"),
    ("invalid http", "protocol"),
    ("protocol error", "protocol"),
)


def classify(text: str) -> str:
    """Failure class of one error text; `other` for a wording that is not known."""
    lowered = text.lower()
    return next((name for part, name in _PARTS if part in lowered), "other")


def by_class(errors: Mapping[str, int]) -> dict[str, int]:
    """Count errors by failure class, deadline aborts left out."""
    found: dict[str, int] = {}
    for text, amount in errors.items():
        if text != DEADLINE_ABORT and amount:
            name = classify(text)
            found[name] = found.get(name, 0) + amount
    return found
