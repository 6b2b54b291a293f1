"""A whole calibration of a few seconds: its structure, its injected faults, and the page of the next campaign.

Nothing here is about accuracy: windows are tiny and the machine is busy with other tests.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.component.project import MATRIX, Project, Ran, stored_bytes

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(300)]

FAULTS = ["buffer", "coalesce-4", "drop-chunk-5", "error500", "stall-5"]
DELAYS = ["delay-3ms"]
CALIBRATION = {
    "known_delays": DELAYS,
    "plain": {"per_second": 90, "requests_per_lane": 30, "blocks": 1, "conditions": ["quiet", "jitter"]},
    "stream": {"per_second": 60, "requests_per_lane": 20, "blocks": 1, "conditions": ["busy"]},
    "repeats": 1,
    "neighbour": {"cores": 1, "share": 0.05},
    "faults": FAULTS,
    "requests_per_fault": 20,
    "baselines": {"drivers": ["wrk", "probe"], "per_second": 90, "requests": 100, "windows": 1},
}


@pytest.fixture(scope="module")
def calibrated(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ran]:
    """A calibration of one delay with the probe; wrk is not on PATH."""
    folder = tmp_path_factory.mktemp("calibration")
    project = Project(folder / "project", folder)
    project.matrix(
        subject="control",
        gateways=["control", {"id": "control", "settings": {"delay": "delay-3ms"}}],
        driver="probe",
        answers={"quick": {"delay": "10ms", "chunks": 8, "gap": "2ms"}},
        loads={"rate": {"per_second": [40], "duration": "2s", "warmup": 4, "timeout": "5s"}},
        accept={**MATRIX["accept"], "attempts_per_run": 2},
        calibration=CALIBRATION,
    )
    ran = project.invoke("bench", path=str(project.bin), within_s=280)
    project.assert_nothing_left()
    return project, ran


def certificate(project: Project) -> dict[str, Any]:
    """The certificate of the first campaign."""
    found = json.loads((project.campaigns()[0] / "certificate.json").read_text())
    assert isinstance(found, dict)
    return found


def test_it_ends_with_a_certificate_and_the_exit_code_that_fits(calibrated: tuple[Project, Ran]) -> None:
    """Exit 0 when it passed, 3 when not; either way it is told, and provisional for its few requests."""
    project, ran = calibrated
    found = certificate(project)
    ran.ends_with(0 if found["passed"] else 3)
    assert found["schema"] == "weighbridge.certificate/2"
    assert found["provisional"] is True
    assert found["passed"] is (not found["problems"])
    assert "its calibration (provisional certificate" in ran.out


def test_every_injected_fault_is_detected_by_its_own_check(calibrated: tuple[Project, Ran]) -> None:
    """Buffering and coalescing by the verdict, a lost chunk by fidelity, 500s by errors, a stall by stalls."""
    project, _ = calibrated
    detected = {fault["fault"]: fault["by"] for fault in certificate(project)["faults"] if fault["detected"]}
    assert list(detected) == FAULTS
    checks = ["buffering verdict", "buffering verdict", "fidelity", "errors", "stalls"]
    assert [by.partition(":")[0] for by in detected.values()] == checks


def test_known_delays_are_what_gateways_recorded(calibrated: tuple[Project, Ran]) -> None:
    """Each measured delay has three percentiles; errors are what is left of added time, control and delay."""
    project, _ = calibrated
    rows = certificate(project)["known_delays"]
    assert {row["delay"] for row in rows if row["arrangement"] == "cell"} == {"delay-3ms"}
    busy = [row for row in rows if row["condition"] == "busy"]
    # On a machine with other work a block may not count; then the certificate names it.
    is_named = any("mixed.stream.busy was not accepted" in text for text in certificate(project)["problems"])
    assert is_named or {(row["delay"], row["mode"], row["figure"]) for row in busy} >= {
        (delay, "stream", figure) for delay in DELAYS for figure in ("p50", "p95", "p99")
    }
    for row in rows:
        difference = row["added_ms"] - row["control_ms"] - row["known_ms"]
        assert row["added_error_ms"] == pytest.approx(difference, abs=1e-6)
        if row["delay"] == "delay-3ms" and row["figure"] == "p50":
            assert 2 < row["known_ms"] < 9


def test_what_cannot_be_measured_is_named(calibrated: tuple[Project, Ran]) -> None:
    """A driver that is not there has no baseline and a reason; the probe's baseline is there."""
    project, _ = calibrated
    baselines = {baseline["driver"]: baseline for baseline in certificate(project)["baselines"]}
    assert (baselines["wrk"]["p50_ms"], "wrk" in baselines["wrk"]["absent"]) == (None, True)
    assert baselines["probe"]["p50_ms"] is not None or baselines["probe"]["absent"]


