"""The preflight against scripted servers, and beside the probe: both judge every response alike."""

from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.examples.dialect_cases import BROKEN, ERRORS, GOOD, JSON, SSE, UNFIT, WIRE, Whole, answer, length
from tests.examples.probe_lane import Client, completion, injected, plan, run, stamp
from weighbridge.campaign.window.preflight import preflight
from weighbridge.matrix.requests import AnswerSpec
from weighbridge.record.run import Evidence

SECRET = "sk-of-nobody"  # noqa: S105 - of no service


def _whole(name: str, kind: str, body: bytes, *, is_good: bool) -> Whole:
    type_ = b"content-type: " + (SSE if kind == "stream" else JSON).encode()
    return Whole(name, kind, answer(body, type_, length(body)), is_good)


CASES = [
    *WIRE,
    *(_whole(one.name, one.kind, one.body, is_good=bool(one.text)) for one in GOOD),
    *(_whole(one.name, one.kind, one.body, is_good=False) for one in (*ERRORS, *BROKEN, *UNFIT)),
]


def _seen(url: str, kind: Any, asked: list[bytes]) -> Evidence:
    lane: Any = SimpleNamespace(url=url, headers=(), setup=SimpleNamespace(keys=SimpleNamespace(all=(SECRET,))))

    def ask(_method: str, _path: str) -> dict[str, str]:
        return {"body": asked[-1].decode()}

    mocks: Any = SimpleNamespace(reset=lambda _: None, provider=SimpleNamespace(ask=ask))
    return preflight(lane, mocks, kind, AnswerSpec("a", 0.0, 2, 0.0))


def _shown(raw: bytes, kind: str) -> Evidence:
    """What the preflight shows of a server that sends these bytes and closes."""
    asked: list[bytes] = []

    def script(client: Client) -> None:
        asked.append(client.body)
        client.send(raw)
        client.sock.close()

    with injected(script) as server:
        return _seen(server.url, kind, asked)


@pytest.mark.parametrize("case", CASES, ids=[one.name for one in CASES])
def test_preflight_and_probe_agree(case: Whole, tmp_path: Path) -> None:
    """What one reads through is good for the other, and what one refuses the other refuses."""

    def script(client: Client) -> None:
        client.send(case.raw)
        client.sock.close()

    with injected(script) as server:
        outcomes = run(plan(tmp_path, server.url, mode=case.kind)).outcomes
    shown = _shown(case.raw, case.kind)

    assert (shown.ok, outcomes == ["ok"]) == (case.is_good, case.is_good), (shown.problem, outcomes)


def test_an_error_is_told_in_one_line_without_secrets() -> None:
    """The other side's own words are the problem: on one line, keys masked, whatever signs they hold."""
    message = json.dumps({"error": {"message": f"no\nbudget for\t{SECRET} \ud800 " + "x" * 1_000}}).encode()

    shown = _shown(_whole("", "plain", message, is_good=False).raw, "plain")

    assert shown.problem is not None
    assert shown.problem.startswith("an error in the body: no budget for ")
    assert SECRET not in shown.problem
    assert len(shown.problem) <= 300


def test_an_encoding_that_nobody_asked_for_is_named() -> None:
    """A body in gzip is refused by that name, not as some broken JSON."""
    case = next(one for one in WIRE if one.name == "plain, gzip")

    assert _shown(case.raw, "plain").problem == "the body has content-encoding gzip, which was not asked for"


def test_a_good_stream_leaves_its_count_and_its_end() -> None:
    """Chunks with content are counted and the end marker is noted; an unchanged request shows no changes."""
    case = next(one for one in CASES if one.name == "stream, usage behind the reason")

    shown = _shown(case.raw, "stream")

    assert (shown.chunk_count, shown.end_marker, shown.upstream_changes) == (2, True, ())


def test_the_first_request_has_its_added_time() -> None:
    """What the lane took for it beyond the provider's own time is kept; without a stamp there is none."""
    now = time.monotonic_ns()
    body = completion(f"the river {stamp(now, now + 3_600_000_000_000)} runs")
    seen = _shown(answer(body, b"content-type: application/json", length(body)), "plain")
    assert seen.added_s is not None
    assert -3600 < seen.added_s < -3590  # this provider says that it took an hour
    bare = completion("no stamp")
    assert _shown(answer(bare, b"content-type: application/json", length(bare)), "plain").added_s is None
