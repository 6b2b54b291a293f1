"""From bytes to one report: decoding, noise around the document, bare NaN, cut ends.

Tools print their JSON among other lines (a merged stderr, a trailing log line), in UTF-16 when a Windows shell
redirected it, and cut short when they are killed. What is no report raises InputError with one sentence; what is one
is handed on undigested. Nothing here knows what the fields mean.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weighbridge.errors import InputError, Place
from weighbridge.load.contract.formats import Beside, Format, Formats, Found
from weighbridge.load.contract.reading import ReportReading

_BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}"]', re.DOTALL)
_OBJECT = re.compile(r'\{\s*"')
_BARE = re.compile(r'("(?:[^"\\]|\\.)*")|-?\b(?:nan|inf(?:inity)?)\b', re.IGNORECASE | re.DOTALL)
_WHOLE_PAIR = re.compile(r'"((?:[^"\\]|\\.)*)"\s*:\s*(?:"(?:[^"\\]|\\.)*"|[-+.\w]+)\s*[,}]', re.DOTALL)


class TruncatedReport(InputError):
    """A report that was cut while it was written: how long it is, and the last key that is whole."""

    def __init__(self, file: Path, byte_count: int, last_key: str | None) -> None:
        self.byte_count = byte_count
        self.last_key = last_key
        upto = f", whole up to the key {last_key!r}" if last_key else ""
        super().__init__(
            f"the report is truncated ({byte_count} bytes{upto})",
            place=Place(file),
            expected="no number of a cut report is used; was the tool killed while it wrote, or the disk full?",
        )


def read_as(known: Formats, file: Path, beside: Beside) -> ReportReading:
    """Return the reading of a file; InputError when it is none of these formats, or a cut one."""
    found = open_report(file, known)
    return found.format.read(found, file, beside)


def open_report(file: Path, known: Formats) -> Found:
    """Return the report in `file`, by its content; InputError when there is none, TruncatedReport when it is cut."""
    data = _bytes_of(file)
    for one in known.formats:
        if one.magic is not None and data.startswith(one.magic):
            return Found(one)
    text = _decode(data, file, known)
    if not text.strip():
        raise InputError(
            "is empty: no report", place=Place(file), expected="the tool was killed before it wrote, or still runs"
        )
    for one in known.formats:
        if one.header is not None and text.lstrip().startswith(one.header):
            return Found(one, text=text.lstrip())
    return _document_in(text, file, len(data), known)


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except IsADirectoryError:
        raise InputError("is a folder", place=Place(file), expected="give the file of one report") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", place=Place(file)) from error


def _decode(data: bytes, file: Path, known: Formats) -> str:
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"is no text ({error.reason} at byte {error.start})",
            place=Place(file),
            expected=f"give {known.what}",
        ) from error


def _document_in(text: str, file: Path, byte_count: int, known: Formats) -> Found:
    """Find the one report among whatever else stands in the text."""
    reports: list[tuple[Format, Mapping[str, Any]]] = []
    noise: list[str] = []
    start = kept = 0
    while (start := text.find("{", start)) >= 0:
        end = _closing(text, start)
        if end is None and _OBJECT.match(text, start):
            _refuse_cut(text[start:], file, byte_count)
        document = _parse(text[start:end]) if end is not None else None
        kind = _format_of(document, file, known) if document is not None else None
        if document is not None and kind is not None:
            reports.append((kind, document))
            noise.append(text[kept:start])
            kept = end or start
        start = end if end is not None and document is not None else start + 1
    if len(reports) > 1:
        raise InputError(
            f"holds {len(reports)} reports", place=Place(file), expected="one file, one report: separate them"
        )
    if not reports:
        raise _no_report(text, file, known)
    noise.append(text[kept:])
    lines = tuple(line.strip() for part in noise for line in part.splitlines() if line.strip())
    return Found(reports[0][0], document=reports[0][1], noise=lines)


def _closing(text: str, start: int) -> int | None:
    """Index behind the brace that closes the one at `start`; None when the text ends before."""
    depth = 0
    for token in _TOKEN.finditer(text, start):
        mark = token.group()
        if mark == '"':
            return None
        depth += {"{": 1, "}": -1}.get(mark, 0)
        if depth == 0:
            return token.end()
    return None


def _parse(text: str) -> dict[str, Any] | None:
    """Document in `text` with every non-finite number as None; None when it is no JSON object."""
    for attempt in (text, _BARE.sub(lambda m: m.group(1) or "null", text)):
        try:
            found = json.loads(attempt, parse_constant=lambda _: None)
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None


def _format_of(document: Mapping[str, Any], file: Path, known: Formats) -> Format | None:
    return next((one for one in known.formats if one.claims is not None and one.claims(document, file)), None)


def _refuse_cut(rest: str, file: Path, byte_count: int) -> None:
    keys = _WHOLE_PAIR.findall(rest)
    raise TruncatedReport(file, byte_count, keys[-1] if keys else None)


def _no_report(text: str, file: Path, known: Formats) -> InputError:
    for hint in known.hints:
        if all(word in text for word in hint.words):
            return InputError(hint.problem, place=Place(file), expected=hint.advice)
    if "unable to connect" in text:
        problem = "says that nothing listened, and holds no report"
        return InputError(problem, place=Place(file), expected="start the server and run again")
    return InputError("holds no report", place=Place(file), expected=f"give {known.what}")
