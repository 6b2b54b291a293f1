"""Letters-only marks that travel in texts: the reference in a prompt, the stamps in a response.

Letters, because PII policies hunt for runs of digits. A 64-bit number is written as 16 letters a–p, one for each
nibble; a check letter (sum of the bytes before it, modulo 16) follows, so that a damaged mark is told from a whole
one. The mocks write the same form on their side; the two never import each other.

    weighref   + 16 letters               + check     in the prompt
    weighstamp + 16 letters recv + 16 send + check     in the answer's text, nanoseconds of the provider's clock
    weighchunk + 16 letters send + 4 sequence + check  in each chunk of a stream
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_LETTERS = "abcdefghijklmnop"
_STAMP = re.compile(r"weighstamp([a-p]{16})([a-p]{16})([a-p])")
_CHUNK = re.compile(r"weighchunk([a-p]{16})([a-p]{4})([a-p])")
_REFERENCE = re.compile(r"weighref([a-p]{16})([a-p])")
_TO_HEX = str.maketrans(_LETTERS, "0123456789abcdef")
_SIGN = 1 << 63
REFERENCE_WORD = "weighref"
STAMP_WORD = "weighstamp"
CHUNK_WORD = "weighchunk"


@dataclass(frozen=True)
class Stamp:
    """When the provider had read a whole request and when it began to respond, ns of its monotonic clock."""

    recv_ns: int
    send_ns: int


@dataclass(frozen=True)
class ChunkStamp:
    """When the provider sent a chunk, and its number from 0."""

    send_ns: int
    sequence: int


def letters(number: int, width: int = 16) -> str:
    """Return `width` letters a–p for the lowest nibbles of a number, highest first."""
    return "".join(_LETTERS[(number >> (4 * place)) & 15] for place in reversed(range(width)))


def check_letter(text: str) -> str:
    """Return the letter that follows `text` in a mark."""
    return _LETTERS[sum(text.encode("ascii")) % 16]


def reference(number: int) -> str:
    """Return the mark of one prompt."""
    mark = REFERENCE_WORD + letters(number)
    return mark + check_letter(mark)


def signed_number(text: str) -> int:
    """Return the number of 16 letters as tables keep it: 64 bits with a sign; ValueError for other letters."""
    number = _number(text)
    return number - 2 * _SIGN if number >= _SIGN else number


def find_reference(text: str) -> int | None:
    """Return the number of the first whole reference in a text; None without one."""
    for match in _REFERENCE.finditer(text):
        if check_letter(match.group(0)[:-1]) == match.group(2):
            return _number(match.group(1))
    return None


def find_stamp(text: str) -> Stamp | None:
    """Return the stamp in a text; None when there is none that is whole."""
    for match in _STAMP.finditer(text):
        if check_letter(match.group(0)[:-1]) == match.group(3):
            return Stamp(_number(match.group(1)), _number(match.group(2)))
    return None


def find_chunks(text: str) -> tuple[ChunkStamp, ...]:
    """Return every whole chunk stamp in a text, in its order."""
    return tuple(
        ChunkStamp(_number(match.group(1)), _number(match.group(2)))
        for match in _CHUNK.finditer(text)
        if check_letter(match.group(0)[:-1]) == match.group(3)
    )


def _number(text: str) -> int:
    return int(text.translate(_TO_HEX), 16)
