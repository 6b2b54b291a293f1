"""The effective plan: whatever changes what a campaign measures changes its digest, and thereby its folder."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.examples.matrix_samples import SMALL, catalogue
from weighbridge.campaign.campaign_record import open_record
from weighbridge.campaign.plan import effective_plan, fingerprint
from weighbridge.campaign.programs import Programs, find_programs
from weighbridge.campaign.request import CampaignRequest
from weighbridge.load.drivers import DRIVERS, TRAITS
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.expand import expand
from weighbridge.matrix.load import read_matrix
from weighbridge.matrix.select import select
from weighbridge.record.campaign import CampaignRecord
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


def programs(asked: CampaignRequest) -> Programs:
    """Programs that come with us, digested once, and the driver that was asked for."""
    found = ours(asked.home)
    return replace(found, tools={**found.tools, asked.driver.name: asked.tool})


@functools.cache
def ours(folder: Path) -> Programs:
    """Programs of a campaign for which nothing is on PATH."""
    return find_programs(request(folder), "")


def of_cell(asked: CampaignRequest, cell: Cell, cpus: CpuPlan | None = None) -> str:
    """Fingerprint of a cell, with the programs that come with us and the driver."""
    return fingerprint(asked, programs(asked), cell, cpus)


def folder_name(asked: CampaignRequest) -> str:
    """Digest in the name of the campaign's folder."""
    return opened(asked).campaign.rpartition("-")[2]


def opened(asked: CampaignRequest) -> CampaignRecord:
    """The record that opens its campaign."""
    return open_record(asked, (), (), {"PATH": ""}, programs=programs(asked))


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
    assert of_cell(change(asked), cell) != of_cell(asked, cell)


def test_a_fingerprint_is_that_of_the_cell_and_the_cpu_plan(tmp_path: Path) -> None:
    """Each cell has its own, and another on other CPUs; more runs or fewer cells change none."""
    asked, more = request(tmp_path), request(tmp_path, runs=9, only=("alpha.*",))
    found = {of_cell(asked, cell) for cell in asked.cells}
    cell = more.cells[0]

    assert len(found) == len(asked.cells)
    assert of_cell(more, cell) in found
    assert of_cell(asked, cell, CpuPlan((1,), (2,), (3,))) not in found


def test_every_program_of_ours_that_takes_part_stands_in_the_record(tmp_path: Path) -> None:
    """The mocks always, the probe where it rides along, the script that wrk runs: a certificate is held to them."""
    names = {tool.name: tool for tool in opened(request(tmp_path)).tools}
    by_wrk = {tool.name: tool for tool in opened(request(tmp_path, driver="wrk")).tools}

    assert {"oha", "probe", "mocks", "python"} <= set(names)
    assert {"wrk", "wrk script", "mocks"} <= set(by_wrk)
    assert "wrk script" not in names
    assert all(tool.sha256 for tool in (*names.values(), *by_wrk.values()))


def test_the_record_holds_the_plan_and_its_digest(tmp_path: Path) -> None:
    """The digest in the record is that of the plan beside it, and it comes back from JSON."""
    record = opened(request(tmp_path, only=("alpha.*",), quick=True))

    assert record.plan is not None
    assert record.plan_sha256 == digest(record.plan)
    assert (record.plan.only, record.plan.quick) == (("alpha.*",), True)
    assert type(record).from_json(record.to_json(), origin="here") == record
    assert set(record.plan.cells) == {cell.cell for cell in record.cells}
    assert {cell.identity.sha256 for cell in record.cells} == set(record.plan.cells.values())
