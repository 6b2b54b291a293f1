"""The file of request bodies."""

from __future__ import annotations

import json
import random
import re
from dataclasses import replace
from pathlib import Path

import pytest

from mocks.stamps import find_reference
from weighbridge.load.contract.bodies import BodyFacts, BodyPlan, write_bodies
from weighbridge.load.contract.prompt_words import WORDS
from weighbridge.matrix.requests import PayloadSpec
from weighbridge.record.stamps import reference

PLAN = BodyPlan(PayloadSpec("1k", 256, 1024), "plain", "mock-model", 100, 7)


def _documents(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]


def test_messages_have_the_sizes_that_were_asked_for(tmp_path: Path) -> None:
    """Each line is one request with a system and a user message of exactly so many bytes."""
    facts = write_bodies(tmp_path / "bodies", PLAN)
    documents = _documents(tmp_path / "bodies")
    assert len(documents) == facts.line_count == 2_000
    assert facts.byte_count == (tmp_path / "bodies").stat().st_size
    for document in documents:
        assert (document["model"], document["stream"]) == ("mock-model", False)
        sizes = [(m["role"], len(m["content"])) for m in document["messages"]]
        assert sizes == [("system", 256), ("user", 1024)]


def test_every_prompt_has_its_own_reference_that_the_provider_reads(tmp_path: Path) -> None:
    """The mock provider finds a reference at the front of each user message, and no two are alike."""
    write_bodies(tmp_path / "bodies", PLAN)
    prompts = [str(d["messages"][-1]["content"]) for d in _documents(tmp_path / "bodies")]
    found = {find_reference(prompt.encode()) for prompt in prompts}
    assert None not in found
    assert len(found) == len(prompts)
    assert all(prompt.startswith("weighref") for prompt in prompts)


def test_texts_hold_nothing_that_a_policy_hunts_for(tmp_path: Path) -> None:
    """Letters, spaces and full stops only; no trip word, no digit."""
    write_bodies(tmp_path / "bodies", PLAN)
    text = " ".join(m["content"] for d in _documents(tmp_path / "bodies") for m in d["messages"]).lower()
    assert not set(re.sub("[a-z .]", "", text))
    for word in ("buy", "sell", "not public", "insider", "board decision", "ignore", "password", "secret", "invest"):
        assert word not in text


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(tmp_path: Path) -> None:
    """Bodies are repeatable, and a new seed makes all prompts new."""
    for name, plan in (("a", PLAN), ("b", PLAN), ("c", replace(PLAN, seed=8))):
        write_bodies(tmp_path / name, plan)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    first, other = ({d["messages"][-1]["content"] for d in _documents(tmp_path / name)} for name in "ac")
    assert not first & other


def test_stream_asks_for_a_stream_and_no_system_message_is_possible(tmp_path: Path) -> None:
    """A payload without a system part has the user message alone."""
    plan = replace(PLAN, payload=PayloadSpec("s", 0, 40), mode="stream")
    write_bodies(tmp_path / "bodies", plan)
    first = _documents(tmp_path / "bodies")[0]
    assert first["stream"] is True
    assert [m["role"] for m in first["messages"]] == ["user"]


def test_larger_windows_get_more_lines(tmp_path: Path) -> None:
    """Ten lines per request, so that fewer than 5 % of the prompts repeat."""
    facts = write_bodies(tmp_path / "bodies", replace(PLAN, request_count=300, payload=PayloadSpec("s", 0, 30)))
    assert facts.line_count == 3_000
    assert facts.expected_repeat_ratio(300) < 0.05


@pytest.mark.parametrize(
    ("lines", "requests", "expected"), [(100, 100, 0.368), (1000, 100, 0.048), (10000, 100, 0.005)]
)
def test_the_expected_share_of_repeats_is_that_of_drawing_with_replacement(
    lines: int, requests: int, expected: float
) -> None:
    """The formula agrees with its known values and with drawing itself."""
    ratio = BodyFacts(lines, 0).expected_repeat_ratio(requests)
    assert ratio == pytest.approx(expected, abs=1e-3)
    draw = random.Random(1)  # noqa: S311
    trials = [1 - len({draw.randrange(lines) for _ in range(requests)}) / requests for _ in range(300)]
    assert sum(trials) / len(trials) == pytest.approx(ratio, abs=0.006)


def test_a_reference_is_letters_with_a_check() -> None:
    """Mark, sixteen letters a–p and a check letter; a damaged one is not read by the provider."""
    code = reference(0x0123456789ABCDEF)
    assert re.fullmatch("weighref[a-p]{17}", code)
    assert code[8:24] == "abcdefghijklmnop"
    assert find_reference(code.encode()) == b"abcdefghijklmnop"
    assert find_reference(code.replace("abcd", "abce").encode()) is None


def test_words_are_plain_and_each_stands_once() -> None:
    """Lower-case letters, no doubles."""
    assert all(re.fullmatch("[a-z]+", word) for word in WORDS)
    assert len(set(WORDS)) == len(WORDS)
