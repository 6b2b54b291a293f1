"""The faulty gateway: each fault does what it says, and nothing else."""

from __future__ import annotations

import json
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from mocks import stamps
from mocks.gateway.faults import values
from mocks.gateway.faults.answers import EXIT_CODE
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.faulty import FAULTS, build
from tests.examples.gateway_lane import KEY, ROOT, Lane, Program, ask, chat, open_lane, reads, wait_for
from weighbridge.dialects.openai_chat import read_stream

RECIPE = ROOT / "tests" / "data" / "gateways" / "faulty"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    """A provider and a control plane for the whole module."""
    with open_lane(tmp_path_factory.mktemp("faults")) as lane:
        yield lane


@pytest.fixture
def lane(opened: Lane) -> Lane:
    """The same with all counts at zero."""
    opened.reset()
    return opened


def faulty(lane: Lane, fault: str) -> Any:
    """A faulty gateway without control plane and disk, which have no part in the fault."""
    return lane.gateway(fault, control_plane_url=None, client_keys=[KEY], audit=False)


def sequences(found: list[tuple[int, bytes]]) -> list[list[int]]:
    """Sequence numbers of the chunks in each read that has any."""
    each = [[stamp.sequence for stamp in stamps.find_chunk_stamps(data)] for _, data in found]
    return [numbers for numbers in each if numbers]


def pieces(found: list[tuple[int, bytes]]) -> list[bytes]:
    """The HTTP chunks of a streamed response, however the reads cut them."""
    body = b"".join(data for _, data in found).partition(b"\r\n\r\n")[2]
    cut: list[bytes] = []
    while match := re.match(rb"([0-9a-f]+)\r\n", body):
        size = int(match[1], 16)
        cut.append(body[match.end() : match.end() + size])
        body = body[match.end() + size + 2 :]
    return cut


def test_a_lock_is_held_by_one_request_after_the_other_and_recorded(lane: Lane) -> None:
    """Six at a time wait for each other: no two holds overlap, each lasts as long as asked, each has its request."""
    with faulty(lane, "lock:20ms") as gateway, ThreadPoolExecutor(6) as clients:
        begun_ns = time.monotonic_ns()
        prompts = [chat(f"{stamps.encode_reference(number).decode()} hello") for number in range(6)]
        answers = list(clients.map(lambda prompt: ask(gateway.ports[0], prompt), prompts))
        lasted_ns = time.monotonic_ns() - begun_ns
        rows = ask(gateway.ports[0], path="/faults").document["rows"]
    assert [answer.status for answer in answers] == [200] * 6
    assert len({reference for reference, _, _ in rows}) == 6
    assert all(end_ns - start_ns >= 20e6 for _, start_ns, end_ns in rows)
    assert all(later[1] >= earlier[2] for earlier, later in pairwise(sorted(rows, key=lambda row: row[1])))
    assert lasted_ns >= 6 * 20e6


def test_added_time_is_really_there_and_recorded(lane: Lane) -> None:
    """The recorded time is at least the asked one, is the request's own, and shows between client and provider."""
    reference = stamps.encode_reference(77)
    with faulty(lane, "add:30ms") as gateway:
        sent_ns = time.monotonic_ns()
        answer = ask(gateway.ports[0], chat(f"{reference.decode()} hello"))
        reported = ask(gateway.ports[0], path="/faults").document
    stamp = stamps.find_stamp(answer.body)
    ((found, start_ns, end_ns),) = reported["rows"]
    assert stamp is not None
    assert found.encode() == stamps.find_reference(reference)
    assert 30e6 <= end_ns - start_ns <= stamp.recv_ns - sent_ns
    assert reported["request_count"] == 1


def test_a_buffered_stream_comes_in_one_piece(lane: Lane) -> None:
    """All chunks are in one piece, behind the provider's last; a non-streaming response is untouched."""
    lane.reset(chunk_count=6, gap_s=0.005)
    with faulty(lane, "buffer") as gateway:
        found = reads(gateway.ports[0], chat(stream=True))
        assert ask(gateway.ports[0], chat()).status == 200
    (first, *rest) = [piece for piece in pieces(found) if piece]
    assert [stamp.sequence for stamp in stamps.find_chunk_stamps(first)] == list(range(6))
    assert rest == []
    assert read_stream([(0, first)]).is_done


