"""The chat dialect: what is a good response, what is an error, what is broken, and that pieces change nothing."""

from __future__ import annotations

import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.dialect_cases import BROKEN, DONE, ERRORS, FIRST, GOOD, SSE, UNFIT, USED, WHOLE, Body, chunk, data
from weighbridge.dialects import media_type, openai_chat
from weighbridge.dialects.event_stream import read_events
from weighbridge.dialects.openai_chat import ChatAnswer, Message, Usage

STREAMS = [one for one in (*GOOD, *ERRORS, *BROKEN, *UNFIT) if one.kind == "stream"]


def read(case: Body) -> ChatAnswer:
    """What the body of a case says."""
    return openai_chat.read_stream([(0, case.body)]) if case.kind == "stream" else openai_chat.read_plain(case.body)


def named(cases: list[Body]) -> pytest.MarkDecorator:
    """A test of each of these cases."""
    return pytest.mark.parametrize("case", cases, ids=[one.name for one in cases])


@named(GOOD)
def test_whatever_the_standards_allow_is_good(case: Body) -> None:
    """A good body has its whole text, no error and no broken part; a stream of them is at its end."""
    answer = read(case)

    assert (answer.text, answer.error, answer.is_broken) == (case.text, None, False)
    assert answer.is_ended or case.kind == "plain"


@named(ERRORS)
def test_an_error_in_a_good_status_is_found(case: Body) -> None:
    """An error is told by its own message, wherever it stands, and is no broken part."""
    answer = read(case)

    assert (answer.error, answer.is_broken) == ("budget exceeded", False)


@named(BROKEN)
def test_what_is_not_of_the_dialect_is_broken(case: Body) -> None:
    """A body or event that is no such document is broken, and no error of the other side."""
    answer = read(case)

    assert (answer.error, answer.is_broken) == (None, True)


@named(UNFIT)
def test_a_stream_without_content_or_end_shows_it(case: Body) -> None:
    """Such a stream is neither broken nor an error; it lacks pieces or an end."""
    answer = read(case)

    assert (answer.error, answer.is_broken) == (None, False)
    assert not (answer.pieces and answer.is_ended)


@given(
    case=st.sampled_from(STREAMS), end=st.sampled_from([b"\n", b"\r\n", b"\r"]), marked=st.booleans(), cuts=st.data()
)
def test_pieces_and_line_ends_change_no_event(case: Body, end: bytes, marked: bool, cuts: st.DataObject) -> None:
    """The same bytes in any pieces, with any line end and with a mark or not, are the same events."""
    lines = case.body.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    whole = (b"\xef\xbb\xbf" if marked else b"") + lines.replace(b"\n", end)
    places = cuts.draw(st.sets(st.integers(0, len(whole)), max_size=20))
    pieces = [whole[a:b] for a, b in itertools.pairwise([0, *sorted(places), len(whole)])]
    expected = [one[1:] for one in read_events([(0, lines)])]

    assert [one[1:] for one in read_events(enumerate(pieces))] == expected
    found, once = openai_chat.read_stream(list(enumerate(pieces))), read(case)
    assert (found.text, found.error, found.is_broken, found.is_done) == (
        once.text, once.error, once.is_broken, once.is_done,
    )  # fmt: skip


@given(body=st.lists(st.sampled_from([b"\r", b"\n", b"\r\n", b"data", b":", b" ", b"x", b"\xef\xbb\xbf", b"event"])))
def test_any_bytes_are_the_same_events_one_by_one(body: list[bytes]) -> None:
    """Mixed line ends in any order give the same events in single bytes as in one piece."""
    whole = b"".join(body)
    single = [whole[place : place + 1] for place in range(len(whole))]

    assert [one[1:] for one in read_events(enumerate(single))] == [one[1:] for one in read_events([(0, whole)])]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"], ids=["LF", "CR LF", "CR"])
def test_an_event_belongs_to_the_part_that_ends_it(end: bytes) -> None:
    """Whole events, one a part, are each known at their own part, whatever ends their lines."""
    parts = [(number, chunk({"content": f"word {number}"}).replace(b"\n", end)) for number in range(5)]

    answer = openai_chat.read_stream(parts)

    assert answer.pieces == [(number, f"word {number}") for number in range(5)]
    assert answer.first_event == 0