def test_every_attempt_is_kept_apart_from_the_walk(calibrated: tuple[Project, Ran]) -> None:
    """Mixed blocks keep what their gateway recorded; the summary knows the walk's cells alone."""
    project, _ = calibrated
    campaign = project.campaigns()[0]
    kept = sorted((campaign / "calibration" / "cells").glob("mixed.*/b01*"))
    assert {path.parent.name for path in kept} == {"mixed.plain.quiet", "mixed.plain.jitter", "mixed.stream.busy"}
    for folder in kept:
        files = {path.name for path in folder.iterdir()}
        assert {"delays.csv", "run.json", "provider.csv"} <= files
    assert {cell["gateway"] for cell in project.summary(campaign)["cells"]} == {"direct", "control"}
    own = project.runs("control.none.work.plain.rate-40", campaign)
    assert "delays.csv" in next(iter(own.values()))["files"]


def test_the_summary_can_be_made_anew(calibrated: tuple[Project, Ran]) -> None:
    """The certificate in it comes from the campaign's own folder: the same bytes."""
    project, _ = calibrated
    campaign = project.campaigns()[0]
    before = (campaign / "summary.json").read_bytes()
    project.invoke("show", campaign.name, "--rebuild").ends_with(0)
    assert (campaign / "summary.json").read_bytes() == before
    assert json.loads(before)["certificate"]["campaign"] == campaign.name


def test_the_next_campaign_tells_whose_certificate_holds(calibrated: tuple[Project, Ran]) -> None:
    """A valid certificate of the same results folder is on the page of another matrix, else the reason is."""
    project, _ = calibrated
    made = certificate(project)
    project.matrix(driver="probe", loads={"clients": {"counts": [1], "requests": 10, "warmup": 2, "timeout": "5s"}})
    ran = project.invoke("bench")
    found = project.summary(project.campaigns()[1])["certificate"]
    page = (project.results / "site" / "index.html").read_text()
    if made["passed"]:
        assert found["campaign"] == made["campaign"]
        assert f"campaign {made['campaign']}" in ran.out
        assert made["campaign"] in page
    else:
        assert found["detail"].endswith("the calibration failed")
        assert "There is no valid certificate for this machine" in ran.out
        assert "There is no valid certificate for this machine" in page


def test_no_key_and_no_folder_is_kept(calibrated: tuple[Project, Ran]) -> None:
    """The calibration's own files are as clean as those of the schedule."""
    project, _ = calibrated
    # A key is more than its first letters: three bytes turn up in compressed files by chance.
    folders = [re.escape(str(place)).encode() for place in (project.folder, Path.home())]
    secret = re.compile(b"|".join([*folders, rb"sk-[A-Za-z0-9_-]{8}", rb"vdt_[A-Za-z0-9_-]{8}"]))
    found = [
        (name, match[0])
        for name, data in stored_bytes(project.campaigns()[0] / "calibration")
        if not name.endswith("bodies.jsonl") and (match := secret.search(data))
    ]
    assert not found
