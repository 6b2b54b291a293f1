"""The summary of a campaign: derived from its record and its runs alone, and so rebuilt at any time.

Every planned cell is in it, whatever became of it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from weighbridge.judge.cell.cell import summarise_cell
from weighbridge.judge.cell.cpu_slope import cpu_slopes
from weighbridge.judge.cell.prompts import prompt_facts
from weighbridge.judge.cell.shift import by_cell
from weighbridge.judge.cell.slopes import slopes
from weighbridge.judge.cell.verdict import CellAttempts
from weighbridge.judge.run import checks
from weighbridge.judge.run.background_load import loaded_text
from weighbridge.matrix.axes import others
from weighbridge.matrix.cells import BASELINE
from weighbridge.record.campaign import CampaignRecord, Finished, GatewayFacts
from weighbridge.record.codes import ordered_flags
from weighbridge.record.figures import Absent
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import MOCK_LABEL, CellSummary, GatewaySummary, Summary

NOT_ENDED = Absent(absent="not_ended")
ONE_RATE = Absent(absent="one_rate")


def summarise(campaign: CampaignRecord, runs: Sequence[RunRecord], finished: Finished | None) -> Summary:
    """Give the whole campaign as pages and outside readers get it; `finished` is None while it runs or after a crash.

    The same campaign and runs give the same summary, in whatever order the runs are given.
    """
    status = "running" if finished is None else finished.status
    attempts = by_cell(runs)
    accepted = [run for mine in attempts.values() for run in mine if run.accepted]
    text = loaded_text(accepted)
    return Summary(
        campaign=campaign.campaign,
        method_version=campaign.method_version,
        grade=campaign.grade,
        subject=campaign.subject,
        status=status,
        host=campaign.host,
        provenance=campaign,
        payloads=campaign.payloads,
        answers=campaign.answers,
        gateways=_gateways(campaign.gateways),
        loaded_machine=text is not None,
        loaded_text=text,
        runs_accepted=len(accepted),
        runs_rejected=len(runs) - len(accepted),
        cells=tuple(_with_baseline_flags(_cells(campaign, attempts, status))),
        prompts=prompt_facts(campaign.cells, attempts),
        slopes=slopes(campaign, attempts),
        certificate=NOT_ENDED if finished is None else finished.certificate,
    )


def _cells(
    campaign: CampaignRecord, attempts: Mapping[str, tuple[RunRecord, ...]], status: str
) -> tuple[CellSummary, ...]:
    unavailable = {gateway.id: gateway.unavailable for gateway in campaign.gateways}
    # The baseline may be run more than once in a block; a cell that cannot be run stands in no block.
    planned = Counter(cell for block in campaign.order for cell in block)
    cells = tuple(
        summarise_cell(
            CellAttempts(
                plan=plan,
                runs=attempts.get(plan.cell, ()),
                wanted=planned[plan.cell] or campaign.runs,
                status=status,
                unavailable=unavailable.get(plan.gateway),
            ),
            attempts.get(plan.baseline, ()),
        )
        for plan in campaign.cells
    )
    slopes_ms = cpu_slopes(campaign.cells, attempts)
    return tuple(
        cell.with_figures({"cpu_slope_ms": slopes_ms.get(cell.cell) or _no_slope(cell)})
        if cell.runs_accepted
        else cell
        for cell in cells
    )


def _no_slope(cell: CellSummary) -> Absent:
    return ONE_RATE if cell.load.measures_times else Absent(absent="open_streams")


def _gateways(gateways: Sequence[GatewayFacts]) -> tuple[GatewaySummary, ...]:
    baseline_first = sorted(gateways, key=lambda one: one.kind != "baseline")
    return tuple(
        GatewaySummary(
            id=one.id,
            name=one.name,
            kind=one.kind,
            label=MOCK_LABEL if one.kind == "mock" else one.label,
            version=None if one.tool is None else one.tool.version,
            sha256=None if one.tool is None else one.tool.sha256,
            homepage=one.homepage,
            license=one.license,
            unavailable=one.unavailable,
        )
        for one in baseline_first
    )


def _with_baseline_flags(cells: Sequence[CellSummary]) -> Iterator[CellSummary]:
    """Yield the cells, with `baseline_slow` on each direct cell slow under its load and on those compared with it."""
    slow = {cell.cell for cell in cells if cell.gateway == BASELINE and _is_slow(cell, cells)}
    for cell in cells:
        if cell.cell in slow or cell.baseline in slow:
            yield cell.changed(flags=ordered_flags([*cell.flags, "baseline_slow"]))
        else:
            yield cell


def _is_slow(baseline: CellSummary, cells: Sequence[CellSummary]) -> bool:
    return any(
        checks.baseline_slow(baseline.timing("service_ms"), other.timing("service_ms"))
        for other in cells
        if other.load.is_serial and others(other, "load") == others(baseline, "load")
    )
