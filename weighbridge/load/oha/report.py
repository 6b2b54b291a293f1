"""The load report of an oha run: totals, plan, samples and verdict put together.

Counts that nothing given can tell are null; oha's own rates and success rate are never used.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.oha.argv import OhaArguments
from weighbridge.load.oha.correction import correction_of, fits, parse_version
from weighbridge.load.oha.remarks import Remarks
from weighbridge.load.oha.rows import OhaRows, response_of
from weighbridge.load.oha.samples import OhaSamples, samples_of
from weighbridge.load.oha.totals import OhaTotals
from weighbridge.load.oha.verdict import OhaCounts, OhaVerdict, count, judge
from weighbridge.load.reports.spreads import LostRequests, flags_of, reported
from weighbridge.record.figures import Corrected
from weighbridge.record.load_report import LoadReport


@dataclass(frozen=True)
class GivenOha:
    """All that was handed in: `rows` are the samples, None without any; `has_releases`: they come from SQLite."""

    totals: OhaTotals
    rows: OhaRows | None
    arguments: OhaArguments | None
    tool_version: str | None
    has_releases: bool = False
    notes: tuple[str, ...] = ()


def oha_reading(given: GivenOha) -> ReportReading:
    """Report and samples; InputError when the arguments belong to another run."""
    rows = given.rows if given.rows is not None and given.rows.by_status == _present(given.totals) else None
    totals = given.totals
    if rows is not None and totals.response == "non_2xx_mixed":
        totals = replace(totals, response=response_of(rows))
    version = parse_version(given.tool_version)
    proof = rows.corrected if rows is not None and given.has_releases else None
    correction = correction_of(proof, given.arguments, version, totals.generation)
    counts = count(totals, given.arguments)
    samples = _samples(rows, given.arguments, counts, correction.corrected) if rows is not None else None
    remarks = Remarks(
        totals=totals,
        counts=counts,
        arguments=given.arguments,
        correction=correction,
        samples=samples,
        samples_mismatch=rows is not given.rows,
        version_mismatch=version is not None and not fits(version, totals.generation),
    )
    report = _report(given, remarks, judge(counts, totals, given.arguments), correction.corrected)
    return ReportReading(report, samples.table if samples is not None else None)


def _samples(rows: OhaRows, arguments: OhaArguments | None, counts: OhaCounts, corrected: Corrected) -> OhaSamples:
    # The SQLite file of a rate run is written only when all workers came to their end: what is missing then failed.
    cut = bool(counts.censored_count) or (arguments is not None and arguments.duration_s is not None)
    return samples_of(rows, arguments, corrected=corrected == "yes", missing="censored" if cut else "failed")


def _present(totals: OhaTotals) -> dict[str, int]:
    return {status: amount for status, amount in sorted(totals.by_status.items()) if amount}


def _report(given: GivenOha, remarks: Remarks, verdict: OhaVerdict, corrected: Corrected) -> LoadReport:
    totals, counts = remarks.totals, remarks.counts
    lost = LostRequests(counts.answered_count, counts.lost_count(given.arguments))
    flags = (*verdict.flags, *totals.flags, *remarks.flags(), *flags_of(totals.response, lost))
    return LoadReport(
        tool="oha",
        tool_version=given.tool_version,
        generation=totals.generation,
        corrected=corrected,
        verdict=verdict.verdict,
        reason=verdict.reason,
        wall_s=totals.wall_s,
        scheduled_count=counts.scheduled_count,
        sent_count=counts.sent_count,
        answered_count=counts.answered_count,
        answered_by_status=dict(totals.by_status),
        failed_count=counts.failed_count,
        failed_by_class=counts.failed_by_class,
        censored_count=counts.censored_count,
        completed_rps=counts.answered_count / totals.wall_s if totals.wall_s else None,
        success_ratio=_success_ratio(counts, verdict),
        received_bytes=totals.received_bytes,
        response_ms=reported(totals.response, lost),
        first_byte_ms=reported(totals.first_byte, lost),
        histogram=totals.histogram,
        error_text=dict(totals.errors or {}),
        flags=tuple(dict.fromkeys(flags)),
        notes=(*given.notes, *remarks.notes()),
    )


def _success_ratio(counts: OhaCounts, verdict: OhaVerdict) -> float | None:
    """2xx over answered and failed; None where failures are not told or the responses do not stand for the run."""
    if counts.failed_count is None:
        return counts.success_count / counts.answered_count if counts.unresolved_count == 0 else None
    resolved = counts.answered_count + counts.failed_count
    stands_for_run = verdict.verdict != "void" or counts.success_count == 0
    return counts.success_count / resolved if resolved and stands_for_run else None