def test_a_repaced_stream_comes_behind_its_end_at_its_own_pace(lane: Lane) -> None:
    """No chunk comes before the provider's last; then they come apart, all and in order, with the end marker."""
    lane.reset(chunk_count=6, gap_s=0.005)
    with faulty(lane, "re-pace:10ms") as gateway:
        found = reads(gateway.ports[0], chat(stream=True))
        assert ask(gateway.ports[0], chat()).status == 200
    told = [(now, stamp) for now, data in found for stamp in stamps.find_chunk_stamps(data)]
    assert [stamp.sequence for _, stamp in told] == list(range(6))
    assert told[0][0] > told[-1][1].send_ns
    assert told[-1][0] - told[0][0] > 40_000_000
    assert read_stream(enumerate(pieces(found))).is_done


def test_a_closing_gateway_serves_one_request_a_connection(lane: Lane) -> None:
    """With close every answer is whole and says that it is the last one of its connection."""
    with faulty(lane, "close") as gateway:
        for is_stream in (False, True):
            found = reads(gateway.ports[0], chat(stream=is_stream))
            head = b"".join(data for _, data in found).partition(b"\r\n\r\n")[0].lower()
            assert head.startswith(b"http/1.1 200")
            assert b"\r\nconnection: close" in head


def _stamps_of(lane: Lane, fault: str, references: list[int], *, stream: bool = False) -> list[tuple[int, int]]:
    """Reference and received instant of the stamp that came back, for requests 100 ms apart that take a second."""
    lane.reset(delay_s=1.0, chunk_count=4, gap_s=0.001)
    with faulty(lane, fault) as gateway, ThreadPoolExecutor(len(references)) as clients:

        def one(place: int) -> bytes:
            time.sleep(0.1 * place)
            prompt = stamps.encode_reference(references[place]).decode()
            return b"".join(data for _, data in reads(gateway.ports[0], chat(prompt, stream=stream)))

        bodies = list(clients.map(one, range(len(references))))
    found = [stamps.find_stamp(body) for body in bodies]
    return [(number, stamp.recv_ns if stamp else -1) for number, stamp in zip(references, found, strict=True)]


def _made_for(lane: Lane) -> dict[int, int]:
    """Received instant of each request by the provider's own record: the reference that it was made for."""
    page = ask(lane.provider.ports[1], path="/records?offset=0&limit=100").document
    place = {name: number for number, name in enumerate(page["columns"])}
    decoded = {row[place["recv_ns"]]: stamps.decode_number(row[place["reference"]].encode()) for row in page["rows"]}
    return {recv: number for recv, number in decoded.items() if number is not None}


@pytest.mark.parametrize("stream", [False, True])
def test_crossed_responses_go_to_each_others_request(lane: Lane, stream: bool) -> None:
    """The second request gets the first one's response and the first the second's; a third its own."""
    found = _stamps_of(lane, "crossed:2", [11, 22, 33], stream=stream)
    made = _made_for(lane)
    assert [made[recv] for _, recv in found] == [22, 11, 33]


@pytest.mark.parametrize("stream", [False, True])
def test_a_repeated_response_is_that_of_an_open_request(lane: Lane, stream: bool) -> None:
    """Two requests that are open at the same time get one response, which the provider made once."""
    found = _stamps_of(lane, "repeat:2", [11, 22, 33], stream=stream)
    made = _made_for(lane)
    assert [made[recv] for _, recv in found] == [11, 11, 33]
    assert sorted(made.values()) == [11, 33]


@pytest.mark.parametrize("stream", [False, True])
def test_an_old_response_is_that_of_an_earlier_request(lane: Lane, stream: bool) -> None:
    """The second request gets what the first was given long before, and the provider hears nothing of it."""
    with faulty(lane, "old:2") as gateway:
        bodies = [
            b"".join(data for _, data in reads(gateway.ports[0], chat(f"number {number}", stream=stream)))
            for number in range(3)
        ]
    first, second, third = (stamps.find_stamp(body) for body in bodies)
    assert first is not None
    assert (first == second, first == third) == (True, False)
    assert ask(lane.provider.ports[1], path="/counters").document["request_count"] == 2


@pytest.mark.parametrize("stream", [False, True])
def test_a_wrong_usage_tells_one_more_token(lane: Lane, stream: bool) -> None:
    """Every second response tells one more token of completion than the provider, plain and on the last chunk."""
    options = {"stream_options": {"include_usage": True}} if stream else {}
    with faulty(lane, "wrong-usage:2") as gateway:
        found = [reads(gateway.ports[0], {**chat(stream=stream), **options}) for _ in range(2)]
    told = [re.findall(rb'"completion_tokens":(\d+)', b"".join(data for _, data in one)) for one in found]
    assert [int(one[-1]) for one in told] == [int(told[0][-1]), int(told[0][-1]) + 1]


