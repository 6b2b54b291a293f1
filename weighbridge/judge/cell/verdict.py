"""The verdict of a cell from its attempts. Knows counts and reasons, no figure but the rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.judge.cell.failed_windows import failed_requests, is_errored, is_of_gateway, lost_blocks
from weighbridge.judge.run.sentences import failed_text, served_text
from weighbridge.judge.stats.timing import median_or_none
from weighbridge.record.cell import PlannedCell
from weighbridge.record.coded import Reason
from weighbridge.record.codes import Verdict
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import FailedRequests, Rejected

# One such attempt, and none of a cell's figures is the named gateway's own.
_VOIDING = ("crossed_answers", "unavailable", "cache_hit")


@dataclass(frozen=True)
class CellAttempts:
    """A planned cell with all its attempts: `wanted` accepted runs, `status` of the campaign so far."""

    plan: PlannedCell
    runs: tuple[RunRecord, ...]
    wanted: int
    status: str
    unavailable: str | None = None

    @property
    def accepted(self) -> tuple[RunRecord, ...]:
        """Runs that count."""
        return tuple(run for run in self.runs if run.accepted)

    @property
    def rejected(self) -> tuple[RunRecord, ...]:
        """Attempts that do not count."""
        return tuple(run for run in self.runs if not run.accepted)


@dataclass(frozen=True)
class CellVerdict:
    """Verdict of a cell with the reason behind it; `served` of a saturated one, `failed` where something failed."""

    verdict: Verdict
    reason: Reason | None
    flags: tuple[str, ...] = ()
    served: str | None = None
    failed: FailedRequests | None = None


def outcome(attempts: CellAttempts) -> CellVerdict:
    """Return what a cell's attempts say together.

    Not claimed: `not_supported`; not to be had: `unavailable`; nothing accepted: the verdict of the commonest
    reason. Where too much failed over all attempts that were not rejected for the rig (`is_errored`), the rejected
    ones speak, so that no gateway is shown by its lucky runs; where less failed, a flag says so.
    One run that a cache answered voids the cell, and so do one whose responses went to other requests and one before
    which the gateway was found changed.
    Saturated when half of the accepted runs or more are.
    """
    plan = attempts.plan
    if plan.not_supported is not None:
        return _without_runs(Reason.of("not_supported", plan.not_supported))
    if attempts.unavailable is not None:
        return _without_runs(Reason.of("unavailable", attempts.unavailable))
    if not attempts.runs:
        return _without_runs(Reason.of("not_run", _why_not_run(attempts.status)))
    failed = failed_requests(attempts.runs)
    for code in _VOIDING:
        if voiding := [run for run in attempts.rejected if _reason(run).code == code]:
            return _rejected_outcome(voiding, failed)
    if not attempts.accepted:
        return _rejected_outcome(attempts.rejected, failed)
    spoiled = [run for run in attempts.rejected if is_of_gateway(run)]
    if spoiled and failed is not None and is_errored(failed, lost_blocks(attempts.runs), attempts.wanted):
        errored = [run for run in spoiled if _reason(run).verdict == "errored"]
        return _rejected_outcome(errored or spoiled, failed, said=True)
    return _accepted_outcome(attempts, failed)


def rejected_by_reason(runs: Sequence[RunRecord]) -> tuple[Rejected, ...]:
    """Return the attempts that do not count, by reason, the commonest first, each with its first detail."""
    first: dict[str, Reason] = {}
    counted: Counter[str] = Counter()
    for run in runs:
        reason = _reason(run)
        counted[reason.code] += 1
        first.setdefault(reason.code, reason)
    return tuple(Rejected(reason=first[code], count=count) for code, count in counted.most_common())


def _accepted_outcome(attempts: CellAttempts, failed: FailedRequests | None) -> CellVerdict:
    accepted = attempts.accepted
    saturated = [run for run in accepted if run.verdict == "saturated"]
    flags = ["few_runs"] if len(accepted) < attempts.wanted else []
    flags += ["failed_in_some_runs"] if failed is not None else []
    if 2 * len(saturated) >= len(accepted):
        served = served_text(_achieved(saturated), attempts.plan.load.offered_rps)
        return CellVerdict("saturated", None, tuple(flags), served, failed)
    if saturated:
        flags.append("saturated_in_some_runs")
    return CellVerdict("valid", None, tuple(flags), failed=failed)


def _rejected_outcome(
    speaking: Sequence[RunRecord], failed: FailedRequests | None, *, said: bool = False
) -> CellVerdict:  # fmt: skip
    """Return what the commonest reason says; `said` puts in front how much failed of all."""
    first = rejected_by_reason(speaking)[0].reason
    if said and failed is not None:
        first = Reason.of(first.code, f"{failed_text(failed)}; the first: {first.detail}")
    return CellVerdict(first.verdict, first, failed=failed)


def _without_runs(reason: Reason) -> CellVerdict:
    return CellVerdict(reason.verdict, reason)


def _why_not_run(status: str) -> str:
    return "not run" if status == "complete" else f"not run: the campaign is {status}"


def _achieved(runs: Sequence[RunRecord]) -> float | None:
    return median_or_none([run.figures.known("achieved_rps") for run in runs if run.figures is not None])


def _reason(run: RunRecord) -> Reason:
    if run.reason is None:
        raise ValueError(f"an accepted run of {run.cell} has no reason")
    return run.reason