def test_an_event_that_parts_share_belongs_to_the_last() -> None:
    """An event cut before its blank line is of the part with the blank line."""
    answer = openai_chat.read_stream([(3, FIRST[:20]), (5, FIRST[20:-1]), (8, b"\n")])

    assert (answer.pieces, answer.first_event) == ([(8, "the river")], 8)


@pytest.mark.parametrize(
    ("text", "events"),
    [
        (b"data: a\ndata: b\n\n", [(b"", b"a\nb")]),
        (b"data:a\n\ndata:  b\n\n", [(b"", b"a"), (b"", b" b")]),
        (b"data\n\n", []),
        (b"data\ndata\n\n", [(b"", b"\n")]),
        (b"event: a\nevent: b\ndata: c\n\n", [(b"b", b"c")]),
        (b"event: a\n\ndata: b\n\n", [(b"", b"b")]),
        (b"id: 1\nretry: 2\n:data: x\n data: y\n\n", []),
        (b"data: a:b: c\n\n", [(b"", b"a:b: c")]),
        (b"data: a\x00\x0b\x0c\x85\n\n", [(b"", b"a\x00\x0b\x0c\x85")]),
        (b"data: a", [(b"", b"a")]),
        (b"data: a\ndata: b", [(b"", b"a\nb")]),
        (b"\xef\xbb\xbfdata: a\n\n", [(b"", b"a")]),
        (b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [(b"", b"b")]),
        (b"\xef\xbb", []),
        (b"", []),
    ],
)
def test_events_follow_the_rules_of_event_streams(text: bytes, events: list[tuple[bytes, bytes]]) -> None:
    """Fields, blanks, names, comments and the mark are taken as the rules say."""
    assert [one[1:] for one in read_events([(0, text)])] == events


def test_usage_is_read_where_it_stands() -> None:
    """Tokens come from a plain response, from the last chunk that tells them, and are None where they are none."""
    plain = openai_chat.read_plain(json.dumps({"choices": [{"message": {}}], "usage": USED}).encode())
    early = {"prompt_tokens": 3, "completion_tokens": 1}
    stream = openai_chat.read_stream([(0, chunk({"content": "a"}, usage=early) + data({"usage": USED}) + DONE)])
    odd = openai_chat.read_stream([(0, data({"usage": {"prompt_tokens": True, "total_tokens": "5"}}))])

    assert plain.usage == stream.usage == Usage(3, 2, 5)
    assert odd.usage == Usage(None, None, None)
    assert openai_chat.read_stream([(0, WHOLE)]).usage is None


def test_the_first_reason_is_not_lost() -> None:
    """A chunk behind the reason, without one of its own, leaves it; the end marker alone is no reason."""
    assert openai_chat.read_stream([(0, chunk({}, "length") + chunk({}))]).finish_reason == "length"
    assert openai_chat.read_stream([(0, DONE)]).finish_reason is None


@given(text=st.text(), system=st.text())
def test_a_frame_around_a_text_is_the_request(text: str, system: str) -> None:
    """Head, the text in JSON and tail are the bytes of the same request, whatever the other messages hold."""
    before = (Message("system", system),)
    head, tail = openai_chat.request_frame("a-model", before, is_stream=True)
    document = openai_chat.request_document("a-model", (*before, Message("user", text)), is_stream=True)

    assert (head + json.dumps(text)[1:-1] + tail).encode() == openai_chat.request_body(document)
    assert json.loads(openai_chat.request_body(document)) == document


@pytest.mark.parametrize(
    "value", ["Text/Event-Stream", "text/event-stream;charset=utf-8", ' text/event-stream ; a="b"']
)
def test_a_type_is_known_in_any_case_with_parameters(value: str) -> None:
    """Case, blanks and parameters do not make another type."""
    assert media_type.essence(value) == SSE
    assert openai_chat.answers_kind("stream", value)
    assert not openai_chat.answers_kind("plain", value)