def test_a_changed_request_has_another_parameter(lane: Lane) -> None:
    """What the provider gets has a temperature and no options of a stream; the messages are the client's."""
    with faulty(lane, "change-request") as gateway:
        sent = {**chat("hello", stream=True), "stream_options": {"include_usage": True}}
        reads(gateway.ports[0], sent)
    got = ask(lane.provider.ports[1], path="/last").document["body"]
    got = json.loads(got) if isinstance(got, str) else got
    assert set(got) ^ set(sent) == {"temperature", "stream_options"}
    assert got["messages"] == sent["messages"]


def test_a_coalescing_gateway_sends_so_many_events_at_once(lane: Lane) -> None:
    """With coalesce:3 the six chunks come three and three, none missing, end marker there."""
    lane.reset(chunk_count=6, gap_s=0.005)
    with faulty(lane, "coalesce:3") as gateway:
        found = pieces(reads(gateway.ports[0], chat(stream=True)))
    groups = [[s.sequence for s in stamps.find_chunk_stamps(piece)] for piece in found]
    assert groups[:2] == [[0, 1, 2], [3, 4, 5]]
    assert read_stream([(0, found[-2])]).is_done


def test_a_dropped_chunk_is_the_only_one_missing(lane: Lane) -> None:
    """With drop-chunk:4 every stream lacks its fourth content chunk and nothing else."""
    with faulty(lane, "drop-chunk:4") as gateway:
        for _ in range(2):
            found = reads(gateway.ports[0], chat(stream=True))
            assert [n for numbers in sequences(found) for n in numbers] == [0, 1, 2, 4, 5]
            assert read_stream(enumerate(pieces(found))).is_done


def test_a_heavy_stream_is_no_other_stream(lane: Lane) -> None:
    """With heavy:100 every chunk comes as it was sent, each in a piece of its own, and the stream ends."""
    with faulty(lane, "heavy:100") as gateway:
        found = reads(gateway.ports[0], chat(stream=True))
    assert [n for numbers in sequences(found) for n in numbers] == list(range(6))
    assert read_stream(enumerate(pieces(found))).is_done


def test_a_stream_without_an_end_stays_open(lane: Lane) -> None:
    """All chunks come, no end marker does, and the connection stays open; a plain response ends as it should."""
    with faulty(lane, "no-end") as gateway:
        found = reads(gateway.ports[0], chat(stream=True), silence_s=0.5)
        data = b"".join(data for _, data in found)
        assert [n for numbers in sequences(found) for n in numbers] == list(range(6))
        assert not read_stream(enumerate(pieces(found))).is_done
        assert not data.endswith(b"0\r\n\r\n")
        assert ask(gateway.ports[0], chat()).status == 200
        assert gateway.ends(signal.SIGTERM) == 0


def test_every_nth_request_fails(lane: Lane) -> None:
    """error500:3 fails the third and the sixth request, error500 every one; the provider sees the others only."""
    with faulty(lane, "error500:3") as gateway:
        statuses = [ask(gateway.ports[0], chat()).status for _ in range(6)]
    assert statuses == [200, 200, 500, 200, 200, 500]
    with faulty(lane, "error500") as gateway:
        assert ask(gateway.ports[0], chat(stream=True)).status == 500


def test_a_page_instead_of_an_answer(lane: Lane) -> None:
    """The html fault responses 200 with a page, and readiness stays as it is."""
    with faulty(lane, "html") as gateway:
        answer = ask(gateway.ports[0], chat())
        assert ask(gateway.ports[0], path="/readyz").status == 200
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    assert answer.body.startswith(b"<!doctype html>")


def test_it_dies_after_so_many_requests(lane: Lane) -> None:
    """With die:2 two requests are answered and the third ends the process, unasked and without a response."""
    with faulty(lane, "die:2") as gateway:
        assert [ask(gateway.ports[0], chat()).status for _ in range(2)] == [200, 200]
        with pytest.raises(OSError):  # noqa: PT011 - reset or closed, as the kernel likes
            ask(gateway.ports[0], chat())
        assert gateway.ends() == EXIT_CODE


def test_it_hangs_from_a_request_on(lane: Lane) -> None:
    """With hang:2 the first request is answered, the later ones get no byte, and TERM still ends it."""
    with faulty(lane, "hang:2") as gateway:
        assert reads(gateway.ports[0], chat())
        assert reads(gateway.ports[0], chat(), silence_s=0.3) == []
        assert ask(gateway.ports[0], path="/readyz").status == 200
        assert gateway.ends(signal.SIGTERM) == 0


def test_it_never_gets_ready(lane: Lane) -> None:
    """Readiness is 503 for good, though chat requests would be served."""
    with faulty(lane, "never-ready") as gateway:
        assert [ask(gateway.ports[0], path="/readyz").status for _ in range(3)] == [503] * 3
        assert ask(gateway.ports[0], chat()).status == 200


