"""Whether one attempt counts, and what it says: the mechanical rules of METHOD 5.

Called by `campaign` after each attempt. No rule looks at an overhead: a run is judged by counts, by the schedule
and by the state of the rig, and `RunInputs` holds nothing else. The first rule that applies decides: what is seen
directly (a phase that failed, a death), then the rig's doing, then what may follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weighbridge.judge import rig_limits
from weighbridge.judge.answers import answered, error_count
from weighbridge.judge.checks import run_flags
from weighbridge.judge.held import is_held_back, unheld
from weighbridge.judge.inputs import Judgement, RunInputs
from weighbridge.judge.saturation import RateCheck, check_rate
from weighbridge.judge.stamps import cache_hits
from weighbridge.judge.texts import failures_text, served_text, unwhole_text
from weighbridge.matrix.loads import Load
from weighbridge.record.coded import Reason
from weighbridge.record.codes import ordered_flags
from weighbridge.record.load_report import LoadReport
from weighbridge.record.samples import SampleTable
from weighbridge.record.streams import StampCounts

Finding = Reason | None
Rule = Callable[[RunInputs, RateCheck | None], Finding]


def judge_run(inputs: RunInputs) -> Judgement:
    """What one attempt is worth.

    Rejected with a reason, or accepted as `valid` or as `saturated` (a
    lane that did not keep the rate is a result, not a failure).
    """
    rate = _rate_check(inputs)
    flags = ordered_flags(_flags(inputs, rate))
    for rule in _RULES:
        found = rule(inputs, rate)
        if found is not None:
            return Judgement(False, found.verdict, found, flags)
    if rate is not None and rate.missed:
        unchecked = rate.connections_limited is None
        more = ("connections_unchecked",) if unchecked else ()
        return Judgement(True, "saturated", None, ordered_flags([*flags, *more]), needs_more_connections=unchecked)
    return Judgement(True, "valid", None, flags)


def _rate_check(inputs: RunInputs) -> RateCheck | None:
    if inputs.window is None or inputs.figures is None:
        return None
    return check_rate(inputs.window, inputs.figures.known("achieved_rps"), inputs.doubled_achieved_rps)


def _flags(inputs: RunInputs, rate: RateCheck | None) -> Iterator[str]:
    yield from run_flags(inputs)
    if inputs.held is not None and is_held_back(inputs.held):
        yield "held_back"
    yield from rig_limits.flags(inputs, missed=rate is not None and rate.missed)
    if rate is None:
        return
    if rate.low:
        yield "rate_low"
    if rate.connections_full:
        yield "connections_full"
    if rate.missed and inputs.window is not None and any(map(_timeouts, inputs.window.reports)):
        yield "timeouts"


def _phase(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    return inputs.failure


def _served_mode(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    for seen in inputs.evidence:
        if seen.mode == inputs.mode and not seen.ok:
            status = "no answer" if seen.status is None else f"status {seen.status}"
            problem = seen.problem or "not the provider’s answer"
            return Reason.of("not_served", f"the {seen.mode} preflight got {status}: {problem}")
    return None


def _died(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    return (
        None
        if inputs.gateway_died is None
        else Reason.of("crashed", f"the gateway ended in the window: {inputs.gateway_died}")
    )


def _driver(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    end = inputs.driver
    if end is not None and end.killed and inputs.load.has_schedule:
        return Reason.of("generator_failed", "the generator was interrupted, did not stop, and was killed")
    if end is not None and end.killed:
        return Reason.of("incomplete", "the window did not end within its deadline; the generator was killed")
    if end is not None and end.exit_code != 0:
        how = f"signal {-end.exit_code}" if end.exit_code < 0 else f"exit status {end.exit_code}"
        detail = f": {end.error_text}" if end.error_text else ""
        return Reason.of("generator_failed", f"the generator ended with {how}{detail}")
    if (inputs.held is None and (inputs.window is None or inputs.figures is None)) or inputs.counts is None:
        detail = f": {end.error_text}" if end is not None and end.error_text else ""
        return Reason.of("generator_failed", f"the generator left no report of the window{detail}")
    return None


def _rider(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    end, window = inputs.rider, inputs.window
    if end is None or (not end.killed and end.exit_code == 0 and window is not None and window.rider is not None):
        return None
    how = "was killed" if end.killed else f"ended with exit status {end.exit_code}"
    detail = f": {end.error_text}" if end.error_text else ""
    return Reason.of(
        "generator_failed", f"the probe beside the driver {how} and took its part of the rate with it{detail}"
    )


def _held(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    return unheld(inputs.held, inputs.load)


def _errors(inputs: RunInputs, rate: RateCheck | None) -> Finding:
    if inputs.window is None:
        return None
    reports = inputs.window.reports
    count = sum(map(error_count, reports))
    # Waiting beyond the time-out is what a queue of a saturated lane looks like: flagged, not an error.
    late = sum(map(_timeouts, reports)) if rate is not None and rate.missed and not rate.stopped else 0
    if count <= late:
        return None
    return Reason.of("errors", failures_text(reports, count))


def _cache_hit(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    counts = None if inputs.figures is None else inputs.figures.stamps
    if not isinstance(counts, StampCounts) or not cache_hits(counts):
        return None
    text = (
        f"{counts.stale_count} answers are older than their request and {counts.repeated_count} were given to an "
        "earlier request too: a cache answered, so no time of this cell is the gateway's"
    )
    return Reason.of("cache_hit", text)


def _whole(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    if inputs.figures is None:
        return None
    text = unwhole_text(inputs.figures)
    return None if text is None else Reason.of("errors", text)


def _rate(inputs: RunInputs, rate: RateCheck | None) -> Finding:
    if rate is None or not rate.missed:
        return None
    served = _served(inputs)
    if rate.stopped:
        return Reason.of("incomplete", f"the lane stopped answering and the run was cut: {served}")
    if rate.generator_missed:
        return Reason.of("rate_missed", f"the generator released requests too slowly: {served}")
    if inputs.is_floor:
        return Reason.of("rate_missed", f"the direct lane, without a gateway, {served}")
    if rate.connections_limited:
        return Reason.of(
            "connection_limited", f"{inputs.load.connections} connections do not carry the rate: {served}"
        )
    return None


def _complete(inputs: RunInputs, rate: RateCheck | None) -> Finding:
    window = inputs.window
    if window is None or (rate is not None and rate.missed and window.cut):
        return None
    found = _complete_part(window.load.parts()[0].load, window.report, window.samples)
    if found is None and window.rider is not None:
        found = _complete_part(window.rider.load, window.rider.report, window.rider.samples)
        found = found and f"of the probe beside the driver {found}"
    return None if found is None else Reason.of("incomplete", found)


def _complete_part(load: Load, report: LoadReport, samples: SampleTable | None) -> str | None:
    """What is missing of one client's part, None when nothing is."""
    if report.verdict != "ok":
        return f"the load report is {report.verdict}: {report.reason or 'no reason given'}"
    answers = report.answered_count or 0
    resolved = answers + (report.failed_count or 0)
    if resolved != load.window_count:
        return f"{resolved} of {load.window_count} requests have an outcome"
    if samples is None:
        return "the generator left no samples"
    rows = int(answered(samples).sum())
    return None if rows == answers else f"{rows} samples for {answers} answers"


