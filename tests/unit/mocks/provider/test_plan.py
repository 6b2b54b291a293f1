"""Jitter and missing stamps: what the provider does differently when asked, and that it forgets it again."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from mocks import stamps
from tests.examples.gateway_lane import Program, ask, chat, program, reads

DELAY_S, JITTER_S = 0.004, 0.04
NS = 1_000_000_000


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Program]:
    """One provider for the module; each test resets it."""
    log = tmp_path_factory.mktemp("provider") / "provider.log"
    with program("mocks.provider", ["--port", "0", "--admin-port", "0"], log) as running:
        yield running


def reset(provider: Program, **plan: Any) -> Any:
    """The response to a reset with a quick plan."""
    quick = {"delay_s": DELAY_S, "chunk_count": 4, "gap_s": 0.002}
    return ask(provider.ports[1], quick | plan, path="/reset").document


def counters(provider: Program) -> Any:
    """The provider's counts."""
    return ask(provider.ports[1], path="/counters").document


def residences_ns(provider: Program, count: int = 12) -> list[int]:
    """Times from having a request to answering it, one request after the other."""
    for _ in range(count):
        assert ask(provider.ports[0], chat()).status == 200
    return [row[2] - row[1] for row in ask(provider.ports[1], path="/records").document["rows"]]


def draws_s(seed: int, count: int = 12) -> list[float]:
    """What the jitter must be."""
    draws = random.Random(seed)  # noqa: S311 - of a test
    return [draws.expovariate(1.0) * JITTER_S for _ in range(count)]


def test_jitter_is_added_to_the_residence_and_counted(provider: Program) -> None:
    """Each request stays the delay and its own draw, and the counts tell exactly what was drawn."""
    reset(provider)
    calm_ns = residences_ns(provider)
    reported = reset(provider, jitter_s=JITTER_S, jitter_seed=7)
    shaken_ns, expected = residences_ns(provider), draws_s(7)
    counted = counters(provider)

    assert (reported["jitter_s"], reported["stamps"]) == (JITTER_S, True)
    assert all(ns >= (DELAY_S + drawn) * NS - 1 for ns, drawn in zip(shaken_ns, expected, strict=True))
    assert sum(shaken_ns) / sum(calm_ns) > 2
    assert counted["jitter_count"] == 12
    assert counted["jitter_mean_s"] == pytest.approx(sum(expected) / 12, rel=1e-6)
    assert counted["jitter_max_s"] == pytest.approx(max(expected), rel=1e-6)
    assert counted["lateness_p50_s"] < 0.5 * counted["jitter_mean_s"], "jitter is part of the due time, not lateness"


def test_a_seed_repeats_the_jitter_and_none_goes_on(provider: Program) -> None:
    """The same seed draws the same; a reset without one continues, so two windows do not meet the same jitter."""
    maxima = []
    for seed in ({"jitter_seed": 3}, {}, {"jitter_seed": 3}):
        reset(provider, jitter_s=JITTER_S, delay_s=0, **seed)
        residences_ns(provider, 6)
        maxima.append(counters(provider)["jitter_mean_s"])
    assert maxima[0] == maxima[2] != maxima[1]


def test_jitter_moves_a_stream_as_a_whole(provider: Program) -> None:
    """The first chunk is late by the draw, the others keep their distance to it."""
    reset(provider, jitter_s=JITTER_S, jitter_seed=11)
    body = b"".join(data for _, data in reads(provider.ports[0], chat(stream=True)))
    stamp, chunks = stamps.find_stamp(body), stamps.find_chunk_stamps(body)
    due_ns = stamp.recv_ns + (DELAY_S + draws_s(11, 1)[0]) * NS - 1
    assert len(chunks) == 4
    assert all(chunk.send_ns >= due_ns + chunk.sequence * 0.002 * NS for chunk in chunks)


def test_an_unstamped_answer_lacks_the_stamps_and_nothing_else(provider: Program) -> None:
    """Plain and streamed, the bytes are those of a stamped response without its codes; records have the times."""
    bodies: dict[bool, list[bytes]] = {}
    for stamped in (True, False):
        reset(provider, stamps=stamped)
        bodies[stamped] = [ask(provider.ports[0], chat(stream=stream)).body for stream in (False, True)]
        assert counters(provider)["unstamped_count"] == (0 if stamped else 2)
        rows = ask(provider.ports[1], path="/records").document["rows"]
        assert all(row[2] - row[1] >= DELAY_S * NS for row in rows)
    assert not any(re.search(rb"weigh(stamp|chunk)", body) for body in bodies[False])
    codes = rb"weighstamp[a-p]{33} weighchunk[a-p]{21}|weigh(stamp|chunk)[a-p]+"
    for stamped, bare in zip(bodies[True], bodies[False], strict=True):
        cut = re.sub(codes, b"", stamped)
        assert re.sub(rb"[a-p]{24}|\d+", b"", cut) == re.sub(rb"[a-p]{24}|\d+", b"", bare)
        assert len(cut) == len(bare) < len(stamped)


def test_a_reset_that_names_neither_has_neither(provider: Program) -> None:
    """Jitter and missing stamps do not leak into the window of a caller that knows nothing of them."""
    reset(provider, jitter_s=JITTER_S, stamps=False)
    reported = reset(provider)
    body = ask(provider.ports[0], chat()).body
    counted = counters(provider)
    assert (reported["jitter_s"], reported["stamps"]) == (0, True)
    assert stamps.find_stamp(body) is not None
    assert (counted["jitter_count"], counted["jitter_mean_s"], counted["unstamped_count"]) == (0, None, 0)


@pytest.mark.parametrize(
    "plan",
    [
        {"jitter_s": -1},
        {"jitter_s": "1"},
        {"jitter_s": None},
        {"stamps": 1},
        {"stamps": "no"},
        {"jitter_seed": 1.5},
        {"jitter_seed": True},
    ],
)
def test_an_impossible_wish_is_refused(provider: Program, plan: dict[str, Any]) -> None:
    """Nothing is changed and a sentence names the key."""
    reset(provider)
    ask(provider.ports[0], chat())
    answer = ask(provider.ports[1], plan, path="/reset")
    assert answer.status == 400
    assert next(iter(plan)) in answer.document["error"]["message"]
    assert counters(provider)["request_count"] == 1