def test_it_ignores_term(lane: Lane) -> None:
    """TERM changes nothing: the process goes on serving; INT ends it."""
    with faulty(lane, "ignore-term") as gateway:
        gateway.process.send_signal(signal.SIGTERM)
        assert ask(gateway.ports[0], chat()).status == 200
        with pytest.raises(subprocess.TimeoutExpired):
            gateway.process.wait(0.3)
        assert gateway.ends(signal.SIGINT) == 0


def test_capacity_is_a_limit_and_not_a_delay(lane: Lane) -> None:
    """Ten requests at once reach the provider one step of 1/R after the other; the first of them waits for none."""
    step_s = 0.05
    with faulty(lane, f"slow-capacity:{1 / step_s:g}") as gateway, ThreadPoolExecutor(10) as clients:
        sent_ns = time.monotonic_ns()
        answers = list(clients.map(lambda _: ask(gateway.ports[0], chat()), range(10)))
    received = sorted(stamp.recv_ns for answer in answers if (stamp := stamps.find_stamp(answer.body)))
    assert len(received) == 10
    assert received[-1] - received[0] >= 0.95 * 9 * step_s * 1e9
    assert received[0] - sent_ns < 9 * step_s * 1e9


def test_an_orphan_outlives_the_gateway(lane: Lane) -> None:
    """The grandchild is in a session of its own, has no living parent of ours, and is there after the stop."""
    with faulty(lane, "orphan") as gateway:
        orphan = psutil.Process(ask(gateway.ports[0], path="/faults").document["orphan_pid"])
        try:
            assert gateway.ends(signal.SIGTERM) == 0
            assert orphan.is_running()
            assert orphan.ppid() != gateway.process.pid
            assert subprocess.check_output(["ps", "-o", "sid=", "-p", str(orphan.pid)]).strip() == b"%d" % orphan.pid
        finally:
            orphan.kill()
            wait_for(lambda: not psutil.pid_exists(orphan.pid) or orphan.status() == psutil.STATUS_ZOMBIE)


def test_a_fault_of_none_changes_nothing(lane: Lane) -> None:
    """The wrapper without a fault serves the same bytes as the proxy without a wrapper."""
    with faulty(lane, "none") as gateway, lane.gateway() as clean:
        answers = [ask(port, chat(stream=True)) for port in (gateway.ports[0], clean.ports[0])]
    shapes = [re.sub(rb"[a-p]{8,}|\d+", b"", answer.body) for answer in answers]
    assert shapes[0] == shapes[1]
    assert [set(answer.headers) for answer in answers] == [set(answers[0].headers)] * 2


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("dye:40", "did you mean die"),
        ("die", "whole number"),
        ("die:0", "whole number"),
        ("add:30", "duration such as 30ms"),
        ("buffer:3", "takes no value"),
        ("slow-capacity:fast", "requests per second"),
        ("crossed:0", "whole number from 1 up"),
        ("change-request:3", "takes no value"),
    ],
)
def test_a_fault_that_is_none_is_refused(fault: str, words: str) -> None:
    """A misspelt fault or a bad value is one sentence that says what was expected."""
    with pytest.raises(ValueError, match=words):
        build(fault, GroundTruth(fault))


def test_durations_are_read_exactly() -> None:
    """Each unit is its number of nanoseconds."""
    assert [values.read_duration_ns(text) for text in ("30ms", "1.5s", "250us")] == [
        30_000_000,
        1_500_000_000,
        250_000,
    ]


def test_the_recipe_offers_only_faults_that_exist_and_all_of_them() -> None:
    """Every value of the recipe's setting can be built, and every fault is among them."""
    offered = yaml.safe_load((RECIPE / "gateway.yaml").read_text())["settings"]["fault"]["values"]
    for value in offered:
        build(value, GroundTruth(value))
    assert {fault for fault in FAULTS if any(value.startswith(fault) for value in offered)} == set(FAULTS)


def test_a_bad_fault_ends_the_program_with_one_sentence(lane: Lane, tmp_path: Path) -> None:
    """The command line refuses an unknown fault with exit 2 and one line."""
    config = tmp_path / "gateway.json"
    config.write_text(json.dumps(lane.settings()))
    gateway = Program("mocks.gateway.faulty", ["--config", str(config), "--fault", "dye"], tmp_path / "gateway.log")
    assert gateway.ends() == 2
    assert "did you mean die" in gateway.stderr_text()
    assert gateway.stderr_text().count("\n") == 1
