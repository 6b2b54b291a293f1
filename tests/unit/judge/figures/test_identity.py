"""Whose a response is: crossed, repeated and old ones are told apart, and so is a token usage that is not its own."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.examples.judge_examples import code_of, detail_of, inputs
from tests.examples.trace_examples import MS, US, plain, provider_rows, traced_window
from weighbridge.judge.figures.run_figures import run_figures
from weighbridge.judge.figures.stamps import CROSSED, FOREIGN, REPEATED, STALE, WHOLE, stamp_states
from weighbridge.judge.figures.usage import added
from weighbridge.judge.inputs import Judgement
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.record.probe_counts import Fidelity, StampCounts, UsageCounts
from weighbridge.record.probe_tables import UNKNOWN, RequestTable
from weighbridge.record.provider_rows import ProviderRows


def close_together(count: int, apart_ns: int) -> RequestTable:
    """Plain responses of 20 ms whose requests start so much after each other."""
    requests = plain(count)
    shift = np.arange(count) * (20 * MS - apart_ns)
    columns = ("intended_ns", "sent_ns", "headers_ns", "first_byte_ns", "end_ns", "recv_ns", "send_ns")
    return replace(requests, **{name: getattr(requests, name) - shift for name in columns})


def given_to(requests: RequestTable, places: Any) -> RequestTable:
    """The same requests, each with the response (its stamp, and when it came) that was made for another row."""
    columns = ("recv_ns", "send_ns", "end_ns", "prompt_token_count", "completion_token_count", "total_token_count")
    return replace(requests, **{name: getattr(requests, name)[places] for name in columns})


def judged(requests: RequestTable, provider: ProviderRows) -> Judgement:
    """Judgement of a faultless attempt around these responses."""
    return judge_run(inputs(traced_window(requests, provider=provider), evidence=()))


@pytest.mark.parametrize("apart_ns", [300 * US, 900 * US, 3 * MS, 15 * MS])
def test_two_responses_that_were_exchanged_reject_the_run(apart_ns: int) -> None:
    """However far apart two open requests began, each other's response is no answer of theirs, and no cache's."""
    requests = close_together(200, apart_ns)
    provider = provider_rows(requests)
    places = np.arange(200)
    places[[100, 101]] = 101, 100
    swapped = given_to(requests, places)
    states = stamp_states(swapped, provider)

    assert states[[100, 101]].tolist() == [CROSSED, CROSSED]
    assert (np.delete(states, [100, 101]) == WHOLE).all()
    found = judged(swapped, provider)
    assert (found.accepted, code_of(found)) == (False, "crossed_answers")
    assert "2 of 200 responses carry the stamp of another request" in detail_of(found)


def test_a_queue_that_slipped_by_one_is_crossed() -> None:
    """Where each request gets the response of the one before, long answered, they are another's and not a cache's."""
    requests = plain(100)
    provider = provider_rows(requests)
    slipped = given_to(requests, np.maximum(np.arange(100) - 1, 0))
    slipped = replace(slipped, end_ns=requests.end_ns)
    states = stamp_states(slipped, provider)

    assert (states[2:] == CROSSED).all()
    assert code_of(judged(slipped, provider)) == "crossed_answers"


def test_one_response_given_to_two_open_requests_is_said() -> None:
    """Who asked keeps it, whoever read it first; the other one got it too: no added time is its own."""
    requests = close_together(200, 5 * MS)
    provider = provider_rows(requests)
    places = np.arange(200)
    places[101] = 100
    repeated = given_to(requests, places)
    repeated.end_ns[101] -= 50 * US
    states = stamp_states(repeated, provider)
    found = judged(repeated, provider)

    assert states[[100, 101]].tolist() == [WHOLE, REPEATED]
    assert "repeated_answers" in found.flags
    assert (code_of(found), "1 were given to an earlier request too" in detail_of(found)) == ("cache_hit", True)


def test_an_old_response_is_a_caches() -> None:
    """A response that an earlier request had long before, and one from before the window, are a cache's."""
    requests = plain(200)
    provider = provider_rows(requests)
    places = np.arange(200)
    places[150] = 20
    old = replace(given_to(requests, places), end_ns=requests.end_ns)
    old.recv_ns[160], old.send_ns[160] = requests.recv_ns[0] - 1_900 * MS, requests.recv_ns[0] - 1_880 * MS
    states = stamp_states(old, provider)

    assert states[[150, 160]].tolist() == [STALE, STALE]
    assert code_of(judged(old, provider)) == "cache_hit"
    assert "driver_rate_differs" not in judged(old, provider).flags


def test_a_response_of_another_clients_request() -> None:
    """Beside a driver a stamp of its request is crossed while that was open, and old when it had been answered."""
    requests = plain(100)
    provider = provider_rows(requests)
    others = ProviderRows(**{
        column.name: np.append(getattr(provider, column.name), [9, 8] if column.name == "reference" else [1, 1])
        for column in fields(ProviderRows)
    })  # fmt: skip
    open_ns, answered_ns = requests.sent_ns[50] - 2 * MS, requests.sent_ns[60] - 500 * MS
    others.recv_ns[-2:] = open_ns, answered_ns
    requests.recv_ns[50], requests.recv_ns[60] = open_ns, answered_ns
    requests.send_ns[50], requests.send_ns[60] = open_ns + 20 * MS, answered_ns + 20 * MS
    states = stamp_states(requests, others)

    assert states[[50, 60]].tolist() == [CROSSED, STALE]


