"""Known delays of the mock gateway: what was slept, burned or held back is what the rows say, request by request."""

from __future__ import annotations

import json
import re
import resource
import signal
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from mocks import stamps
from mocks.burn import burn
from mocks.gateway.config import read_config
from mocks.gateway.faults.delays import DELAY_HEADER, MIXTURES, Mixture
from mocks.gateway.faults.ground_truth import GroundTruth
from mocks.gateway.faulty import build
from tests.examples.gateway_lane import KEY, ROOT, Lane, ask, chat, open_lane, reads, wait_for
from weighbridge.dialects.openai_chat import read_stream
from weighbridge.matrix.binding import Binding, render_configs
from weighbridge.matrix.catalogue import read_catalogue

RECIPE = ROOT / "templates" / "gateways" / "control"
MS_NS = 1_000_000
STALL_NS = 500 * MS_NS


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lane]:
    """A provider and a control plane for the whole module."""
    with open_lane(tmp_path_factory.mktemp("delays")) as lane:
        yield lane


@pytest.fixture
def lane(opened: Lane) -> Lane:
    """The same with all counts at zero."""
    opened.reset()
    return opened


def delaying(lane: Lane, delay: str) -> Any:
    """A gateway with a delay, without control plane and disk, as the recipe has it."""
    return lane.gateway(delay, control_plane_url=None, client_keys=[KEY], audit=False)


def letters(number: int) -> bytes:
    """The letters of a reference."""
    return stamps.encode_number(number)


def prompt(number: int, **more: Any) -> dict[str, Any]:
    """A chat request with that reference."""
    return chat(f"{stamps.encode_reference(number).decode()} hello", **more)


def rows(port: int) -> list[dict[str, Any]]:
    """What the gateway says it did."""
    reported = ask(port, path="/faults").document
    return [dict(zip(reported["columns"], row, strict=True)) for row in reported["rows"]]


def slept_ns(row: dict[str, Any]) -> int:
    """Time between the two instants of a row."""
    return row["end_ns"] - row["start_ns"]


