"""Strict YAML: a file becomes plain data and, beside it, the place of every key and value.

The event stream of PyYAML is read, never its constructors: nothing is built but mappings with text keys, lists, text,
numbers, true, false and null. Anchors, aliases, tags, merge keys, directives, duplicate keys and second documents are
refused where they stand, before anything is expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import yaml
from yaml.events import (
    AliasEvent,
    CollectionStartEvent,
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from weighbridge.errors import InputError, Place

KeyPath = tuple[str | int, ...]
Data = dict[str, Any] | list[Any] | str | int | float | bool | None

SIZE_LIMIT_BYTES = 1024 * 1024
DEPTH_LIMIT = 24

_INTEGER = re.compile(r"[-+]?(0|[1-9][0-9]*)", re.ASCII)
_FLOAT = re.compile(r"[-+]?(0|[1-9][0-9]*)\.[0-9]+([eE][-+]?[0-9]+)?", re.ASCII)
_NOT_A_NUMBER = re.compile(r"[-+]?\.?(nan|inf|infinity)", re.ASCII | re.IGNORECASE)
# Escapes can still write what no argument, file name or JSON text can hold.
_UNUSABLE = re.compile("[\x00\ud800-\udfff]")
_PLAIN_SCALARS: dict[str, bool | None] = {"": None, "null": None, "true": True, "false": False}


@dataclass(frozen=True)
class Spot:
    """Where something stands: 1-based line and column of its key (of itself in a list) and of its value."""

    key: tuple[int, int]
    value: tuple[int, int]
    written: str | None = None


@dataclass(frozen=True)
class YamlText:
    """A file that was read: its bytes, its data, and the spot of every key path."""

    file: Path
    text: bytes
    data: Data
    spots: dict[KeyPath, Spot]

    def place(self, path: KeyPath, *, at_key: bool = False, shown: KeyPath | None = None) -> Place:
        """Place of the value (or of the key) at `path`, of its nearest parent when the file has none there."""
        known = path
        while known not in self.spots and known:
            known = known[:-1]
        spot = self.spots.get(known, Spot((1, 1), (1, 1)))
        line, column = spot.key if at_key else spot.value
        return Place(self.file, line, column, path_text(path if shown is None else shown) or None)


def path_text(path: KeyPath) -> str:
    """Key path as people write it: `loads.rate.per_second[2]`."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
            continue
        shown = part if part.isprintable() else repr(part)[1:-1]
        text += f".{shown}" if text else shown
    return text


def read_yaml(file: Path, text: bytes) -> YamlText:
    """Read data and places of one strict YAML document; InputError with file, line and column otherwise."""
    return _YamlReader(file, text).read()


def decode(file: Path, text: bytes) -> str:
    """Text of a UTF-8 file; InputError with the line of the first byte that is not UTF-8."""
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = text[: error.start]
        line = before.count(b"\n") + 1
        column = len(before.rpartition(b"\n")[2].decode("utf-8", "replace")) + 1
        place = Place(file, line, column)
        problem = f"byte 0x{text[error.start]:02x} is not UTF-8"
        raise InputError(problem, place=place, expected="expected UTF-8 text") from None


