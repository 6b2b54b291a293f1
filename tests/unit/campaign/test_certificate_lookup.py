"""Which certificate a campaign shows, and what its own does to the exit code."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tests.examples.calibration_examples import certificate
from tests.examples.judge_examples import campaign
from weighbridge.campaign.certificate_lookup import NONE_THERE, certificate_for
from weighbridge.judge.cell.exit_code import exit_code
from weighbridge.judge.cell.summarise import summarise
from weighbridge.record.campaign import CampaignRecord, Finished
from weighbridge.record.certificate import Certificate
from weighbridge.record.figures import Absent
from weighbridge.record.store import CampaignStore

NOW = datetime.now(UTC)


def stored(results: Path, name: str, found: Certificate | None = None) -> CampaignStore:
    """A campaign in a results folder, with a certificate of its own or without."""
    store = CampaignStore.create(results, record(name), b"")
    if found is not None:
        store.write_document("certificate.json", found)
    return store


def record(name: str) -> CampaignRecord:
    """A campaign by that name."""
    return campaign().model_copy(update={"campaign": name})


def test_a_campaign_shows_its_own_certificate_even_a_failed_one(tmp_path: Path) -> None:
    """What it found stands on its page, without the figures of each block."""
    own = certificate(record("b"), made_at=NOW, error_ns=1_000_000)
    stored(tmp_path, "a", certificate(record("a"), made_at=NOW))

    found = certificate_for(tmp_path, stored(tmp_path, "b", own))

    assert isinstance(found, Certificate)
    assert (found.campaign, found.passed) == ("b", False)
    assert all(row.blocks == () for row in found.known_delays)


def test_the_newest_one_that_holds_is_shown(tmp_path: Path) -> None:
    """Failed, old and damaged ones are passed over."""
    stored(tmp_path, "old", certificate(record("old"), made_at=NOW - timedelta(days=8)))
    stored(tmp_path, "good", certificate(record("good"), made_at=NOW - timedelta(days=2)))
    stored(tmp_path, "better", certificate(record("better"), made_at=NOW - timedelta(hours=2)))
    stored(tmp_path, "failed", certificate(record("failed"), made_at=NOW - timedelta(hours=1), detected=False))
    damaged = stored(tmp_path, "damaged")
    (damaged.folder / "certificate.json").write_text("{")

    found = certificate_for(tmp_path, stored(tmp_path, "mine"))

    assert isinstance(found, Certificate)
    assert found.campaign == "better"


def test_without_a_valid_one_the_reason_of_the_newest_is_given(tmp_path: Path) -> None:
    """Absent, never silent: none there, or why the newest does not hold."""
    mine = stored(tmp_path, "mine")
    assert certificate_for(tmp_path, mine) == NONE_THERE

    stored(tmp_path, "old", certificate(record("old"), made_at=NOW - timedelta(days=8)))
    found = certificate_for(tmp_path, mine)

    assert isinstance(found, Absent)
    assert found.absent == "certificate_does_not_hold"
    assert found.detail == "that of old does not hold: it is older than seven days"


def finished(found: Certificate | Absent) -> Finished:
    """A complete campaign."""
    return Finished(
        status="complete", exit_code=0, ended_at="2026-11-30T12:00:00Z", accepted_count=0, rejected_count=0,
        text="done", certificate=found,
    )  # fmt: skip


def test_only_an_own_failed_certificate_makes_exit_code_3() -> None:
    """A calibration that fails is exit 3; a passed one and another campaign's are not the cells' business."""
    mine = record("mine")
    failed = certificate(mine, error_ns=1_000_000)
    assert not failed.passed
    assert exit_code(summarise(mine, (), finished(failed))) == 3
    assert exit_code(summarise(mine, (), finished(certificate(mine)))) == 0
    assert exit_code(summarise(mine, (), finished(certificate(record("other"), error_ns=1_000_000)))) == 0


def test_a_finished_campaign_is_read_back_with_its_certificate(tmp_path: Path) -> None:
    """The summary that is made anew from the folder is the same, its certificate included."""
    store = stored(tmp_path, "mine")
    store.finish(finished(certificate(record("mine")).short))
    found = store.finished()
    assert found is not None

    summary = summarise(store.record(), (), found)

    assert isinstance(summary.certificate, Certificate)
    assert type(summary).from_json(summary.to_json(), origin="summary.json") == summary
