"""From bytes to one report: decoding, noise around the document, bare NaN, cut ends.

Called by `read`. Tools print their JSON among other lines (a merged stderr, a trailing log line), in UTF-16 when a
Windows shell redirected it, and cut short when they are killed. What is no report raises InputError with one
sentence; what is one is handed on undigested. Nothing here knows what the fields mean.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from weighbridge.errors import InputError, Place

Kind = Literal["oha-json", "oha-csv", "oha-sqlite", "wrk-json", "wrk-samples", "probe-json"]

OHA_CSV_HEADER = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status"
WRK_CSV_HEADER = "slot,scheduled_us,sent_us,done_us,status"
WRK_SCHEMA = "wrk-lua/1"
PROBE_SCHEMA = "weighbridge.probe/1"

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


@dataclass(frozen=True)
class Found:
    """What a file holds: its kind, the decoded text or document, and the noise that stood around it."""

    kind: Kind
    text: str = ""
    document: Mapping[str, Any] | None = None
    noise: tuple[str, ...] = ()


def open_report(file: Path) -> Found:
    """The report in `file`, by its content; InputError when there is none, TruncatedReport when it is cut."""
    data = _bytes_of(file)
    if data.startswith(b"SQLite format 3\0"):
        return Found("oha-sqlite")
    text = _decode(data, file)
    if not text.strip():
        raise InputError(
            "is empty: no report", place=Place(file), expected="the tool was killed before it wrote, or still runs"
        )
    for kind, header in _TABLES:
        if text.lstrip().startswith(header):
            return Found(kind, text=text.lstrip())
    return _document_in(text, file, len(data))


_TABLES: tuple[tuple[Kind, str], ...] = (("oha-csv", OHA_CSV_HEADER), ("wrk-samples", WRK_CSV_HEADER))


def _bytes_of(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except IsADirectoryError:
        raise InputError("is a folder", place=Place(file), expected="give the file of one report") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", place=Place(file)) from error


def _decode(data: bytes, file: Path) -> str:
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        raise InputError(
            f"is no text ({error.reason} at byte {error.start})",
            place=Place(file),
            expected="give a report of oha or wrk in JSON or CSV, or a SQLite file of oha",
        ) from error


def _document_in(text: str, file: Path, byte_count: int) -> Found:
    """The one report among whatever else stands in the text."""
    reports: list[tuple[Kind, Mapping[str, Any]]] = []
    noise: list[str] = []
    start = kept = 0
    while (start := text.find("{", start)) >= 0:
        end = _closing(text, start)
        if end is None and _OBJECT.match(text, start):
            _refuse_cut(text[start:], file, byte_count)
        document = _parse(text[start:end]) if end is not None else None
        kind = _kind_of(document, file) if document is not None else None
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
        raise _no_report(text, file)
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


def _kind_of(document: Mapping[str, Any], file: Path) -> Kind | None:
    schema = document.get("schema")
    if isinstance(schema, str) and schema.startswith("wrk-lua/"):
        if schema != WRK_SCHEMA:
            raise InputError(f"is written as {schema!r}", place=Place(file), expected=f"only {WRK_SCHEMA} is known")
        return "wrk-json"
    if isinstance(schema, str) and schema.startswith("weighbridge.probe/"):
        if schema != PROBE_SCHEMA:
            raise InputError(f"is written as {schema!r}", place=Place(file), expected=f"only {PROBE_SCHEMA} is known")
        return "probe-json"
    maps = ("statusCodeDistribution", "errorDistribution", "latencyPercentiles", "responseTimeHistogram")
    summary = document.get("summary")
    is_oha = isinstance(summary, dict) and any(isinstance(document.get(name), dict) for name in maps)
    return "oha-json" if is_oha else None


def _refuse_cut(rest: str, file: Path, byte_count: int) -> None:
    keys = _WHOLE_PAIR.findall(rest)
    raise TruncatedReport(file, byte_count, keys[-1] if keys else None)


def _no_report(text: str, file: Path) -> InputError:
    advice = "give a report of oha or wrk in JSON or CSV, or a SQLite file of oha"
    problem = "holds no report"
    if "Success rate:" in text and "Requests/sec:" in text:
        problem, advice = "is oha's text for people", "run oha with --output-format json (-j before 1.9.0)"
    elif "Thread Stats" in text:
        problem = "is wrk's text without the JSON line of a script"
        advice = (
            "the script was missing or broken, so this was a closed-loop flood and not a rate: fix it and run again"
        )
    elif "unable to connect" in text:
        problem, advice = "says that nothing listened, and holds no report", "start the server and run again"
    return InputError(problem, place=Place(file), expected=advice)