class _YamlReader:
    """One pass over the events of one file."""

    def __init__(self, file: Path, text: bytes) -> None:
        self.file = file
        self.bytes = text
        self.spots: dict[KeyPath, Spot] = {}
        if len(text) > SIZE_LIMIT_BYTES:
            raise InputError("is larger than 1 MiB", place=Place(file), expected="expected a short YAML file")
        self.characters = decode(file, text)
        self.events: Iterator[Event] = iter(yaml.parse(self.characters, Loader=yaml.SafeLoader))

    def read(self) -> YamlText:
        self._next()  # the start of the stream
        start = self._next()
        if not isinstance(start, DocumentStartEvent):
            raise InputError("is empty", place=Place(self.file), expected="expected a mapping of keys and values")
        if start.version or start.tags:
            self._refuse(start, "starts with a YAML directive (%YAML or %TAG)", "expected plain YAML without one")
        data = self._value((), self._next(), None)
        end = self._next()
        following = self._next()
        if not isinstance(end, DocumentEndEvent) or not isinstance(following, StreamEndEvent):
            self._refuse(following, "holds a second YAML document", "expected one document in a file")
        return YamlText(self.file, self.bytes, data, self.spots)

    def _next(self) -> Event:
        try:
            return next(self.events)
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            place = Place(self.file, mark.line + 1, mark.column + 1) if mark else Place(self.file)
            raise InputError(*_explained(error), place=place) from None
        except yaml.reader.ReaderError as error:
            before = self.characters[: error.position]
            place = Place(self.file, before.count("\n") + 1, len(before.rpartition("\n")[2]) + 1)
            sign = self.characters[error.position : error.position + 1]
            problem = f"holds the control character U+{ord(sign):04X}" if sign else "holds a control character"
            raise InputError(problem, place=place, expected="expected printable text") from None

    def _value(self, path: KeyPath, event: Event, key_event: Event | None) -> Data:
        """Read the data that starts with `event`; its spot is kept under `path`."""
        if len(path) > DEPTH_LIMIT:
            self._refuse(event, f"is nested more than {DEPTH_LIMIT} levels deep", "expected a flat file")
        self._refuse_sharing(event, path)
        written = event.value if isinstance(event, ScalarEvent) else None
        self.spots[path] = Spot(_position(key_event or event), _position(event), written)
        if isinstance(event, ScalarEvent):
            return self._scalar(path, event)
        if isinstance(event, SequenceStartEvent):
            items: list[Any] = []
            while not isinstance(item := self._next(), SequenceEndEvent):
                items.append(self._value((*path, len(items)), item, None))
            return items
        mapping: dict[str, Any] = {}
        while not isinstance(key := self._next(), MappingEndEvent):
            name = self._key(path, key, mapping)
            mapping[name] = self._value((*path, name), self._next(), key)
        return mapping

    def _key(self, path: KeyPath, event: Event, mapping: dict[str, Any]) -> str:
        self._refuse_sharing(event, path)
        if not isinstance(event, ScalarEvent):
            self._refuse(event, "a mapping or list stands where a key is expected", "expected a plain word", path)
        name = str(event.value)
        if _UNUSABLE.search(name):
            self._refuse(event, "holds a character that no text may hold", "expected printable text", path)
        if name == "<<" and event.style is None:
            self._refuse(event, "merge keys (<<) are not allowed", "expected each key written out", path)
        if name in mapping:
            first = self.spots[(*path, name)].key[0]
            self._refuse(event, f"is given twice, first in line {first}", "expected each key once", (*path, name))
        return name

    def _scalar(self, path: KeyPath, event: ScalarEvent) -> Data:
        text = str(event.value)
        if _UNUSABLE.search(text):
            self._refuse(event, "holds a character that no text may hold", "expected printable text", path)
        if event.style is not None:
            return text
        if text in _PLAIN_SCALARS:
            return _PLAIN_SCALARS[text]
        if _INTEGER.fullmatch(text):
            if len(text.lstrip("+-")) > 18:
                self._refuse(event, "is a number with more than 18 digits", "expected a smaller number", path)
            return int(text)
        if _FLOAT.fullmatch(text):
            number = float(text)
            if number in (float("inf"), float("-inf")):
                self._refuse(event, f"{text} is larger than any number here", "expected a finite number", path)
            return number
        if _NOT_A_NUMBER.fullmatch(text):
            self._refuse(event, f"{text} is not a number that can be measured", "expected a finite number", path)
        return text

    def _refuse_sharing(self, event: Event, path: KeyPath) -> None:
        if isinstance(event, AliasEvent):
            self._refuse(event, f"aliases (*{event.anchor}) are not allowed", "expected the value written out", path)
        if not isinstance(event, (ScalarEvent, CollectionStartEvent)):
            return
        if event.anchor:
            self._refuse(event, f"anchors (&{event.anchor}) are not allowed", "expected the value alone", path)
        if event.tag:
            tag = event.tag.replace("tag:yaml.org,2002:", "!!")
            self._refuse(event, f"tags ({tag}) are not allowed", "expected the value alone", path)

    def _refuse(self, event: Event, problem: str, expected: str, path: KeyPath = ()) -> NoReturn:
        line, column = _position(event)
        place = Place(self.file, line, column, path_text(path) or None)
        raise InputError(problem, place=place, expected=expected)


def _position(event: Event) -> tuple[int, int]:
    mark = event.start_mark
    return (mark.line + 1, mark.column + 1) if mark else (1, 1)


def _explained(error: yaml.MarkedYAMLError) -> tuple[str, ...]:
    problem = (error.problem or "is not readable").replace("\n", " ")
    if "'\\t'" in problem:
        return ("is not YAML: a tab stands where spaces are expected",)
    context = f" {error.context}" if error.context else ""
    if context and error.context_mark and error.problem_mark and error.context_mark.line != error.problem_mark.line:
        context += f" that starts in line {error.context_mark.line + 1}"
    return (f"is not YAML:{context}{context and ','} {problem}",)
