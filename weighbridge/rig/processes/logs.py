"""The beginning and the end of a log, fit to be kept and shown: secrets masked, control characters removed.

Called for records and error sentences. It must not fail: a log that cannot be read gives an empty text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

MASK = "[secret]"
_SHOWN_BYTES = 64 * 1024
_LINE_CHARACTERS = 1_000
_TERMINAL_SEQUENCES = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def tail(path: Path, secrets: Sequence[str], lines: int = 40) -> str:
    """Return the last lines of a log, without secrets; empty when there is none."""
    margin = _margin(secrets)
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            # Read a secret's length more than is shown, so that the cut cannot leave half of one.
            file.seek(max(0, size - _SHOWN_BYTES - margin))
            data = file.read(_SHOWN_BYTES + margin)
    except OSError:
        return ""
    text = clean(data, secrets)
    if size > len(data):
        text = text[margin:].partition("\n")[2] or text[margin:]
    return _lines(text.splitlines()[-lines:])


def head(path: Path, secrets: Sequence[str], lines: int = 40) -> str:
    """Return the first lines of a log, without secrets; empty when there is none."""
    margin = _margin(secrets)
    try:
        with path.open("rb") as file:
            data = file.read(_SHOWN_BYTES + margin)
    except OSError:
        return ""
    text = clean(data, secrets)
    if len(data) == _SHOWN_BYTES + margin:
        text = text[: len(text) - margin]  # the cut may have left half a secret
    return _lines(text.splitlines()[:lines])


def clean(data: bytes, secrets: Sequence[str]) -> str:
    """Text of some output: escape sequences and control characters removed, secrets masked."""
    text = _TERMINAL_SEQUENCES.sub("", data.decode(errors="replace").replace("\r\n", "\n"))
    text = "".join(c for c in text if c in "\n\t" or unicodedata.category(c) not in ("Cc", "Cf"))
    for secret in _longest_first(secrets):
        text = text.replace(secret, MASK)
    return text


def mask(data: bytes, secrets: Sequence[str]) -> bytes:
    """Return the same bytes with secrets masked and nothing else changed."""
    for secret in _longest_first(secrets):
        data = data.replace(secret.encode(), MASK.encode())
    return data


def _longest_first(secrets: Sequence[str]) -> list[str]:
    return sorted({secret for secret in secrets if secret}, key=len, reverse=True)


def _margin(secrets: Sequence[str]) -> int:
    return max((len(secret.encode()) for secret in secrets), default=0)


def _lines(lines: Sequence[str]) -> str:
    return "\n".join(line[:_LINE_CHARACTERS] for line in lines)
