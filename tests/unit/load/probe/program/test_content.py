"""What the probe reads out of kept bytes: events of streams, stamps, coalesced reads."""

from __future__ import annotations

import itertools
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.examples.probe_lane import (
    DONE,
    Client,
    chunk_stamp,
    completion,
    event,
    injected,
    plan,
    run,
    stamp,
    stamped,
)
from weighbridge.load.probe.program.content import plain_content, stream_content
from weighbridge.record.probe_tables import STAMP_STATES, UNKNOWN
from weighbridge.record.stamps import find_reference, reference

TEXTS = [f"word {chunk_stamp(1_000 + number, number)} " for number in range(5)]
STREAM = b": hello\n\n" + b"".join(event(text) for text in TEXTS) + event(finish="stop") + DONE


@given(cuts=st.sets(st.integers(1, len(STREAM) - 1), max_size=12), crlf=st.booleans())
def test_events_do_not_depend_on_how_reads_cut_them(cuts: set[int], crlf: bool) -> None:
    """Cut anywhere, with either line end: the same events, text and stamps; each event at the read that ended it."""
    whole = STREAM.replace(b"\n", b"\r\n") if crlf else STREAM
    places = [0, *sorted(cuts), len(whole)]
    parts = [(number, whole[a:b]) for number, (a, b) in enumerate(itertools.pairwise(places))]
    content = stream_content(parts)
    assert content.text == "".join(TEXTS)
    assert [one[1:] for one in content.events] == [(1_000 + number, number) for number in range(5)]
    assert (content.done, content.finished, content.broken, content.error) == (True, True, False, False)
    blank = b"\r\n\r\n" if crlf else b"\n\n"
    ends = [place + len(blank) for place in range(len(whole)) if whole.startswith(blank, place)][1:6]
    at_least = [next(n for n, b in enumerate(places[1:]) if b >= end) for end in ends]
    # A CR LF cut in its middle may be known one byte later, never earlier.
    assert all(0 <= read - least <= 1 for read, least in zip(content.counted, at_least, strict=True))


@given(cut=st.integers(1, len(TEXTS[0]) - 1))
def test_a_stamp_that_was_cut_across_events_is_found(cut: int) -> None:
    """A gateway that cuts the text anew hides no stamp: it belongs to the event that completes it."""
    joined = "".join(TEXTS)
    parts = [(0, event(joined[:cut])), (1, event(joined[cut:]))]
    found = [one[1:] for one in stream_content(parts).events if one[1] != UNKNOWN]
    assert found == [(1_000 + number, number) for number in range(5)]


@pytest.mark.parametrize(
    ("delta", "counts"),
    [
        ('{"content": "a"}', 1),
        ('{"content": ""}', 0),
        ('{"role": "assistant"}', 0),
        ('{"content": null, "reasoning_content": "a"}', 1),
        ('{"reasoning": "a"}', 1),
        ('{"tool_calls": [{"index": 0}]}', 1),
        ('{"content": [{"type": "text", "text": "a"}]}', 1),
        ("null", 0),
    ],
)
def test_what_counts_as_content(delta: str, counts: int) -> None:
    """Text, reasoning and tool calls do; roles, empty texts and nothing do not."""
    data = b'data: {"choices": [{"delta": %b}]}\n\n' % delta.encode()
    assert len(stream_content([(0, data)]).counted) == counts


@pytest.mark.parametrize("body", [b"", b"[]", b"null", b"{}", b'{"choices": []}', b'{"choices": [1]}', b"[" * 90_000])
def test_no_answer_is_broken_not_a_crash(body: bytes) -> None:
    """Whatever stands in a body, reading it ends."""
    assert plain_content(body).broken
    assert stream_content([(0, b"data: " + body + b"\n\n")]).counted == []


@given(number=st.integers(0, 2**64 - 1))
def test_references_are_read_back(number: int) -> None:
    """The number in a prompt is the number that was put there; a damaged one is none."""
    mark = reference(number)
    assert find_reference(f"text {mark} text") == number
    assert find_reference(mark.replace("weighref", "weighrefx")) is None
    assert find_reference(mark[:-1] + ("a" if mark[-1] != "a" else "b")) is None


def states(tmp_path: Path, script: object, count: int) -> list[str]:
    """States of the stamps that an injected server gives."""
    with injected(script) as server:  # type: ignore[arg-type]
        table = run(plan(tmp_path, server.url, count=count)).tables.requests
    return [STAMP_STATES[code] for code in table.stamp_state]


def test_stamps_are_told_apart(tmp_path: Path) -> None:
    """Whole, absent, damaged by a letter, redacted, older than the request, from the future: each by its name."""

    def script(client: Client) -> None:
        now = time.monotonic_ns()
        whole = stamp(now, now)
        client.answer(
            [
                stamped(),
                completion("the river runs"),
                completion(whole[:20] + ("b" if whole[20] == "a" else "a") + whole[21:]),
                completion("weighstamp[REDACTED]"),
                stamped(now - 10_000_000_000),
                stamped(now + 10_000_000_000),
                completion(whole.upper()),
            ][client.number]
        )

    assert states(tmp_path, script, 7) == ["whole", "absent", "damaged", "damaged", "stale", "damaged", "damaged"]


def test_a_cache_is_told_from_a_second_owner(tmp_path: Path) -> None:
    """One stamp for all: stale for those that asked later, repeated for one that asked before it was made."""
    kept: list[bytes] = []

    def script(client: Client) -> None:
        if client.number < 2:
            while client.number == 0 and not kept:
                time.sleep(0.001)
            time.sleep(0.02)
            kept.append(stamped())
        client.answer(kept[0])

    with injected(script) as server:
        table = run(plan(tmp_path, server.url, count=4, clients=2)).tables.requests
    found = [STAMP_STATES[code] for code in table.stamp_state]
    assert sorted(found[:2]) == ["repeated", "whole"]
    assert found[2:] == ["stale", "stale"]


def test_coalesced_events_are_told_from_single_ones(tmp_path: Path) -> None:
    """Two events in one write are one coalesced read, however many HTTP chunks carry them; apart they are none."""

    def script(client: Client) -> None:
        client.begin_stream()
        events = [event(text) for text in TEXTS]
        step = 2 if client.number else 1
        for place in range(0, len(events), step):
            time.sleep(0.02)
            client.send(b"".join(b"%x\r\n%b\r\n" % (len(one), one) for one in events[place : place + step]))
        time.sleep(0.02)
        client.chunk(DONE)
        client.end_stream()

    with injected(script) as server:
        tables = run(plan(tmp_path, server.url, count=2, mode="stream")).tables
    requests, events = tables.requests, tables.events
    assert requests.content_count.tolist() == [5, 5]
    assert requests.coalesced_count.tolist() == [0, 2]
    assert [len(set(events.read[events.row == row])) for row in (0, 1)] == [5, 3]
    assert events.sequence.tolist() == [0, 1, 2, 3, 4] * 2
    assert (events.send_ns[events.row == 1] == [1_000, 1_001, 1_002, 1_003, 1_004]).all()
