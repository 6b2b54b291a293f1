"""Answers in the chat dialect, good and bad, as every reader of them must judge: bodies, and whole HTTP responses."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

JSON = "application/json"
SSE = "text/event-stream"


def data(document: object) -> bytes:
    """An event with that document."""
    return b"data: " + json.dumps(document).encode() + b"\n\n"


def chunk(delta: object, finish: str | None = None, **more: Any) -> bytes:
    """A chunk whose one choice has that delta."""
    return data({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})


USED = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
FIRST, SECOND = chunk({"role": "assistant", "content": "the river"}), chunk({"content": " runs"})
STOP, DONE = chunk({}, "stop"), b"data: [DONE]\n\n"
WHOLE = FIRST + SECOND + STOP + DONE
PLAIN = json.dumps(
    {"choices": [{"index": 0, "message": {"role": "assistant", "content": "the river runs"}}]}
).encode()


class Body(NamedTuple):
    """One body: its name, its kind, its bytes, and its text, or None for a body that is not good."""

    name: str
    kind: str
    body: bytes
    text: str | None = "the river runs"


def _between(*events: bytes) -> bytes:
    return FIRST + b"".join(events) + SECOND + STOP + b"".join(events) + DONE


_EVENTS_WITHOUT_CONTENT = {
    "no choices": data({"usage": USED}),
    "no choices and nothing else": data({}),
    "choices null": data({"choices": None}),
    "choices empty, usage": data({"choices": [], "usage": USED}),
    "choices an object": data({"choices": {}}),
    "a choice of null": data({"choices": [None]}),
    "no delta": data({"choices": [{"index": 0}]}),
    "delta null": chunk(None),
    "delta empty": chunk({}),
    "content null": chunk({"content": None}),
    "content empty": chunk({"content": ""}),
    "role only": chunk({"role": "assistant"}),
    "error null": data({"error": None, "choices": []}),
    "usage null": data({"usage": None, "choices": []}),
    "a comment": b": still here\n\n",
    "a comment before an event": b": still here\n" + data({}),
    "a comment without text": b":\n\n",
    "id and retry": b"id: 7\nretry: 1000\n\n",
    "an id with data": b"id: 7\nretry: x\n" + data({}),
    "a named event": b"event: ping\n" + data({"type": "ping"}),
    "a name without data": b"event: ping\n\n",
    "an unknown field": b"colour: blue\n\n",
    "an unknown field in capitals": b"Data: {no json\n\n",
    "a field without colon": b"retry\n\n",
    "empty data": b"data:\n\n",
    "empty data without colon": b"data\n\n",
    "blank data": b"data:  \n\n",
    "many blank lines": b"\n\n\n\n\n",
    "several data lines": b'data: {"choices":\ndata: []}\n\n',
    "data around an id": b'data: {"choices":\nid: 7\ndata:[]}\n\n',
    "no blank": b'data:{"choices":[]}\n\n',
    "more blanks": b'data:   {"choices" : [] }  \n\n',
    "a mark within": b"\xef\xbb\xbf: hello\n\n",
}
GOOD = [
    *(Body(f"stream, {name}", "stream", _between(event)) for name, event in _EVENTS_WITHOUT_CONTENT.items()),
    Body("stream", "stream", WHOLE),
    Body("stream, CR LF", "stream", WHOLE.replace(b"\n", b"\r\n")),
    Body("stream, CR", "stream", WHOLE.replace(b"\n", b"\r")),
    Body("stream, CR LF, then LF, then CR", "stream", FIRST.replace(b"\n", b"\r\n") + SECOND + b"data: [DONE]\r\r"),
    Body("stream, mark at its start", "stream", b"\xef\xbb\xbf" + WHOLE),
    Body("stream, no blank", "stream", WHOLE.replace(b"data: ", b"data:")),
    Body("stream, blanks around the end marker", "stream", FIRST + SECOND + b"data:  [DONE] \n\n"),
    Body("stream, no blank before the end marker", "stream", FIRST + SECOND + b"data:[DONE]\n\n"),
    Body("stream, no blank line at its end", "stream", WHOLE[:-2]),
    Body("stream, one line end at its end", "stream", WHOLE[:-1]),
    Body("stream, no end marker", "stream", FIRST + SECOND + STOP),
    Body("stream, no finish_reason", "stream", FIRST + SECOND + DONE),
    Body("stream, reason on the last content", "stream", FIRST + chunk({"content": " runs"}, "length")),
    Body("stream, usage behind the reason", "stream", FIRST + SECOND + STOP + data({"usage": USED}) + DONE),
    Body("stream, usage behind the marker", "stream", WHOLE + data({"usage": USED})),
    Body(
        "stream, line signs in a text",
        "stream",
        WHOLE.replace(b'" runs"', '" \u2028\u2029\x85"'.encode()),
        "the river \u2028\u2029\x85",
    ),
    Body("stream, no UTF-8 in a text", "stream", WHOLE.replace(b'" runs"', b'" \xc3"'), "the river \ufffd"),
    Body("stream, half a pair", "stream", WHOLE.replace(b'" runs"', b'" \\ud83d"'), "the river \ud83d"),
    Body("stream, reasoning", "stream", WHOLE.replace(b'"content": " runs"', b'"reasoning_content": " runs"')),
    Body("plain", "plain", PLAIN),
    Body("plain, mark before it", "plain", b"\xef\xbb\xbf" + PLAIN),
    Body("plain, white space around it", "plain", b"\r\n\t " + PLAIN + b" \r\n\n"),
    Body("plain, with usage", "plain", PLAIN[:-1] + b', "usage": ' + json.dumps(USED).encode() + b"}"),
    Body("plain, error null", "plain", PLAIN[:-1] + b', "error": null}'),
    Body("plain, content null", "plain", PLAIN.replace(b'"the river runs"', b"null"), ""),
    Body("plain, no content", "plain", b'{"choices": [{"message": {"role": "assistant"}}]}', ""),
    Body("plain, parts", "plain", PLAIN.replace(b'"the river runs"', b'["a"]'), '["a"]'),
]
_ERROR = {"error": {"message": "budget exceeded", "code": 429}}
ERRORS = [
    Body("plain, error", "plain", json.dumps(_ERROR).encode()),
    Body("plain, error of text", "plain", b'{"error": "budget exceeded"}'),
    Body("plain, error beside choices", "plain", json.dumps({**json.loads(PLAIN), **_ERROR}).encode()),
    Body("plain, error in a choice", "plain", json.dumps({"choices": [_ERROR]}).encode()),
    Body("plain, error object", "plain", b'{"object": "error", "message": "budget exceeded"}'),
    Body("stream, error", "stream", FIRST + data(_ERROR) + DONE),
    Body("stream, error first", "stream", data(_ERROR)),
    Body("stream, error event", "stream", FIRST + b"event: error\n" + data(_ERROR)),
    Body("stream, error event of text", "stream", FIRST + b"event:error\r\ndata: budget exceeded\r\n\r\n"),
    Body("stream, error object", "stream", data({"object": "error", "message": "budget exceeded"}) + WHOLE),
    Body("stream, error behind the reason", "stream", FIRST + STOP + data(_ERROR) + DONE),
]
BROKEN = [
    Body("plain, nothing", "plain", b"", None),
    Body("plain, a page", "plain", b"<html>login</html>", None),
    Body("plain, cut", "plain", PLAIN[:-3], None),
    Body("plain, two", "plain", PLAIN + PLAIN, None),
    Body("plain, a list", "plain", b"[]", None),
    Body("plain, null", "plain", b"null", None),
    Body("plain, no choices", "plain", b"{}", None),
    Body("plain, no choice", "plain", b'{"choices": []}', None),
    Body("plain, no message", "plain", b'{"choices": [{"index": 0}]}', None),
    Body("plain, message of text", "plain", b'{"choices": [{"message": "the river"}]}', None),
    Body("plain, no UTF-8", "plain", PLAIN.replace(b"river", b"riv\xc3"), None),
    Body("plain, deep", "plain", b"[" * 90_000, None),
    Body("stream, no JSON", "stream", _between(b"data: {no json\n\n"), None),
    Body("stream, a comment as data", "stream", _between(b"data: : PROCESSING\n\n"), None),
    Body("stream, a list", "stream", _between(b"data: []\n\n"), None),
    Body("stream, null", "stream", _between(b"data: null\n\n"), None),
    Body("stream, an event cut by a blank line", "stream", _between(b'data: {"choices":\n\ndata: []}\n\n'), None),
    Body("stream, two documents in one event", "stream", _between(b"data: {}\ndata: {}\n\n"), None),
    Body("stream, a last piece", "stream", WHOLE + FIRST[:30], None),
]
UNFIT = [
    Body("plain, no text", "plain", PLAIN.replace(b"the river runs", b""), None),
    Body("stream, nothing", "stream", b"", None),
    Body("stream, only its end", "stream", STOP + DONE, None),
    Body("stream, only comments", "stream", b": a\n\n: b\n\n", None),
    Body("stream, JSON in its place", "stream", PLAIN, None),
    Body("stream, no end", "stream", FIRST + SECOND, None),
]


class Whole(NamedTuple):
    """One response as it stands on the wire, and whether it is good; the connection is closed behind it."""

    name: str
    kind: str
    raw: bytes
    is_good: bool = True


def answer(body: bytes, *headers: bytes, status: bytes = b"200 OK", version: bytes = b"1.1") -> bytes:
    """A response with these headers and no others."""
    return b"\r\n".join([b"HTTP/" + version + b" " + status, *headers, b"", body])


def length(body: bytes) -> bytes:
    """The header of its length."""
    return b"content-length: %d" % len(body)


def _chunked(body: bytes, size: int, *, extension: bytes = b"", trailer: bytes = b"") -> bytes:
    pieces = [body[place : place + size] for place in range(0, len(body), size)]
    framed = b"".join(b"%x%b\r\n%b\r\n" % (len(piece), extension, piece) for piece in pieces)
    return framed + b"0\r\n" + trailer + b"\r\n"


_TYPE = {"plain": b"content-type: application/json", "stream": b"content-type: text/event-stream"}
_BODY = {"plain": PLAIN, "stream": WHOLE}


def _wire(kind: str) -> list[Whole]:
    body, type_ = _BODY[kind], _TYPE[kind]
    size, chunked = length(body), b"transfer-encoding: chunked"
    upper = type_.upper().replace(b"CONTENT-TYPE: ", b"Content-Type:")
    early = answer(b"", b"link: </a>; rel=preload", b"content-type: text/html", status=b"103 Early Hints")
    cases = {
        "length": answer(body, type_, size),
        "chunks": answer(_chunked(body, 7), type_, chunked),
        "chunks of one byte": answer(_chunked(body, 1), type_, b"Transfer-Encoding:Chunked"),
        "chunks with extensions": answer(_chunked(body, 50, extension=b";a=b;c"), type_, chunked),
        "a trailer": answer(_chunked(body, 50, trailer=b"x-cost: 1\r\n"), type_, chunked, b"trailer: x-cost"),
        "until the end": answer(body, type_),
        "until the end, HTTP/1.0": answer(body, type_, version=b"1.0"),
        "connection: close": answer(body, type_, size, b"connection: close"),
        "capitals": answer(body, upper, size.upper()),
        "a charset": answer(body, type_ + b"; charset=utf-8", size),
        "a charset in quotes": answer(body, type_ + b' ;Charset="UTF-8"; a=b;', size),
        "blanks around values": answer(body, type_.replace(b": ", b": \t ") + b"  ", size + b" \t"),
        "type twice": answer(body, b"content-type: text/plain", type_, size),
        "no reason phrase": answer(body, type_, size, status=b"200 "),
        "no reason phrase and no blank": answer(body, type_, size, status=b"200"),
        "201": answer(body, type_, size, status=b"201 Created"),
        "203": answer(body, type_, size, status=b"203 Non-Authoritative Information"),
        "100 before it": answer(b"", status=b"100 Continue") + answer(body, type_, size),
        "103 before it": early + answer(body, type_, size),
        "102, 103 and 100 before it": answer(b"", status=b"102 Processing") + early
        + answer(b"", status=b"100 Continue") + answer(_chunked(body, 50), type_, chunked),
        "many headers": answer(body, type_, size, *(b"x-%d: y" % n for n in range(300))),
        "a long header": answer(body, type_, size, b"x: " + b"y" * 70_000),
        "empty and odd headers": answer(body, b"x-empty:", b"x-high: \xe9\xff", b"From: a", b"!#$: b", type_, size),
        "an upgrade on offer": answer(body, type_, size, b"upgrade: h2c", b"connection: upgrade"),
        "identity": answer(body, type_, size, b"content-encoding: identity"),
        "an empty line before it": b"\r\n" + answer(body, type_, size),
    }  # fmt: skip
    bad = {
        "404": answer(body, type_, size, status=b"404 Not Found"),
        "301": answer(
            body,
            type_,
            size,
            status=b"301 Moved",
        ),
        "204": answer(b"", type_, status=b"204 No Content"),
        "no type": answer(body, size),
        "a type of text": answer(body, b"content-type: text/plain", size),
        "no text of HTTP": body,
        "nothing": b"",
        "headers without an end": answer(body, type_, size)[:40],
        "a length too long": answer(body, type_, b"content-length: %d" % (len(body) + 1)),
        "chunks without an end": answer(_chunked(body, 50)[:-5], type_, chunked),
        "a chunk cut": answer(_chunked(body, 50)[:-30], type_, chunked),
        "two answers": answer(body, type_, size) * 2,
        "gzip": answer(b"\x1f\x8b\x08\0\0\0\0\0", type_, b"content-length: 8", b"content-encoding: gzip"),
        "a blank before a colon": answer(body, type_, size.replace(b":", b" :")),
        "no length that is one": answer(body, type_, b"content-length: x"),
    }
    return [
        *(Whole(f"{kind}, {name}", kind, raw) for name, raw in cases.items()),
        *(Whole(f"{kind}, {name}", kind, raw, is_good=False) for name, raw in bad.items()),
    ]


WIRE = [
    *_wire("plain"),
    *_wire("stream"),
    Whole("plain, a vendor's type", "plain", answer(PLAIN, b"content-type: application/a+JSON;v=1", length(PLAIN))),
    Whole("plain, text/json", "plain", answer(PLAIN, b"content-type: text/json", length(PLAIN)), is_good=False),
    Whole("plain, a stream", "plain", answer(WHOLE, _TYPE["stream"], length(WHOLE)), is_good=False),
    Whole("stream, plain JSON", "stream", answer(PLAIN, _TYPE["plain"], length(PLAIN)), is_good=False),
    Whole("stream, an error in JSON", "stream",
          answer(ERRORS[0].body, _TYPE["plain"], length(ERRORS[0].body)), is_good=False),
]  # fmt: skip
