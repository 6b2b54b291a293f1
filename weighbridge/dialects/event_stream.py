"""Server-sent events out of bytes, by the rules of the WHATWG, whatever the pieces in which the bytes came.

A line ends with CR LF, LF or CR, and with nothing else. Two things differ from a browser, for what is read here is
evidence: a last event without its blank line is an event all the same, since servers forget it, and an event whose
`data` is empty is passed over like a comment, unless it has a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

CONTENT_TYPE = "text/event-stream"
_BOM = b"\xef\xbb\xbf"


def read_events(parts: Iterable[tuple[int, bytes]]) -> Iterator[tuple[int, bytes, bytes]]:
    """Yield number, name and data of each event; its number is that of the part that brought its blank line."""
    rest, number = b"", -1
    is_start, skips_lf = True, False
    for number, part in parts:
        rest += part.removeprefix(b"\n") if skips_lf else part
        skips_lf = skips_lf and not part
        if is_start:
            if len(rest) < len(_BOM) and _BOM.startswith(rest):
                continue
            rest, is_start = rest.removeprefix(_BOM), False
        if b"\r" in rest:
            # A CR at the very end may be half of a line end, so it waits for its LF; of two CR the second is none.
            skips_lf = rest.endswith(b"\r\r")
            waits = rest.endswith(b"\r") and not skips_lf
            rest = _with_lf(rest[:-1]) + b"\r" if waits else _with_lf(rest)
        *blocks, rest = rest.split(b"\n\n")
        if blocks:
            yield from _events(blocks, number)
    yield from _events(_with_lf(rest).split(b"\n\n"), number)


def _with_lf(text: bytes) -> bytes:
    return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _events(blocks: Sequence[bytes], number: int) -> Iterator[tuple[int, bytes, bytes]]:
    for block in blocks:
        if block.startswith(b"data: ") and b"\n" not in block:  # nearly all are so
            data, name = block[6:], b""
        else:
            name, data = _fields(block)
        if data or name:
            yield number, name, data


def _fields(block: bytes) -> tuple[bytes, bytes]:
    """Return name and data of one event; both are empty where it has no data."""
    name, data = b"", []
    for line in block.split(b"\n"):
        field, _, value = line.partition(b":")
        if field == b"data":
            data.append(value.removeprefix(b" "))
        elif field == b"event":
            name = value.removeprefix(b" ")
    return (name, b"\n".join(data)) if data else (b"", b"")
