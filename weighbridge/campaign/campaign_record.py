"""The record that opens a campaign: what is set out to do, on which machine, with which programs."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from weighbridge import METHOD_VERSION, __version__
from weighbridge.campaign.event_log import utc_now
from weighbridge.campaign.plan import cpu_facts, effective_plan
from weighbridge.campaign.programs import Programs
from weighbridge.campaign.request import CampaignRequest
from weighbridge.errors import ToolMissing
from weighbridge.matrix.cells import BASELINE, Cell
from weighbridge.record.campaign import (
    CampaignRecord,
    GatewayFacts,
)
from weighbridge.record.canonical import digest
from weighbridge.record.cell import planned
from weighbridge.record.host import DiskFacts, ToolFacts
from weighbridge.rig.install.atomic_install import sha256_of
from weighbridge.rig.machine.cpu_plan import CpuPlan
from weighbridge.rig.machine.host import read_git, read_host


def open_record(
    request: CampaignRequest,
    order: Sequence[Sequence[Cell]],
    disks: Sequence[DiskFacts],
    environ: Mapping[str, str],
    *,
    programs: Programs,
    cpus: CpuPlan | None = None,
) -> CampaignRecord:
    """`campaign.json` of a campaign that is about to start, with the programs that it found."""
    matrix = request.loaded.matrix
    host = read_host(disks)
    now = datetime.now(UTC)
    used = programs.facts_of(request.cells)
    tools = tuple(dict.fromkeys((request.tool.facts, *used, *_python_tools())))
    plan = effective_plan(request, tools)
    plan_sha256 = digest(plan)
    return CampaignRecord(
        campaign=f"{now:%Y%m%dT%H%M%SZ}-{host.machine_class}-{plan_sha256[:8]}",
        weighbridge_version=__version__,
        method_version=METHOD_VERSION,
        started_at=utc_now(),
        title=matrix.title,
        command=request.command,
        grade=matrix.grade,
        runs=request.runs,
        seed=matrix.seed,
        matrix_sha256=request.loaded.sha256,
        subject=matrix.subject,
        load_limit_per_cpu=matrix.accept.load_limit_per_cpu,
        git=read_git(request.checkout, environ),
        host=host,
        tools=tools,
        plan=plan,
        plan_sha256=plan_sha256,
        gateways=tuple(_gateway(request, name) for name in _gateway_ids(request)),
        payloads={name: payload.spec(name) for name, payload in matrix.payloads.items()},
        answers={name: answer.spec(name) for name, answer in matrix.answers.items()},
        goodput=None if matrix.goodput is None else matrix.goodput.bounds,
        cells=tuple(planned(cell) for cell in request.cells),
        order=tuple(tuple(cell.id for cell in block) for block in order),
        cpu_plan=cpu_facts(cpus) if cpus else None,
        warnings=request.warnings,
    )


def _gateway_ids(request: CampaignRequest) -> tuple[str, ...]:
    """List the baseline first, then the gateways in the order of the matrix."""
    listed = [entry.id for entry in request.loaded.matrix.gateways]
    used = {cell.lane.gateway for cell in request.cells}
    return tuple(dict.fromkeys(name for name in (BASELINE, *listed) if name in used))


def _gateway(request: CampaignRequest, name: str) -> GatewayFacts:
    recipe = request.catalogue.get(name)
    if recipe is None:
        raise ToolMissing(f"the recipe of {name} has gone; run invoke check")
    installed = request.gateways.get(name)
    return GatewayFacts(
        id=name,
        name=recipe.name,
        kind=recipe.kind,
        label=recipe.label,
        homepage=recipe.homepage,
        license=recipe.license,
        recipe_sha256=recipe.digest,
        tool=installed.facts if installed else None,
        unavailable=request.unavailable.get(name),
    )


def _python_tools() -> tuple[ToolFacts, ...]:
    python = Path(sys.executable).resolve()
    facts = ToolFacts(name="python", version=platform.python_version(), sha256=sha256_of(python), source="path")
    return (facts,)
