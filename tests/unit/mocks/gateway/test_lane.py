"""The gateway as a process between the mock provider and the mock control plane: streams, calls, flushes, stop."""

from __future__ import annotations

import itertools
import json
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from mocks import stamps
from tests.examples.gateway_lane import KEY, Lane, Program, ask, chat, drained, open_lane, program, reads, wait_for

STARTER = ["prompt-injection", "pii"]
CHUNK_COUNT = 12


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    """A provider and a control plane for the whole module."""
    with open_lane(tmp_path_factory.mktemp("lane")) as lane:
        yield lane


@pytest.fixture
def lane(opened: Lane) -> Lane:
    """The same with all counts at zero."""
    opened.reset()
    return opened


def chunk_reads(found: list[tuple[int, bytes]]) -> list[tuple[int, stamps.ChunkStamp]]:
    """Each chunk stamp with the time of the read that brought it."""
    return [(read_ns, stamp) for read_ns, data in found for stamp in stamps.find_chunk_stamps(data)]


def test_without_policies_a_stream_passes_chunk_by_chunk(lane: Lane) -> None:
    """Nearly every chunk is read at the client before the provider sends the next, and each in a read of its own."""
    lane.reset(chunk_count=CHUNK_COUNT, gap_s=0.02)
    with lane.gateway() as gateway:
        reads(gateway.ports[0], chat(stream=True))
        chunks = chunk_reads(reads(gateway.ports[0], chat(stream=True)))
    assert [stamp.sequence for _, stamp in chunks] == list(range(CHUNK_COUNT))
    in_time = [read_ns < later.send_ns for (read_ns, _), (_, later) in itertools.pairwise(chunks)]
    assert sum(in_time) >= 0.7 * len(in_time)


def test_under_starter_a_stream_is_buffered_until_it_is_complete(lane: Lane) -> None:
    """No byte of the response is read before the provider has sent its last chunk; nothing of it is lost."""
    lane.reset(chunk_count=CHUNK_COUNT, gap_s=0.01)
    with lane.gateway(policies=STARTER) as gateway:
        found = reads(gateway.ports[0], chat(stream=True))
    chunks = chunk_reads(found)
    assert [stamp.sequence for _, stamp in chunks] == list(range(CHUNK_COUNT))
    assert found[0][0] > chunks[-1][1].send_ns
    assert stamps.find_stamp(b"".join(data for _, data in found)) is not None


def test_stamp_and_reference_survive_the_starter_chain(lane: Lane) -> None:
    """The provider finds the prompt's reference and the client the answer's stamp through masking policies."""
    reference = stamps.encode_reference(2**63 + 12345)
    with lane.gateway(policies=STARTER) as gateway:
        answer = ask(gateway.ports[0], chat(f"{reference.decode()} call 415-555-2671"))
    assert stamps.find_stamp(answer.body) is not None
    assert stamps.find_reference(lane.last()["body"].encode()) == stamps.find_reference(reference)
    assert "415" not in lane.last()["body"]


@pytest.mark.parametrize("stream", [False, True])
def test_calls_by_kind_for_each_request(lane: Lane, *, stream: bool) -> None:
    """Ten requests are ten of each call in the path and twenty events, none twice and none damaged."""
    with lane.gateway() as gateway:
        lane.reset()
        for _ in range(10):
            assert ask(gateway.ports[0], chat(stream=stream)).status == 200
        wait_for(lambda: lane.calls().get("events") == 20)
        drained(gateway.ports[0])
    each = ("validate", "authorize", "dispatch", "complete", "usage_increment")
    assert lane.calls() == dict.fromkeys(each, 10) | {"events": 20}
    counters = lane.counters()
    assert (counters["distinct_event_count"], counters["incomplete_event_count"]) == (20, 0)


def test_concurrent_requests_share_flushes(lane: Lane) -> None:
    """Sixteen clients at once: every request has its two records, and there are fewer flushes than records."""
    lane.reset(delay_s=0.02)
    with lane.gateway() as gateway, ThreadPoolExecutor(16) as clients:
        answers = list(clients.map(lambda _: ask(gateway.ports[0], chat()), range(64)))
        document = drained(gateway.ports[0])
    assert {answer.status for answer in answers} == {200}
    assert document["audit_records"] == 128
    assert document["audit_flushes"] < document["audit_records"]


def test_a_slow_control_plane_is_paid_for_each_call_in_the_path(lane: Lane) -> None:
    """A control plane slower by D costs five D before a plain response and three before the provider has a stream."""
    delay_s = 0.05

    def before_provider_s() -> float:
        sent_ns = time.monotonic_ns()
        data = b"".join(data for _, data in reads(gateway.ports[0], chat(stream=True)))
        stamp = stamps.find_stamp(data)
        assert stamp is not None
        return (stamp.recv_ns - sent_ns) / 1e9

    with lane.gateway() as gateway:
        before_provider_s()
        ask(lane.control.ports[1], path="/settings", document={"delay_s": delay_s})
        try:
            plain_ms = [float(ask(gateway.ports[0], chat()).headers["x-gateway-overhead-ms"]) for _ in range(3)]
            stream_s = [before_provider_s() for _ in range(3)]
        finally:
            ask(lane.control.ports[1], path="/settings", document={"delay_s": 0})
    assert 5 <= min(plain_ms) / 1000 / delay_s < 6
    assert 3 <= min(stream_s) / delay_s < 4