def test_a_retry_and_a_lost_reference_are_no_crossing() -> None:
    """A request that the provider got twice keeps either stamp; a chain without references tells nothing."""
    requests = plain(50)
    provider = provider_rows(requests)
    twice = ProviderRows(**{
        column.name: np.append(getattr(provider, column.name), getattr(provider, column.name)[:1])
        for column in fields(ProviderRows)
    })  # fmt: skip
    twice.recv_ns[0] -= 40 * US
    without = replace(provider, reference=np.full(50, UNKNOWN))

    assert (stamp_states(requests, twice) == WHOLE).all()
    assert (stamp_states(requests, without) == WHOLE).all()
    unknown = replace(provider, recv_ns=provider.recv_ns + 1)
    assert (stamp_states(requests, unknown) == FOREIGN).all()


def test_two_requests_received_at_one_instant_keep_their_own() -> None:
    """Where two records have one instant, each stamp is that of whichever is its request's."""
    requests = close_together(20, 300 * US)
    requests.recv_ns[7] = requests.recv_ns[6]
    requests.send_ns[7] = requests.send_ns[6] + 1

    assert (stamp_states(requests, provider_rows(requests)) == WHOLE).all()


@settings(max_examples=40)
@given(st.permutations(range(12)))
def test_every_response_that_moved_is_crossed(places: list[int]) -> None:
    """Whatever permutation of open requests got the responses, those that moved are crossed and no others."""
    requests = close_together(12, 200 * US)
    provider = provider_rows(requests)
    states = stamp_states(given_to(requests, np.array(places)), provider)

    assert (states == CROSSED).tolist() == [place != own for own, place in enumerate(places)]


def test_a_crossed_response_is_not_called_changed() -> None:
    """Its marks are whole: the flag of damaged marks is for damaged ones alone."""
    requests = close_together(200, MS)
    provider = provider_rows(requests)
    places = np.arange(200)
    places[[100, 101]] = 101, 100
    found = judged(given_to(requests, places), provider)

    assert "responses_changed" not in found.flags


def test_responses_without_a_stamp_are_not_called_changed() -> None:
    """A stamp that is not there is lost and not damaged; a damaged one is changed."""
    requests = plain(200)
    requests.stamp_state[:2] = 1
    figures = run_figures(traced_window(requests))
    assert isinstance(figures.fidelity, Fidelity)
    assert (figures.fidelity.damaged_chunk_count, figures.fidelity.text_whole_count) == (0, 198)
    requests.stamp_state[:2] = 2
    damaged = run_figures(traced_window(requests)).fidelity
    assert isinstance(damaged, Fidelity)
    assert damaged.damaged_chunk_count == 2


def usage_of(requests: RequestTable, provider: ProviderRows) -> UsageCounts:
    """Counts that must exist."""
    found = run_figures(traced_window(requests, provider=provider)).usage
    assert isinstance(found, UsageCounts)
    return found


def test_a_usage_that_is_not_the_providers_is_told_with_its_first_difference() -> None:
    """Same, other, none, and the gateway's own are counted apart, over runs as well."""
    requests = plain(200)
    provider = provider_rows(requests)
    requests.completion_token_count[10:13] += 1
    for name in ("prompt_token_count", "completion_token_count", "total_token_count"):
        getattr(requests, name)[20:22] = UNKNOWN
    provider.prompt_token_count[30] = provider.completion_token_count[30] = UNKNOWN
    found = usage_of(requests, provider)

    assert (found.response_count, found.same_count) == (200, 194)
    assert (found.differing_count, found.missing_count, found.own_count) == (3, 2, 1)
    assert found.example == "prompt 50 + completion 17 = 66 instead of 50 + 16 = 66"
    assert "usage_differs" in judged(requests, provider).flags
    assert judged(requests, provider).accepted
    both = added([usage_of(plain(50), provider_rows(plain(50))), found])
    assert (both.response_count, both.differing_count, both.example) == (250, 3, found.example)


def test_a_true_usage_is_not_flagged() -> None:
    """What the provider sent for the call whose stamp came back is right, whatever a retry of it was told."""
    requests = plain(200)
    provider = provider_rows(requests)
    again = ProviderRows(**{
        column.name: np.append(getattr(provider, column.name), getattr(provider, column.name)[:1])
        for column in fields(ProviderRows)
    })  # fmt: skip
    again.recv_ns[-1] += MS
    again.prompt_token_count[-1] = 77

    assert usage_of(requests, again).same_count == 200
    assert "usage_differs" not in judged(requests, provider).flags


def test_crossed_responses_are_counted_over_runs() -> None:
    """The counts of a window add up to its good responses, crossed ones among them."""
    requests = close_together(100, MS)
    provider = provider_rows(requests)
    places = np.arange(100)
    places[[50, 51]] = 51, 50
    counts = run_figures(traced_window(given_to(requests, places), provider=provider)).stamps
    assert isinstance(counts, StampCounts)
    assert (counts.whole_count, counts.crossed_count) == (98, 2)
