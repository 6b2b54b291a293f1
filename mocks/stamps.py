"""Letters-only references and stamps: written into texts, found in them, checked.

Letters, because policies hunt for runs of digits: the nibbles of a 64-bit big-endian number are mapped to a–p, a
marker word stands before them, and a check letter after them is the sum of all bytes before it modulo 16. What is
damaged is never decoded.

    weighref   + 16 letters + check                                 in a prompt
    weighstamp + 16 letters received + 16 letters sent + check      in an answer's text
    weighchunk + 16 letters sent + 4 letters sequence + check       in each chunk's text
"""

from __future__ import annotations

from dataclasses import dataclass

REFERENCE_MARK = b"weighref"
STAMP_MARK = b"weighstamp"
CHUNK_MARK = b"weighchunk"

NUMBER_LETTERS = 16
SEQUENCE_LETTERS = 4
REFERENCE_BYTES = len(REFERENCE_MARK) + NUMBER_LETTERS + 1
STAMP_BYTES = len(STAMP_MARK) + 2 * NUMBER_LETTERS + 1
CHUNK_BYTES = len(CHUNK_MARK) + NUMBER_LETTERS + SEQUENCE_LETTERS + 1
SEQUENCE_LIMIT_COUNT = 16**SEQUENCE_LETTERS

_LETTERS = b"abcdefghijklmnop"
_HEX = b"0123456789abcdef"
_TO_LETTERS = bytes.maketrans(_HEX, _LETTERS)
# Everything but a–p becomes a sign that int() refuses, so capitals, digits and other letters are never decoded.
_TO_HEX = bytes(_HEX[_LETTERS.index(byte)] if byte in _LETTERS else ord("!") for byte in range(256))


@dataclass(frozen=True, slots=True)
class Stamp:
    """When the provider had read the request and when it began to respond, on its monotonic clock."""

    recv_ns: int
    send_ns: int


@dataclass(frozen=True, slots=True)
class ChunkStamp:
    """When a chunk was sent, and its place in the stream from 0."""

    send_ns: int
    sequence: int


def encode_number(number: int, letters: int = NUMBER_LETTERS) -> bytes:
    """Return `number` in so many letters a–p, most significant first."""
    return (b"%0*x" % (letters, number)).translate(_TO_LETTERS)


def decode_number(letters: bytes) -> int | None:
    """Return the number that letters a–p stand for; None when anything else is among them."""
    try:
        return int(letters.translate(_TO_HEX), 16)
    except ValueError:
        return None


def check_letter(text: bytes) -> bytes:
    """Return the letter that must follow `text`."""
    place = sum(text) & 15
    return _LETTERS[place : place + 1]


def encode_reference(number: int) -> bytes:
    """Return a prompt's reference, marker and check letter included."""
    text = REFERENCE_MARK + encode_number(number)
    return text + check_letter(text)


def encode_stamp(recv_ns: int, send_ns: int) -> bytes:
    """Return an answer's stamp, marker and check letter included."""
    return finish_stamp(begin_stamp(recv_ns), send_ns)


def begin_stamp(recv_ns: int) -> bytes:
    """Return the part of a stamp that is known before the response is due."""
    return STAMP_MARK + encode_number(recv_ns)


def finish_stamp(begun: bytes, send_ns: int) -> bytes:
    """Return the whole stamp out of its begun part."""
    text = begun + (b"%016x" % send_ns).translate(_TO_LETTERS)
    return text + check_letter(text)


def encode_chunk_stamp(send_ns: int, sequence: int) -> bytes:
    """Return a chunk's stamp, marker and check letter included. `sequence` counts from 0 and stays below 65,536."""
    text = CHUNK_MARK + (b"%016x%04x" % (send_ns, sequence)).translate(_TO_LETTERS)
    return text + check_letter(text)


def find_reference(text: bytes) -> bytes | None:
    """Return the 16 letters of the first undamaged reference in `text`; None without one."""
    found = _find(text, REFERENCE_MARK, REFERENCE_BYTES)
    return found[0] if found else None


def find_stamp(text: bytes) -> Stamp | None:
    """Return the first undamaged stamp in an answer's text; None without one."""
    found = _find(text, STAMP_MARK, STAMP_BYTES)
    if found is None:
        return None
    recv_ns, send_ns = decode_number(found[0][:NUMBER_LETTERS]), decode_number(found[0][NUMBER_LETTERS:])
    return None if recv_ns is None or send_ns is None else Stamp(recv_ns, send_ns)


def find_chunk_stamps(text: bytes) -> list[ChunkStamp]:
    """All undamaged chunk stamps in `text`, in their order there."""
    stamps: list[ChunkStamp] = []
    start = 0
    while found := _find(text, CHUNK_MARK, CHUNK_BYTES, start):
        letters, start = found
        send_ns, sequence = decode_number(letters[:NUMBER_LETTERS]), decode_number(letters[NUMBER_LETTERS:])
        if send_ns is not None and sequence is not None:
            stamps.append(ChunkStamp(send_ns, sequence))
    return stamps


def _find(text: bytes, mark: bytes, length: int, start: int = 0) -> tuple[bytes, int] | None:
    """Letters of the first undamaged code from `start` on, and where it ends."""
    while (place := text.find(mark, start)) >= 0:
        end = place + length
        letters = text[place + len(mark) : end - 1]
        if text[end - 1 : end] == check_letter(text[place : end - 1]) and decode_number(letters) is not None:
            return letters, end
        start = place + len(mark)
    return None