@pytest.mark.parametrize("policies", [[], STARTER])
def test_a_client_that_goes_frees_the_provider(lane: Lane, policies: list[str]) -> None:
    """A client leaves in a stream, passed on or not: the provider loses its client too, the usage is released."""
    lane.reset(chunk_count=2000, gap_s=0.01)
    with lane.gateway(policies=policies) as gateway:
        reads(gateway.ports[0], chat(stream=True), silence_s=0.1) if policies else leave_after_a_read(gateway)
        wait_for(lambda: ask(lane.provider.ports[1], path="/counters").document["aborted_count"] == 1)
        wait_for(lambda: lane.calls().get("complete") == 1)
        assert "usage_increment" not in lane.calls()


def leave_after_a_read(gateway: Program) -> None:
    """Read a little of a stream, then close."""
    body = json.dumps(chat(stream=True)).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {KEY}\r\n"
    with socket.create_connection(("127.0.0.1", gateway.ports[0])) as client:
        client.sendall(f"{head}content-length: {len(body)}\r\n\r\n".encode() + body)
        assert client.recv(100)


def test_term_finishes_requests_and_delivers(lane: Lane) -> None:
    """A request under way when TERM comes is answered, its events arrive, the port is free and the exit code is 0."""
    lane.reset(delay_s=0.3)
    with lane.gateway() as gateway, ThreadPoolExecutor(1) as client:
        answer = client.submit(ask, gateway.ports[0], chat())
        wait_for(lambda: lane.calls().get("dispatch") == 1)
        assert gateway.ends(signal.SIGTERM) == 0
        assert answer.result().status == 200
        assert lane.counters()["distinct_event_count"] == 2
        with socket.socket() as free:
            free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            free.bind(("127.0.0.1", gateway.ports[0]))


def test_events_outlive_a_kill(lane: Lane, tmp_path: Path) -> None:
    """After a kill the next gateway delivers what lies behind the checkpoint of its folder, whole records only."""
    state = tmp_path / "state"
    lane.reset(delay_s=0.3)
    with lane.gateway(state_dir=str(state)) as gateway, ThreadPoolExecutor(1) as client:
        answer = client.submit(ask, gateway.ports[0], chat(), headers={"x-request-id": "cut"})
        wait_for(lambda: lane.calls().get("dispatch") == 1)
        gateway.kill()
        assert isinstance(answer.exception(), OSError)
    log, checkpoint = state / "audit.log", state / "checkpoint.json"
    (record,) = log.read_bytes().splitlines()
    assert json.loads(record)["event_id"] == "cut-decision"
    late = [record.replace(b"cut-decision", b"late-%d" % number) for number in range(3)]
    log.write_bytes(b"\n".join([record, *late]) + b'\n{"torn')
    checkpoint.write_text(json.dumps({"delivered_to_bytes": len(record) + 1}))
    lane.reset()
    with lane.gateway(state_dir=str(state)) as gateway:
        drained(gateway.ports[0])
        assert gateway.ends(signal.SIGTERM) == 0
    counters = lane.counters()
    assert (counters["event_count"], counters["distinct_event_count"]) == (3, 3)
    assert json.loads(checkpoint.read_text())["delivered_to_bytes"] == log.stat().st_size


def test_what_cannot_be_delivered_on_stop_is_told_and_kept(lane: Lane, tmp_path: Path) -> None:
    """With the control plane gone the gateway still ends with 0 in its drain limit and says how much is left."""
    state = tmp_path / "state"
    state.mkdir()
    (state / "audit.log").write_text('{"event_kind":"decision","delivery_id":"a"}\n')
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        nobody = f"http://127.0.0.1:{taken.getsockname()[1]}"
        settings = lane.settings(control_plane_url=nobody, state_dir=str(state), drain_limit_s=0.2)
        config = tmp_path / "gateway.json"
        config.write_text(json.dumps(settings))
        with program("mocks.gateway", ["--config", str(config)], tmp_path / "gateway.log") as gateway:
            ready = ask(gateway.ports[0], path="/readyz")
            assert (ready.status, ready.document["undelivered"]) == (503, 1)
            assert gateway.ends(signal.SIGTERM) == 0
            assert "1 events are not delivered; they stay in the log" in gateway.stderr_text()
    assert (state / "audit.log").read_text().count("\n") == 1


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"policies": ["pij"]}, "no policy is called 'pij'"),
        ({"upstream_url": "http://192.0.2.1:80"}, "speaks to loopback only"),
        ({"colour": "red"}, "colour: no such setting"),
        ({"port": "80"}, "port: '80' is of the wrong type"),
        ({"control_plane_url": None}, "client_keys: without a control plane"),
    ],
)
def test_bad_settings_end_with_one_sentence(
    lane: Lane, tmp_path: Path, changes: dict[str, object], words: str
) -> None:
    """A setting that cannot be used is exit 2 with one line that names it, and no traceback."""
    config = tmp_path / "gateway.json"
    config.write_text(json.dumps(lane.settings(**changes)))
    gateway = Program("mocks.gateway", ["--config", str(config)], tmp_path / "gateway.log")
    assert gateway.ends() == 2
    assert words in gateway.stderr_text()
    assert gateway.stderr_text().count("\n") == 1
