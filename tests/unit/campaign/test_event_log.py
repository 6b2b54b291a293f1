"""The event log: appended, never rewritten, and no reason to end a campaign."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from weighbridge.campaign.event_log import EventLog


def test_events_are_appended_to_what_is_there(tmp_path: Path) -> None:
    """Each is one line of JSON on disk at once, behind those of an earlier log."""
    path = tmp_path / "events.jsonl"
    for name in ("first", "second"):
        with EventLog(path, now=lambda: "then") as log:
            log.write(name, text="a\nb – ü")
            assert json.loads(path.read_text().splitlines()[-1]) == {"at": "then", "event": name, "text": "a\nb – ü"}

    assert [json.loads(line)["event"] for line in path.read_text().splitlines()] == ["first", "second"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no full device")
def test_a_full_disk_ends_the_log_and_nothing_else() -> None:
    """What cannot be written is left out, and neither the next event nor the end is an error."""
    with EventLog(Path("/dev/full")) as log:
        log.write("began")
        log.write("went_on")

    assert log.is_full
