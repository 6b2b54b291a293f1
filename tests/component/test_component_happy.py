"""A whole small campaign that goes well: what is said, what is kept, what is rendered, what is not kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.component.project import MATRIX, Project, Ran, names_of_this_machine, stored_bytes

pytestmark = [pytest.mark.component, pytest.mark.timeout(300)]

CELLS = [
    f"{gateway}.none.work.{mode}.{load}"
    for gateway in ("direct", "reference")
    for mode in ("plain", "stream")
    for load in ("rate-20", "clients-2")
]


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Ran]:
    """Direct and reference, both modes, both loads; told as a document."""
    project = Project(tmp_path_factory.mktemp("happy") / "project")
    project.matrix(modes=["plain", "stream"], accept={**MATRIX["accept"], "attempts_per_run": 3})
    ran = project.invoke("bench", "--json")
    project.assert_nothing_left()
    return project, ran


def test_every_cell_is_valid(measured: tuple[Project, Ran]) -> None:
    """A sound gateway ends with exit 0: each planned cell valid with its wanted run, the baseline among them.

    What the rig alone spoilt is no fault of the code, and told as such: then it is exit 3.
    """
    project, ran = measured
    project.ends_well(ran)
    assert sorted(project.cells()) == sorted(CELLS)
    finished = project.finished()
    assert (finished["status"], finished["exit_code"]) == ("complete", ran.code)


def test_counts_on_both_sides_agree(measured: tuple[Project, Ran]) -> None:
    """A window sends what is measured, one more for each connection, and at a rate the warm-up in its front."""
    project, _ = measured
    cells = project.cells()
    for cell in CELLS:
        counts = project.record(cell)["counts"]
        load = cells[cell]["load"]
        wanted = load["request_count"] + load["connections"] + (load["warmup_count"] if load["kind"] == "rate" else 0)
        assert counts["provider_request_count"] == counts["client_success_count"] == wanted


def test_the_shift_is_a_difference(measured: tuple[Project, Ran]) -> None:
    """The shift is the gateway's percentile minus the baseline's of the same block."""
    project, _ = measured
    cells = project.cells()
    for cell in (name for name in CELLS if name.startswith("reference") and name.endswith("rate-20")):
        baseline = cells[cells[cell]["baseline"]]
        if project.spoilt() & {cell, baseline["cell"]}:
            continue
        shift = cells[cell]["shift_ms"]["p50"]
        assert shift == pytest.approx(cells[cell]["response_ms"]["p50"] - baseline["response_ms"]["p50"], abs=1e-6)


def test_json_prints_the_document_alone(measured: tuple[Project, Ran]) -> None:
    """Standard output holds the summary and nothing else; all that is told stands on standard error."""
    project, ran = measured
    assert json.loads(ran.out) == project.summary()
    assert "Page:" in ran.err


def test_records_are_whole(measured: tuple[Project, Ran]) -> None:
    """A run's folder holds the files that its record lists, and the driver's own output among them."""
    project, _ = measured
    for cell in CELLS:
        folder = project.attempt(cell)
        files = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
        assert files == {"run.json", *project.record(cell)["files"]}
        report = "driver/report.csv" if ".stream." in cell else "driver/report.json"
        assert {report, "driver/samples.db", "driver/argv.txt", "samples.npz", "provider.csv"} <= files
    assert (project.campaign / "matrix.yaml").read_bytes() == (project.folder / "matrix.yaml").read_bytes()
    assert not list(project.campaign.rglob(".partial*"))


def test_pages_are_on_disk(measured: tuple[Project, Ran]) -> None:
    """The page that the last line names is there, names every gateway and says that the reference is a mock."""
    project, ran = measured
    page = Path(re.findall(r"^Page: +(.+)$", ran.err, re.MULTILINE)[-1])
    text = page.read_text()
    assert page.is_relative_to(project.results)
    assert "mock, not a product" in text
    assert all(gateway in text for gateway in ("direct", "Reference gateway"))
    assert "mock, not a product" in page.with_suffix(".md").read_text()


def test_rebuilding_the_summary_gives_the_same_bytes(measured: tuple[Project, Ran]) -> None:
    """`summary.json` is derived: made anew from the runs it is the same, byte for byte, and so is its site."""
    project, _ = measured
    summary = project.campaign / "summary.json"
    before = summary.read_bytes()
    site = dict(stored_bytes(project.results / "site"))
    summary.write_text("{}")

    project.invoke("show", "latest", "--rebuild").ends_with(0)
    project.invoke("pages", "latest").ends_with(0)

    assert summary.read_bytes() == before
    assert dict(stored_bytes(project.results / "site")) == site


def test_show_prints_tables(measured: tuple[Project, Ran]) -> None:
    """`show` prints a row for each gateway, `show --json` the stored document."""
    project, _ = measured
    shown = project.invoke("show", project.campaign.name)
    shown.ends_with(0)
    assert re.search(r"^direct\b.* [01]/[12] +\w.*$", shown.out, re.MULTILINE)
    assert re.search(r"^reference \(mock, not a product\) .* [01]/[12] +\w.*$", shown.out, re.MULTILINE)
    assert json.loads(project.invoke("show", "latest", "--json").out) == project.summary()


def test_nothing_of_this_machine_is_kept(measured: tuple[Project, Ran]) -> None:
    """No key, no folder and no name of this machine stands in any kept file, however packed."""
    project, _ = measured
    key = re.compile(rb"sk-[0-9a-f]{16}|vdt_[0-9a-f]{16}")
    needles = [str(project.folder).encode(), *(name.encode() for name in names_of_this_machine())]
    found = [
        (name, needle)
        for name, data in stored_bytes(project.results)
        for needle in [*key.findall(data), *needles]
        if needle in data
    ]
    assert not found
