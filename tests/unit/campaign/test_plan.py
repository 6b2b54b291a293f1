"""The effective plan: whatever changes what a campaign measures changes its digest, and thereby its folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.examples.matrix_samples import SMALL, catalogue
from weighbridge.campaign.campaign_record import open_record
from weighbridge.campaign.plan import effective_plan, fingerprint
from weighbridge.campaign.request import CampaignRequest
from weighbridge.load.drivers import DRIVERS, TRAITS
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import read_matrix
from weighbridge.matrix.select import select
from weighbridge.record.canonical import digest
from weighbridge.record.host import ToolFacts
from weighbridge.record.plan import EffectivePlan
from weighbridge.rig.install.atomic_install import Installed, Tool
from weighbridge.rig.machine.cpu_plan import CpuPlan

QUICK = "quick: {runs: 1}\n"


def request(
    folder: Path,
    *,
    driver: str | None = None,
    runs: int | None = None,
    quick: bool = False,
    only: tuple[str, ...] = (),
) -> CampaignRequest:
    """What the front door asks of a campaign with these flags, all of one matrix file."""
    file = folder / "matrix.yaml"
    file.write_text(SMALL + QUICK)
    loaded = read_matrix(file, TRAITS, quick=quick).override(runs=runs, driver=driver)
    matrix = loaded.matrix
    facts = ToolFacts(name=matrix.driver, version="1", sha256=matrix.driver, source="path")
    gateways = {
        name: Installed(None, Path("python"), ToolFacts(name=name, version="1", sha256="a", source="path"))
        for name in catalogue().ids
    }
    return CampaignRequest(
        loaded=loaded,
        catalogue=catalogue(),
        cells=select(expand(loaded, catalogue()), list(only)),
        only=only,
        runs=matrix.runs,
        results=folder / "results",
        home=folder,
        state_root=None,
        port_base=None,
        driver=DRIVERS[matrix.driver],
        tool=Tool(Path("tool"), facts),
        gateways=gateways,
        unavailable={},
        warnings=(),
        command="",
        checkout=None,
    )


def plan(asked: CampaignRequest) -> EffectivePlan:
    """Its plan, with the driver alone as a tool."""
    return effective_plan(asked, (asked.tool.facts,))


def folder_name(asked: CampaignRequest) -> str:
    """Digest in the name of the campaign's folder."""
    return open_record(asked, (), (), {"PATH": ""}).campaign.rpartition("-")[2]


FLAGS: dict[str, dict[str, object]] = {
    "driver": {"driver": "wrk"},
    "runs": {"runs": 7},
    "quick": {"quick": True},
    "only": {"only": ("alpha.*",)},
}


@pytest.mark.parametrize("flags", FLAGS.values(), ids=FLAGS)
def test_campaigns_of_one_file_with_other_flags_have_other_folders(tmp_path: Path, flags: dict[str, object]) -> None:
    """--driver, --runs, --quick and --only each give another digest than none of them; the same flags the same."""
    asked = request(tmp_path, **flags)  # type: ignore[arg-type]

    assert folder_name(asked) != folder_name(request(tmp_path))
    assert folder_name(asked) == folder_name(request(tmp_path, **flags))  # type: ignore[arg-type]


def test_a_pattern_counts_even_if_it_selects_everything(tmp_path: Path) -> None:
    """What was asked is a part of the plan, not only what came of it."""
    assert digest(plan(request(tmp_path, only=("*",)))) != digest(plan(request(tmp_path)))


CHANGED: dict[str, Callable[[CampaignRequest], CampaignRequest]] = {
    "tool": lambda asked: replace(
        asked, tool=replace(asked.tool, facts=asked.tool.facts.model_copy(update={"sha256": "b"}))
    ),
    "gateway": lambda asked: replace(
        asked,
        gateways={
            name: replace(one, facts=one.facts.model_copy(update={"sha256": "b"}))
            for name, one in asked.gateways.items()
        },
    ),
}


@pytest.mark.parametrize("change", CHANGED.values(), ids=CHANGED)
def test_another_copy_is_another_plan_and_another_fingerprint(
    tmp_path: Path, change: Callable[[CampaignRequest], CampaignRequest]
) -> None:
    """A rebuilt load generator or gateway gives another plan, and other fingerprints of its cells."""
    asked = request(tmp_path)
    cell = asked.cells[-1]

    assert digest(plan(change(asked))) != digest(plan(asked))
    assert fingerprint(change(asked), cell, None) != fingerprint(asked, cell, None)


def test_a_fingerprint_is_that_of_the_cell_and_the_cpu_plan(tmp_path: Path) -> None:
    """Each cell has its own, and another on other CPUs; more runs or fewer cells change none."""
    asked, more = request(tmp_path), request(tmp_path, runs=9, only=("alpha.*",))
    found = {fingerprint(asked, cell, None) for cell in asked.cells}
    cell = more.cells[0]

    assert len(found) == len(asked.cells)
    assert fingerprint(more, cell, None) in found
    assert fingerprint(asked, cell, CpuPlan((1,), (2,), (3,))) not in found


def test_the_record_holds_the_plan_and_its_digest(tmp_path: Path) -> None:
    """The digest in the record is that of the plan beside it, and it comes back from JSON."""
    record = open_record(request(tmp_path, only=("alpha.*",), quick=True), (), (), {"PATH": ""})

    assert record.plan is not None
    assert record.plan_sha256 == digest(record.plan)
    assert (record.plan.only, record.plan.quick) == (("alpha.*",), True)
    assert type(record).from_json(record.to_json(), origin="here") == record
    assert set(record.plan.cells) == {cell.cell for cell in record.cells}
    assert {cell.identity.sha256 for cell in record.cells} == set(record.plan.cells.values())
