"""The probe beside oha: added figures of every lane, counts over both clients, and a probe that dies in a window."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import psutil
import pytest

from tests.component.project import MATRIX, Project, stored_bytes, wait_for
from weighbridge.record.probe_tables import RequestTable, from_bytes

pytestmark = [pytest.mark.campaign, pytest.mark.timeout(300)]

RATE = 40
LOADS = {"rate": {"per_second": [RATE], "duration": "3s", "warmup": 4, "timeout": "5s"}}
CELLS = [
    f"{gateway}.none.work.{mode}.rate-{RATE}" for gateway in ("direct", "reference") for mode in ("plain", "stream")
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """Direct and reference, both modes, one rate with the probe beside the stand-in oha."""
    project = Project(tmp_path_factory.mktemp("companion") / "project")
    project.matrix(modes=["plain", "stream"], loads=LOADS, accept={**MATRIX["accept"], "attempts_per_run": 3})
    project.ends_well(project.invoke("bench", "--json"))
    project.assert_nothing_left()
    return project


def test_counts_of_both_clients_are_the_providers(measured: Project) -> None:
    """Driver and probe sent what the window asks for, each its part, and the provider received just that."""
    cells = measured.cells()
    for cell in CELLS:
        run = measured.record(cell)
        counts, roles = run["counts"], [client["role"] for client in run["clients"]]
        assert (roles, run["no_companion"]) == (["driver", "companion"], None)
        driver, companion = run["clients"]
        load = cells[cell]["load"]
        wanted = 3 * RATE + load["warmup_count"] + load["connections"] + companion["load"]["connections"]
        parts = [client["load_report"]["answered_count"] for client in run["clients"]]
        assert sum(parts) == wanted
        assert parts[1] == companion["load"]["rate_rps"] * wanted / RATE
        assert counts["client_sent_count"] == counts["client_success_count"] == wanted
        assert counts["provider_request_count"] == wanted
        assert f"{RATE - companion['load']['rate_rps']:g}" in driver["driver"]["argv"]


def test_offered_and_achieved_are_of_both_clients(measured: Project) -> None:
    """The cell's rate is the whole rate: offered as the matrix says, and achieved by both together."""
    for cell in CELLS:
        figures = measured.record(cell)["figures"]
        assert figures["offered_rps"] == RATE
        assert 0.9 * RATE < figures["achieved_rps"]["value"] < 1.05 * RATE


def test_added_figures_of_every_lane(measured: Project) -> None:
    """Added time, legs, chunks and buffering come from the probe, on the direct lane as on the gateway's."""
    for cell in CELLS:
        run = measured.record(cell)
        names = ("added_ms",) if ".plain." in cell else ("added_first_ms", "added_total_ms", "ttft_ms", "gap_ms")
        for name in (*names, "request_path_ms", "response_path_ms"):
            assert run["figures"][name]["p50"] > 0, (cell, name)
        answered = run["clients"][1]["load_report"]["answered_count"]
        assert run["figures"]["stamps"]["whole_count"] == answered
        assert run["figures"]["fidelity"]["answer_count"] == answered
        assert (run["figures"]["buffering"] is None) is (".plain." in cell)


def test_a_gateway_adds_more_than_the_baseline(measured: Project) -> None:
    """The two lanes are told apart by the same probe at the same rate."""
    for mode, name in (("plain", "added_ms"), ("stream", "added_first_ms")):
        baseline, gateway = (
            measured.record(f"{g}.none.work.{mode}.rate-{RATE}")["figures"][name] for g in ("direct", "reference")
        )
        assert gateway["p50"] > baseline["p50"]


def test_lanes_of_a_block_get_the_same_prompts_at_the_same_times(measured: Project) -> None:
    """The probe sent through the gateway what it sent to the baseline, when it sent it there, at random.

    In the other mode it had other prompts.
    """
    sent, gaps = {}, {}
    for cell in CELLS:
        file = measured.attempt(cell) / "companion" / "requests.npz"
        table = from_bytes(RequestTable, file.read_bytes(), origin=cell)
        sent[cell], gaps[cell] = table.reference.tolist(), np.diff(table.intended_ns).tolist()
        assert len(set(sent[cell])) == len(sent[cell])
    for mode in ("plain", "stream"):
        direct, gateway = (f"{lane}.none.work.{mode}.rate-{RATE}" for lane in ("direct", "reference"))
        assert sent[direct] == sent[gateway]
        assert gaps[direct] == gaps[gateway]
        # Of dithered requests no gap is longer than two slots, of random ones one in seven is.
        assert max(gaps[direct]) > 2e9 / measured.cells()[direct]["load"]["companion"]["rate_rps"]
    assert not set(sent[CELLS[0]]) & set(sent[CELLS[1]])
    assert measured.summary()["prompts"] == {"same_in_block": True, "drawn_by": ["oha"]}


def test_files_of_the_probe_are_kept_without_secrets(measured: Project) -> None:
    """Tables, report and arguments lie under `companion/`; no key and no folder of this machine is in any of them."""
    key = re.compile(rb"sk-[0-9a-f]{16}|vdt_[0-9a-f]{16}")
    for cell in CELLS:
        run = measured.record(cell)
        kept = {name for name in run["files"] if name.startswith("companion/")}
        assert {
            f"companion/{name}" for name in ("report.json", "samples.npz", "requests.npz", "events.npz", "argv.txt")
        } <= kept
        assert not any("plan" in name for name in kept)
        for name, data in stored_bytes(measured.attempt(cell) / "companion"):
            assert not key.search(data), name
            assert str(measured.folder).encode() not in data, name


def test_a_probe_that_dies_is_the_rigs_fault_and_tried_again(project: Project) -> None:
    """Killed in its window it takes its part of the rate with it: rejected, kept, and the next attempt counts."""
    project.matrix(loads=LOADS, accept={**MATRIX["accept"], "attempts_per_run": 3})
    began = project.begin("bench", "--only", "reference*")
    try:
        wait_for(lambda: bool(_companions(project)), 60, lambda: "no companion probe drove")
        for process in _companions(project):
            process.kill()
        ran = began.ended(120)
    finally:
        began.kill()
    rejected = [run for cell in CELLS for name, run in project.runs(cell).items() if "rejected" in name]

    assert "generator_failed" in {run["reason"]["code"] for run in rejected}
    killed = next(run for run in rejected if run["reason"]["code"] == "generator_failed")
    assert "the companion probe ended with signal 9" in killed["reason"]["detail"]
    assert killed["counts"]["client_sent_count"] is None
    project.ends_well(ran)


def _companions(project: Project) -> list[psutil.Process]:
    """Probes of this project whose window is open."""
    found = []
    for process in psutil.process_iter():
        try:
            folder = Path(process.cwd())
            if folder.is_relative_to(project.folder) and "weighbridge.load.probe.program" in process.cmdline():
                found += [process] if (folder.parent / "ready").exists() else []
        except psutil.Error:
            continue
    return found
