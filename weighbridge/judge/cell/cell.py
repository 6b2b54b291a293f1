"""One cell of the summary: what it is, its verdict, its figures and their flags.

Leaves verdicts to `outcome`, general rules of merging to `merging` and checks to `checks`.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Sequence

from weighbridge.judge.cell import cell_open_streams, cell_probe, enough_runs, yardsticks
from weighbridge.judge.cell.cpu_cost import CpuCost, cpu_cost
from weighbridge.judge.cell.drifts import drift_flags
from weighbridge.judge.cell.enough_runs import too_few
from weighbridge.judge.cell.merging import merge
from weighbridge.judge.cell.shift import shifts
from weighbridge.judge.cell.verdict import CellAttempts, CellVerdict, outcome, rejected_by_reason
from weighbridge.judge.run import checks
from weighbridge.judge.run.failed_requests import failed_in_run
from weighbridge.judge.run.probe_flags import late_flags
from weighbridge.record.codes import ordered_flags
from weighbridge.record.figures import NOT_MEASURED
from weighbridge.record.measured import Values
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import CellSummary, RunLine


def summarise_cell(attempts: CellAttempts, baselines: Sequence[RunRecord]) -> CellSummary:
    """Return the summary of a planned cell; `baselines` are all attempts at its baseline."""
    plan, accepted = attempts.plan, attempts.accepted
    found = outcome(attempts)
    moved = shifts(attempts, baselines, found)
    seen = cell_probe.summarise(attempts, baselines, found)
    figures: Values = {
        **merge(attempts, found),
        **moved.figures,
        **seen.figures,
        "littles_rps": _littles(accepted, plan.load.concurrency),
        "memory_per_stream_bytes": cell_open_streams.memory(attempts, found),
    }
    of_figures = (*late_flags(figures), *enough_runs.flags(figures), *yardsticks.flags(attempts, figures))
    of_runs = (*_run_flags(attempts), *drift_flags(accepted))
    flags = (*found.flags, *of_runs, *moved.flags, *seen.flags, *of_figures)
    return _bare(attempts, found, flags).with_figures(figures)


def _bare(attempts: CellAttempts, found: CellVerdict, flags: Sequence[str]) -> CellSummary:
    """Return the cell with what it is and how it ended, without a figure."""
    plan, accepted = attempts.plan, attempts.accepted
    return CellSummary(
        cell=plan.cell,
        gateway=plan.gateway,
        settings=plan.settings,
        chain=plan.chain,
        disk=plan.disk,
        mode=plan.mode,
        payload=plan.payload.name,
        answer=plan.answer.name,
        load=plan.load,
        driver=plan.driver,
        baseline=plan.baseline,
        verdict=found.verdict,
        reason=found.reason,
        flags=ordered_flags(flags),
        runs_wanted=attempts.wanted,
        runs_accepted=len(accepted),
        runs_attempted=len(attempts.runs),
        rejected=rejected_by_reason(attempts.rejected),
        runs=tuple(_line(run) for run in attempts.runs),
        failed=found.failed,
        offered_rps=plan.load.offered_rps,
        served_text=found.served,
        load_before=accepted[0].load_before if accepted else None,
        load_after=accepted[-1].load_after if accepted else None,
    )


def _run_flags(attempts: CellAttempts) -> Iterator[str]:
    """Yield the flags of the accepted runs; of all attempts when none was accepted.

    What late turns left open in one run is not what they leave open in the median.
    """
    for run in attempts.accepted or attempts.runs:
        yield from (flag for flag in run.flags if flag != "probe_late")
        if not checks.memory_in_order(run.resources):
            yield "memory_order"
        cpu = cpu_cost(run)
        if isinstance(cpu, CpuCost) and cpu.is_idle_large:
            yield "idle_cpu_large"


def _littles(accepted: Sequence[RunRecord], clients: int) -> float | None:
    times = [run.figures.timing("service_ms") for run in accepted if run.figures is not None]
    values = [checks.littles_rps(one, clients) for one in times]
    known = [value for value in values if value is not None]
    lacking = [NOT_MEASURED] * (len(accepted) - len(known))
    return statistics.median(known) if known and too_few(len(known), lacking) is None else None


def _line(run: RunRecord) -> RunLine:
    figures, failed = run.figures, failed_in_run(run)
    return RunLine(
        block=run.block,
        attempt=run.attempt,
        accepted=run.accepted,
        verdict=run.verdict,
        reason=run.reason,
        achieved_rps=None if figures is None else figures.known("achieved_rps"),
        failed_count=failed.count,
        request_count=failed.request_count,
        response_p50_ms=None if figures is None else figures.percentile("response_ms", "p50"),
        load_before=run.load_before,
        load_after=run.load_after,
    )
