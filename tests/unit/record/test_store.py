"""The store: where attempts of a block stand."""

from __future__ import annotations

from pathlib import Path

from tests.examples.judge_examples import run
from weighbridge.record.coded import Reason
from weighbridge.record.store import CampaignStore


def test_each_attempt_of_a_block_has_a_folder_of_its_own(tmp_path: Path) -> None:
    """The baseline of a long block has two accepted runs and a rejected one: none takes the place of another."""
    store = CampaignStore(tmp_path)
    cell = "direct.none.work.plain.clients-1"
    made = [
        run(cell, 1, attempt=1),
        run(cell, 1, attempt=2, accepted=False, verdict="rig_limited", reason=Reason.of("load_limit")),
        run(cell, 1, attempt=3),
        run(cell, 2, attempt=4),
    ]
    folders = [store.commit(one, {}, None).name for one in made]
    assert folders == ["b01", "b01.rejected-1", "b01.2", "b02"]
    assert [one.attempt for one in store.runs()] == [1, 2, 3, 4]