def _provider_count(inputs: RunInputs, rate: RateCheck | None) -> Finding:
    counts = inputs.counts
    if counts is None or (rate is not None and rate.missed):
        return None
    sent = counts.client_sent_count
    if (
        sent is None
        or sent == counts.provider_request_count
        or sent + _retries(inputs) == counts.provider_request_count
    ):
        return None
    return Reason.of(
        "provider_count", f"the provider received {counts.provider_request_count} requests for {sent} sent"
    )


def _retries(inputs: RunInputs) -> int:
    """Provider calls that are explained: the gateway called again for a reference."""
    counts = None if inputs.figures is None else inputs.figures.stamps
    return (counts.retry_count or 0) if isinstance(counts, StampCounts) else 0


def _timeouts(report: LoadReport) -> int:
    return (report.failed_by_class or {}).get("timeout", 0)


def _served(inputs: RunInputs) -> str:
    achieved = None if inputs.figures is None else inputs.figures.known("achieved_rps")
    return served_text(achieved, inputs.load.offered_rps)


def _rig(inputs: RunInputs, _rate: RateCheck | None) -> Finding:
    return rig_limits.breach(inputs)


def _lag(inputs: RunInputs, rate: RateCheck | None) -> Finding:
    return rig_limits.gross_lag(inputs, missed=rate is not None and rate.missed)


_RULES: tuple[Rule, ...] = (
    _phase,
    _served_mode,
    _died,
    _rig,
    _driver,
    _rider,
    _held,
    _cache_hit,
    _errors,
    _whole,
    _rate,
    _complete,
    _provider_count,
    _lag,
)
