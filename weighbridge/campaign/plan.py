"""What a campaign is about to do, as documents: its effective plan, and the fingerprint of each cell."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from weighbridge import METHOD_VERSION
from weighbridge.campaign.programs import Programs
from weighbridge.campaign.request import CampaignRequest
from weighbridge.matrix.cells import Cell
from weighbridge.record.campaign import CpuPlanFacts
from weighbridge.record.canonical import digest
from weighbridge.record.cell import identity_of
from weighbridge.record.host import ToolFacts
from weighbridge.record.plan import AcceptRules, EffectivePlan, PlannedGateway
from weighbridge.rig.machine.cpu_plan import CpuPlan


def effective_plan(request: CampaignRequest, tools: Sequence[ToolFacts]) -> EffectivePlan:
    """Return the plan of a request; `tools` are all programs that take part."""
    matrix = request.loaded.matrix
    accept = matrix.accept
    return EffectivePlan(
        method_version=METHOD_VERSION,
        quick=request.loaded.quick,
        only=request.only,
        runs=request.runs,
        seed=matrix.seed,
        grade=matrix.grade,
        driver=matrix.driver,
        companion=matrix.loads.companion,
        loads=tuple(dict.fromkeys(cell.load for cell in request.cells)),
        cells={cell.id: identity_of(cell).sha256 for cell in request.cells},
        calibration_sha256=None if matrix.calibration is None else digest(matrix.calibration),
        accept=AcceptRules(
            load_limit_per_cpu=accept.load_limit_per_cpu,
            gate_wait_s=accept.gate_wait_s,
            attempts_per_run=accept.attempts_per_run,
        ),
        idle_look_s=request.loaded.idle_look_s,
        warmup_count=matrix.warmup.request_count,
        warmup_within_s=matrix.warmup.within_s,
        gateways=tuple(_gateway(request, name) for name in dict.fromkeys(cell.gateway for cell in request.cells)),
        tools=tuple(tools),
    )


def fingerprint(request: CampaignRequest, programs: Programs, cell: Cell, cpus: CpuPlan | None) -> str:
    """Return the digest of all that makes a run of a cell what it is: two runs of one campaign folder must agree."""
    installed = request.gateways.get(cell.gateway)
    recipe = request.catalogue.get(cell.gateway)
    parts = {
        "cell": identity_of(cell).sha256,
        "cpu_plan": None if cpus is None else cpu_facts(cpus).model_dump(mode="json"),
        "gateway_sha256": None if installed is None else installed.facts.sha256,
        "method_version": METHOD_VERSION,
        "recipe_sha256": None if recipe is None else recipe.digest,
        "tools": [
            {"name": tool.name, "version": tool.version, "sha256": tool.sha256} for tool in programs.facts_of([cell])
        ],
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def cpu_facts(cpus: CpuPlan) -> CpuPlanFacts:
    """Return a CPU plan as it is recorded."""
    return CpuPlanFacts(gateway=cpus.gateway, mocks=cpus.mocks, driver=cpus.driver)


def _gateway(request: CampaignRequest, name: str) -> PlannedGateway:
    recipe, installed = request.catalogue.get(name), request.gateways.get(name)
    lanes = dict.fromkeys(cell.settings for cell in request.cells if cell.gateway == name)
    return PlannedGateway(
        id=name,
        recipe_sha256="" if recipe is None else recipe.digest,
        tool_sha256=None if installed is None else installed.facts.sha256,
        settings=tuple(dict(settings) for settings in lanes),
    )
