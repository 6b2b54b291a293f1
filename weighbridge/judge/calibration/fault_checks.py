"""Injected faults: did a check of ours catch the gateway that misbehaves on purpose, and which one.

A fault counts as detected only by a check that is about it; a cell that failed for another reason proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weighbridge.judge.cell.cell_probe import buffering_against
from weighbridge.record.certificate import FaultResult
from weighbridge.record.figures import Figure
from weighbridge.record.probe_counts import Fidelity
from weighbridge.record.run import RunRecord

Runs = Sequence[RunRecord]
FaultCheck = Callable[[Runs, Runs], str | None]


def detected(fault: str, runs: Runs, baselines: Runs) -> FaultResult:
    """Tell whether runs of a gateway with this fault were detected; a value after the name (`coalesce-4`) is no part.

    ValueError for a fault that no check is about.
    """
    check = _check_of(fault)
    by = check(runs, baselines)
    return FaultResult(fault=fault, detected=by is not None, by=by)


def _check_of(fault: str) -> FaultCheck:
    for name, check in _CHECKS.items():
        if fault == name or fault.startswith((f"{name}-", f"{name}:")):
            return check
    raise ValueError(f"no check is about a fault {fault!r}; known are {', '.join(_CHECKS)}")


def _buffering(*verdicts: str) -> FaultCheck:
    def check(runs: Runs, baselines: Runs) -> str | None:
        found = buffering_against(runs, baselines)
        return f"buffering verdict: {found}" if found in verdicts else None

    return check


def _lost_chunks(runs: Runs, _baselines: Runs) -> str | None:
    for run in runs:
        found = None if run.figures is None else run.figures.fidelity
        if isinstance(found, Fidelity) and found.missing_chunk_count and not run.accepted:
            return f"fidelity: {found.missing_chunk_count} chunks missing in {found.answer_count} streams"
    return None


def _no_end(runs: Runs, _baselines: Runs) -> str | None:
    for run in runs:
        found = None if run.figures is None else run.figures.value("end_marker_ratio")
        if isinstance(found, Figure) and found.value < 1 and not run.accepted:
            return f"end marker: seen in {100 * found.value:.3g} % of the streams"
    return None


def _errors(runs: Runs, _baselines: Runs) -> str | None:
    for run in runs:
        reports = [client.load_report for client in run.clients if client.load_report is not None]
        statuses = [status for report in reports for status in report.answered_by_status or {}]
        refused = any(seen.status is not None and seen.status >= 500 for seen in run.evidence)
        if run.reason is not None and (refused or any(status.startswith("5") for status in statuses)):
            return f"{run.reason.code}: {run.reason.detail}"
    return None


def _stalls(runs: Runs, _baselines: Runs) -> str | None:
    counts = [run.figures.value("stall_count") for run in runs if run.figures is not None]
    total = sum(one.value for one in counts if isinstance(one, Figure))
    return f"stalls: {total:.0f} gaps above ten times the provider's" if total else None


_CHECKS: Mapping[str, FaultCheck] = {
    "buffer": _buffering("held until complete"),
    "coalesce": _buffering("coalesced", "windowed"),
    "drop-chunk": _lost_chunks,
    "no-end": _no_end,
    "error500": _errors,
    "stall": _stalls,
}
