"""The verdict of a cell from its attempts. Called by `cell`; knows counts and reasons, no figure but the rate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from weighbridge.judge.acceptance import verdict_of
from weighbridge.judge.texts import served_text
from weighbridge.judge.timing import median_or_none
from weighbridge.record.cell import PlannedCell
from weighbridge.record.run import REASONS, RunRecord, Verdict
from weighbridge.record.summary import Rejected


@dataclass(frozen=True)
class Attempts:
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
class Outcome:
    """Verdict of a cell with the sentence behind it; `served` is set for a saturated one."""

    verdict: Verdict
    reason: str | None
    flags: tuple[str, ...] = ()
    served: str | None = None


def outcome(attempts: Attempts) -> Outcome:
    """What a cell's attempts say together.

    Not claimed: `not_supported`; not to be had: `unavailable`; nothing accepted: the verdict of the commonest
    reason. With fewer accepted than wanted the cell says `k of n accepted`; when more attempts were rejected
    for the gateway's doing than were accepted, those speak, so that no gateway is shown by its lucky runs.
    One run that a cache answered voids the cell. Saturated when half of the accepted runs or more are.
    """
    plan = attempts.plan
    if plan.not_supported is not None:
        return Outcome("not_supported", plan.not_supported)
    if attempts.unavailable is not None:
        return Outcome("unavailable", attempts.unavailable)
    if not attempts.runs:
        return Outcome("incomplete", _not_run(attempts.status))
    theirs = [run for run in attempts.rejected if _class_of(run) == "gateway"]
    cached = [run for run in attempts.rejected if run.reason == "cache_hit"]
    if cached:
        return _rejected_outcome(attempts, cached)
    if not attempts.accepted:
        return _rejected_outcome(attempts, attempts.rejected)
    if len(attempts.accepted) < attempts.wanted and len(theirs) > len(attempts.accepted):
        return _rejected_outcome(attempts, theirs)
    return _accepted_outcome(attempts)


def rejected_by_reason(runs: Sequence[RunRecord]) -> tuple[Rejected, ...]:
    """The attempts that do not count, by reason, the commonest first, each with its first sentence."""
    texts: dict[str, str] = {}
    counted: Counter[str] = Counter()
    for run in runs:
        reason = _reason(run)
        counted[reason] += 1
        texts.setdefault(reason, run.reason_text or reason)
    return tuple(
        Rejected(reason=reason, reason_class=REASONS[reason], count=count, example=texts[reason])
        for reason, count in counted.most_common()
    )


def _accepted_outcome(attempts: Attempts) -> Outcome:
    accepted = attempts.accepted
    saturated = [run for run in accepted if run.verdict == "saturated"]
    flags = ["few_runs"] if len(accepted) < attempts.wanted else []
    short = _k_of_n(attempts) if flags else None
    if 2 * len(saturated) >= len(accepted):
        served = served_text(_achieved(saturated), attempts.plan.load.offered_rps)
        return Outcome("saturated", "; ".join(part for part in (served, short) if part), tuple(flags), served)
    if saturated:
        flags.append("saturated_in_some_runs")
    return Outcome("valid", short, tuple(flags))


def _rejected_outcome(attempts: Attempts, speaking: Sequence[RunRecord]) -> Outcome:
    first = rejected_by_reason(speaking)[0]
    return Outcome(verdict_of(first.reason), f"{_k_of_n(attempts)}; {first.reason}: {first.example}")


def _k_of_n(attempts: Attempts) -> str:
    text = f"{len(attempts.accepted)} of {len(attempts.runs)} runs accepted, {attempts.wanted} wanted"
    return text if attempts.status == "complete" else f"{text} (campaign {attempts.status})"


def _not_run(status: str) -> str:
    return "not run" if status == "complete" else f"not run: the campaign is {status}"


def _achieved(runs: Sequence[RunRecord]) -> float | None:
    return median_or_none([run.figures.achieved_rps for run in runs if run.figures is not None])


def _reason(run: RunRecord) -> str:
    return run.reason if run.reason in REASONS else "incomplete"


def _class_of(run: RunRecord) -> str:
    return REASONS[_reason(run)]