def test_recorded_sleeps_are_the_asked_ones_and_zero_has_the_timer_too(lane: Lane) -> None:
    """No sleep is short, most are near what was asked, and no delay is slept and recorded as well."""
    quartiles_ns = {}
    for delay in ("delay-0", "delay-10ms", "delay-30ms"):
        with delaying(lane, delay) as gateway:
            for number in range(12):
                assert ask(gateway.ports[0], prompt(number)).status == 200
            found = rows(gateway.ports[0])
        assert [row["reference"].encode() for row in found] == [letters(number) for number in range(12)]
        quartiles_ns[delay] = sorted(map(slept_ns, found))[2]
        asked_ns = {"delay-0": 1, "delay-10ms": 10 * MS_NS, "delay-30ms": 30 * MS_NS}[delay]
        assert min(map(slept_ns, found)) >= asked_ns
        assert {row["asked_ns"] for row in found} == {asked_ns // MS_NS * MS_NS}
    assert 1 <= quartiles_ns["delay-10ms"] / (10 * MS_NS) < 1.4
    assert 1 <= quartiles_ns["delay-30ms"] / (30 * MS_NS) < 1.2
    assert quartiles_ns["delay-0"] < 0.5 * quartiles_ns["delay-10ms"]


def test_a_delay_lies_between_client_and_provider(lane: Lane) -> None:
    """A request's own recorded sleep is part of the time from its sending to its arrival at the provider."""
    with delaying(lane, "delay-two-valued") as gateway:
        for number in range(8):
            sent_ns = time.monotonic_ns()
            stamp = stamps.find_stamp(ask(gateway.ports[0], prompt(number)).body)
            assert stamp is not None
            assert slept_ns(rows(gateway.ports[0])[-1]) <= stamp.recv_ns - sent_ns


@pytest.mark.parametrize("name", MIXTURES)
def test_draws_hang_on_the_reference_alone(name: str) -> None:
    """Any order and any number of draws give each reference the same one of two times, by the share that is said."""
    mixture, count = MIXTURES[name], 40_000
    references = [letters(number) for number in range(count)]
    drawn = {reference: mixture.draw_ns(reference) for reference in references}
    references.reverse()
    assert all(mixture.draw_ns(reference) == drawn[reference] for reference in references)
    assert set(drawn.values()) == {mixture.low_ns, mixture.high_ns}
    share = sum(value == mixture.high_ns for value in drawn.values()) / count
    deviation = (mixture.high_share * (1 - mixture.high_share) / count) ** 0.5
    assert abs(share - mixture.high_share) < 4 * deviation
    twin = Mixture("twin", mixture.low_ns, mixture.high_ns, mixture.high_share)
    assert any(twin.draw_ns(reference) != drawn[reference] for reference in references)


def test_the_mixtures_are_the_ones_that_can_be_judged() -> None:
    """1 ms in 70 % and 9 ms in 30 %; 50 ms in one of 40, else nothing."""
    found = {m.name: (m.low_ns / MS_NS, m.high_ns / MS_NS, m.high_share) for m in MIXTURES.values()}
    assert found == {"two-valued": (1, 9, 0.3), "slow": (0, 50, 1 / 40)}


def test_the_gateway_slows_exactly_the_requests_of_the_rule(lane: Lane) -> None:
    """With slow and quick references in a mixed order, the slow ones are those of the rule and no others."""
    rule = MIXTURES["slow"]
    slow = [number for number in range(400) if rule.draw_ns(letters(number))][:4]
    quick = [number for number in range(400) if not rule.draw_ns(letters(number))][:20]
    order = sorted(slow + quick, key=letters, reverse=True)
    with delaying(lane, "delay-slow") as gateway:
        for number in order:
            ask(gateway.ports[0], prompt(number))
        found = {row["reference"].encode(): slept_ns(row) for row in rows(gateway.ports[0])}
    assert {ref for ref, ns in found.items() if ns >= rule.high_ns} == {letters(number) for number in slow}
    assert len(found) == len(order)


def test_sleeps_of_several_requests_overlap(lane: Lane) -> None:
    """Eight requests of 100 ms at once take far less than eight times that: a delay is time, not capacity."""
    with delaying(lane, "delay:100ms") as gateway, ThreadPoolExecutor(8) as clients:
        list(clients.map(lambda number: ask(gateway.ports[0], prompt(number)), range(8)))
        found = rows(gateway.ports[0])
    span_ns = max(row["end_ns"] for row in found) - min(row["start_ns"] for row in found)
    assert span_ns < 0.5 * sum(map(slept_ns, found))


def test_burned_time_is_spent_by_the_process(lane: Lane) -> None:
    """Each burn is what was asked within a twentieth, and the kernel charges the process with at least their sum."""
    with delaying(lane, "burn-5ms") as gateway:
        clock = (~gateway.process.pid << 3) | 2  # the kernel's own clock of that process
        before_ns = time.clock_gettime_ns(clock)
        for number in range(12):
            ask(gateway.ports[0], prompt(number))
        found = rows(gateway.ports[0])
        charged_ns = time.clock_gettime_ns(clock) - before_ns
    ratios = [row["cpu_ns"] / (5 * MS_NS) for row in found]
    assert min(ratios) >= 1
    assert statistics.median(ratios) < 1.05
    assert all(slept_ns(row) >= row["cpu_ns"] for row in found)
    assert charged_ns >= 0.97 * sum(row["cpu_ns"] for row in found)


def test_a_burn_is_not_a_sleep() -> None:
    """The thread's clock moves by what is burned, what is burned is what was asked, and the thread never waits."""
    waits, before_ns = resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw, time.thread_time_ns()
    burned_ns = burn(20 * MS_NS)
    assert resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw - waits < 5
    assert 1 <= burned_ns / (20 * MS_NS) < 1.05
    assert time.thread_time_ns() - before_ns >= burned_ns


def test_a_stalled_stream_stands_still_once(lane: Lane) -> None:
    """Chunks before the fifth come as they did, the fifth and all later ones half a second late, one by one, all."""
    lane.reset(chunk_count=8, gap_s=0.02)
    with delaying(lane, "stall-5") as gateway:
        found = reads(gateway.ports[0], prompt(7, stream=True))
        assert ask(gateway.ports[0], prompt(8)).status == 200
        (row,) = rows(gateway.ports[0])
    arrived = [(at_ns, stamp) for at_ns, data in found for stamp in stamps.find_chunk_stamps(data)]
    late_ns = {stamp.sequence: at_ns - stamp.send_ns for at_ns, stamp in arrived}
    assert list(late_ns) == list(range(8))
    assert min(late_ns[n] for n in range(4, 8)) >= STALL_NS
    assert max(late_ns[n] for n in range(4)) < 0.5 * STALL_NS
    sizes = [len(stamps.find_chunk_stamps(piece)) for piece in framed(found)]
    assert max(sizes) == 1, "a stall must not coalesce"
    body = b"".join(data for _, data in found)
    assert read_stream(enumerate(framed(found))).is_done
    assert body.endswith(b"0\r\n\r\n")
    assert (row["reference"].encode(), slept_ns(row) >= STALL_NS) == (letters(7), True)
    assert row["end_ns"] <= {s.sequence: at_ns for at_ns, s in arrived}[4]


def framed(found: list[tuple[int, bytes]]) -> list[bytes]:
    """The HTTP chunks of a streamed response."""
    body = b"".join(data for _, data in found).partition(b"\r\n\r\n")[2]
    cut: list[bytes] = []
    while match := re.match(rb"([0-9a-f]+)\r\n", body):
        size = int(match[1], 16)
        cut.append(body[match.end() : match.end() + size])
        body = body[match.end() + size + 2 :]
    return cut


def test_a_stalled_stream_is_finished_before_the_gateway_ends(lane: Lane) -> None:
    """TERM in the middle of a stall: the stream still ends whole, the process with 0 and without a complaint."""
    found: list[tuple[int, bytes]] = []
    with delaying(lane, "stall-2") as gateway:
        client = threading.Thread(target=lambda: found.extend(reads(gateway.ports[0], prompt(1, stream=True))))
        client.start()
        wait_for(lambda: ask(gateway.ports[0], path="/faults").document["request_count"] == 1)
        assert gateway.ends(signal.SIGTERM) == 0
        client.join()
        assert gateway.stderr_text().count("\n") == 1
    assert read_stream(enumerate(framed(found))).is_done


def test_a_client_that_leaves_in_a_stall_harms_nobody(lane: Lane) -> None:
    """The stream of a client that went is dropped; the next one is served and nothing is reported."""
    with delaying(lane, "stall-2") as gateway:
        reads(gateway.ports[0], prompt(1, stream=True), silence_s=0.1)
        found = reads(gateway.ports[0], prompt(2, stream=True))
        assert read_stream(enumerate(framed(found))).is_done
        assert [row["reference"].encode() for row in rows(gateway.ports[0])] == [letters(2)]
        assert gateway.stderr_text().count("\n") == 1


def test_rows_come_in_pages(lane: Lane) -> None:
    """Pages put together are all rows in order; nonsense and other methods are refused with a sentence."""
    with delaying(lane, "delay-0") as gateway:
        port = gateway.ports[0]
        for number in range(5):
            ask(port, prompt(number))
        whole = ask(port, path="/faults").document
        pages = [ask(port, path=f"/faults?offset={offset}&limit=2").document for offset in (0, 2, 4)]
        refused = [ask(port, path="/faults?offset=-1"), ask(port, path="/faults?limit=x")]
        wrong = [ask(port, {}, path="/faults"), ask(port, path="/faults/reset")]
    assert [row for page in pages for row in page["rows"]] == whole["rows"]
    assert [page["row_count"] for page in pages] == [5, 5, 5]
    assert [answer.status for answer in refused + wrong] == [400, 400, 405, 405]
    assert all(answer.document["error"]["message"] for answer in refused + wrong)


def test_a_reset_does_not_mix_old_requests_into_new_rows(lane: Lane) -> None:
    """A request that sleeps during a reset is answered, and in neither the new count nor the new rows."""
    answers: list[Any] = []
    with delaying(lane, "delay:300ms") as gateway:
        port = gateway.ports[0]
        client = threading.Thread(target=lambda: answers.append(ask(port, prompt(1))))
        client.start()
        wait_for(lambda: ask(port, path="/faults").document["request_count"] == 1)
        assert ask(port, {}, path="/faults/reset").document == {"status": "reset"}
        client.join()
        reported = ask(port, path="/faults").document
        assert (reported["request_count"], reported["row_count"], reported["rows"]) == (0, 0, [])
        ask(port, prompt(2))
        assert [row["reference"].encode() for row in rows(port)] == [letters(2)]
    assert answers[0].status == 200


@pytest.mark.parametrize("fault", ["delay", "delay:3", "delay-often", "burn", "burn:0", "stall:0", "stall:soon"])
def test_a_delay_that_is_none_is_refused(fault: str) -> None:
    """A missing or misspelt value is a sentence that says what was expected."""
    with pytest.raises(ValueError, match=r"duration such as|whole number"):
        build(fault, GroundTruth(fault))


def test_the_recipe_offers_all_delays_on_a_bare_gateway(tmp_path: Path) -> None:
    """Each value can be built, the default is the control, and the program's configuration has no plane, no log."""
    recipe = read_catalogue([RECIPE]).get("control")
    assert recipe is not None
    assert (recipe.kind, recipe.label, recipe.artifact.kind) == ("mock", "mock, not a product", "mocks")
    assert recipe.settings["delay"].default == "delay-0"
    offered = yaml.safe_load((RECIPE / "gateway.yaml").read_text())["settings"]["delay"]["values"]
    for value in offered:
        build(value, GroundTruth(value))
    assert {f"delay-{name}" for name in (*MIXTURES, "0", "1ms", "3ms", "10ms")} < set(offered)
    bound = Binding(
        port=4321,
        admin_port=4322,
        upstream_url="http://127.0.0.1:4323",
        control_plane_url="http://127.0.0.1:4324",
        state_dir=tmp_path / "state",
        config_dir=tmp_path,
        log_dir=tmp_path,
        client_key="CLIENT-KEY",
        provider_key="PROVIDER-KEY",
        machine_token="MACHINE-TOKEN",  # noqa: S106 - of a test
        model="mock-model",
        chain="none",
        program=None,
        python=tmp_path / "python",
        mocks_root=tmp_path,
        settings=recipe.settings_with({}),
    )
    file = tmp_path / "gateway.json"
    file.write_bytes(render_configs(recipe, bound)["gateway.json"])
    config = read_config(file)
    assert (config.control_plane_url, config.audit, config.policies) == (None, False, ())
    assert json.loads(file.read_text())["client_keys"] == ["CLIENT-KEY"]


def test_each_request_can_name_its_own_delay(lane: Lane) -> None:
    """One process holds every delay: the header chooses, without one nothing is held, and what is none is a 400."""
    with delaying(lane, "delay-by-header") as gateway:
        port = gateway.ports[0]
        statuses = [
            ask(port, prompt(number), headers={DELAY_HEADER: name} if name else {}).status
            for number, name in enumerate(("delay-0", "delay-30ms", "", "delay-two-valued", "heavy"))
        ]
        held = {row["reference"].encode(): slept_ns(row) for row in rows(port)}
    assert statuses == [200, 200, 200, 200, 400]
    assert held.keys() == {letters(number) for number in range(4)}
    assert held[letters(1)] >= 30 * MS_NS
    assert max(held[letters(0)], held[letters(2)]) < 30 * MS_NS
    assert held[letters(3)] >= MIXTURES["two-valued"].draw_ns(letters(3))
