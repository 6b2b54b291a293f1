"""What an error text means: the failure classes of the load report.

A system's error number says more than its words, which change with systems, languages and versions; wording comes
from the libraries below the tool. So limits of the client are told first and by either, then how far a request came,
then what the number says, then the words, in lower case, first match first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

# A worker that was cancelled at the deadline, idle or busy: it counts workers, never requests.
DEADLINE_ABORT = "aborted due to deadline"

_ErrorParts = Sequence[tuple[str, str]]

_OS_ERROR_NUMBER = re.compile(r"\bos error (\d{1,4})\b")
# Error numbers of Linux, and where they differ those of macOS: EMFILE, ENFILE; EADDRNOTAVAIL, EADDRINUSE; ENOMEM,
# ENOBUFS; ENETUNREACH, EHOSTUNREACH. None of them is a server's doing.
_CLIENT_NUMBERS: Mapping[int, str] = {
    **dict.fromkeys((23, 24), "client_files"),
    **dict.fromkeys((98, 99, 48, 49), "client_ports"),
    **dict.fromkeys((12, 105, 55), "client_memory"),
    **dict.fromkeys((101, 113, 51, 65), "client_route"),
}
_CLIENT_PARTS: _ErrorParts = (
    ("too many open files", "client_files"),
    ("cannot assign requested address", "client_ports"),
    ("can't assign requested address", "client_ports"),
    ("address already in use", "client_ports"),
    ("no buffer space", "client_memory"),
    ("cannot allocate memory", "client_memory"),
    ("dns", "client_resolve"),
    ("lookup address", "client_resolve"),
    ("name or service not known", "client_resolve"),
    ("name resolution", "client_resolve"),
    ("certificate", "client_tls"),
    ("handshake", "client_tls"),
    ("no route to host", "client_route"),
    ("network is unreachable", "client_route"),
)
# How far a request came.
_STAGES: _ErrorParts = (
    ("closed before message completed", "closed_before_answer"),
    ("operation was canceled", "closed_before_answer"),
    ("reading a body", "body_broken"),
    ("end of file before message length", "body_broken"),
)
# ECONNREFUSED; ETIMEDOUT; EPIPE, ECONNABORTED, ECONNRESET.
_NUMBERS: Mapping[int, str] = {
    **dict.fromkeys((111, 61), "connect_refused"),
    **dict.fromkeys((110, 60), "timeout"),
    **dict.fromkeys((32, 103, 104, 53, 54), "reset"),
}
_PARTS: _ErrorParts = (
    ("connection refused", "connect_refused"),
    ("timeout", "timeout"),
    ("timed out", "timeout"),
    ("deadline has elapsed", "timeout"),
    ("connection reset", "reset"),
    ("broken pipe", "reset"),
    ("connection error", "reset"),
    ("writing a body", "reset"),
    ("parsed", "protocol"),
    ("invalid http", "protocol"),
    ("protocol error", "protocol"),
)


def classify(text: str) -> str:
    """Failure class of one error text; `other` for a wording that is not known."""
    lowered = text.lower()
    found = _OS_ERROR_NUMBER.search(lowered)
    number = int(found[1]) if found else -1
    return (
        _CLIENT_NUMBERS.get(number)
        or _by_part(lowered, _CLIENT_PARTS)
        or _by_part(lowered, _STAGES)
        or _NUMBERS.get(number)
        or _by_part(lowered, _PARTS)
        or "other"
    )


def by_class(errors: Mapping[str, int]) -> dict[str, int]:
    """Count errors by failure class, deadline aborts left out."""
    found: dict[str, int] = {}
    for text, amount in errors.items():
        if text != DEADLINE_ABORT and amount:
            name = classify(text)
            found[name] = found.get(name, 0) + amount
    return found


def _by_part(lowered: str, parts: _ErrorParts) -> str | None:
    return next((name for part, name in parts if part in lowered), None)
