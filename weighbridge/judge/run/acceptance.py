"""Whether one attempt counts, and what it says: the mechanical rules of METHOD 5.

No rule looks at an overhead: a run is judged by counts, by the schedule and by the state of the rig, and `Attempted`
holds nothing else. The first rule that applies decides: what is seen directly (a phase that failed, a death), then
the rig's doing, then what may follow from that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weighbridge.judge.figures.looked_at import looked_at, odd_sizes
from weighbridge.judge.figures.open_streams import is_buffered, open_streams_problem
from weighbridge.judge.figures.probe_figures import unwhole_count
from weighbridge.judge.figures.row_masks import answered, error_count
from weighbridge.judge.figures.stamps import answer_count, cache_hits
from weighbridge.judge.inputs import Attempted, Judgement
from weighbridge.judge.run import rig_limits
from weighbridge.judge.run.checks import run_flags
from weighbridge.judge.run.failed_requests import failed_in_window, timeout_count
from weighbridge.judge.run.offered_rate import RateCheck, check_rate
from weighbridge.judge.run.sentences import client_limits_text, client_text, failures_text, served_text, unwhole_text
from weighbridge.judge.window import Client, Window
from weighbridge.record.coded import Reason
from weighbridge.record.codes import ordered_flags
from weighbridge.record.load_report import LoadReport
from weighbridge.record.probe_counts import StampCounts

Objection = Reason | None
Rule = Callable[[Attempted, RateCheck | None], Objection]


def judge_run(inputs: Attempted) -> Judgement:
    """Judge what one attempt is worth.

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


def _rate_check(inputs: Attempted) -> RateCheck | None:
    if inputs.window is None or inputs.figures is None:
        return None
    return check_rate(inputs.window, inputs.figures.known("achieved_rps"), inputs.doubled_achieved_rps)


def _flags(inputs: Attempted, rate: RateCheck | None) -> Iterator[str]:
    yield from run_flags(inputs)
    if inputs.window is not None and inputs.window.streams is not None and is_buffered(inputs.window.streams):
        yield "buffered"
    yield from rig_limits.flags(inputs)
    if rate is None:
        return
    if rate.backlogged:
        yield "backlogged"
    if rate.connections_full:
        yield "connections_full"
    if rate.missed and inputs.window is not None and any(map(timeout_count, inputs.window.reports)):
        yield "timeouts"


def _phase(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    return inputs.failure


def _served_mode(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    for seen in inputs.evidence:
        if seen.mode == inputs.mode and not seen.ok:
            status = "no answer" if seen.status is None else f"status {seen.status}"
            problem = seen.problem or "not the provider’s answer"
            return Reason.of("not_served", f"the {seen.mode} preflight got {status}: {problem}")
    return None


def _died(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    death = None if inputs.window is None else inputs.window.death
    return None if death is None else Reason.of("crashed", f"the gateway ended in the window: {death}")


def _clients(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    """Find a client whose program did not come to a good end, or that left nothing to read."""
    if inputs.window is None:
        return Reason.of("generator_failed", "no client left a report of the window")
    return next((found for found in map(_bad_end, inputs.window.clients) if found is not None), None)


def _bad_end(client: Client) -> Objection:
    who, detail = client_text(client.role), f": {client.problem}" if client.problem else ""
    if client.killed and not client.load.has_schedule:
        return Reason.of("incomplete", f"the window did not end within its deadline; {who} was killed")
    if client.killed:
        return Reason.of("generator_failed", f"{who} was interrupted, did not stop, and was killed")
    code = client.record.exit_code
    if code != 0:
        how = f"signal {-code}" if code < 0 else f"exit status {code}"
        return Reason.of("generator_failed", f"{who} ended with {how}{detail}")
    if client.report is None:
        return Reason.of("generator_failed", f"{who} left no report of the window{detail}")
    return None


def _client_limits(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    text = None if inputs.window is None else client_limits_text(inputs.window.judged_reports)
    return None if text is None else Reason.of("client_limited", text)


def _open_streams(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    if inputs.window is None:
        return None
    found = (open_streams_problem(client.streams, client.load) for client in inputs.window.clients)
    return next((one for one in found if one is not None), None)


def _errors(inputs: Attempted, rate: RateCheck | None) -> Objection:
    if inputs.window is None:
        return None
    saturated = rate is not None and rate.missed and not rate.stopped
    failed = failed_in_window(inputs.window.judged_reports, inputs.figures, saturated=saturated)
    part = looked_at(inputs.window.judged_reports, unwhole_count(inputs.window.content_trace))
    if not failed.rejects and (part is None or not part.bad_count):
        return None
    unwhole = None if inputs.figures is None else unwhole_text(inputs.figures)
    text = failures_text(inputs.window.judged_reports, failed.count, part, _odd_count(inputs.window))
    return Reason.of("errors", text if unwhole is None else f"{text}; {unwhole}")


def _odd_count(window: Window) -> int:
    lead = window.lead
    return 0 if lead.sees_stamps or lead.samples is None else odd_sizes(lead.samples, window.expected_bytes)


def _crossed(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    counts = None if inputs.figures is None else inputs.figures.stamps
    if not isinstance(counts, StampCounts) or not counts.crossed_count:
        return None
    text = (
        f"{counts.crossed_count} of {answer_count(counts)} responses carry the stamp of another request: they were "
        "given to the wrong one"
    )
    return Reason.of("crossed_answers", text)


def _cache_hit(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    counts = None if inputs.figures is None else inputs.figures.stamps
    if not isinstance(counts, StampCounts) or not cache_hits(counts):
        return None
    text = (
        f"{counts.stale_count} responses are older than their request and {counts.repeated_count} were given to an "
        "earlier request too: a cache answered, so no time of this cell is the gateway's"
    )
    return Reason.of("cache_hit", text)


def _rate(inputs: Attempted, rate: RateCheck | None) -> Objection:
    if rate is None or not rate.missed:
        return None
    served = _served(inputs)
    if rate.stopped:
        return Reason.of("incomplete", f"the lane stopped answering and the run was cut: {served}")
    if rate.generator_missed:
        return Reason.of("rate_missed", f"the generator released requests too slowly: {served}")
    if inputs.is_baseline:
        return Reason.of("rate_missed", f"the direct lane, without a gateway, {served}")
    if rate.connections_limited:
        return Reason.of(
            "connection_limited", f"{inputs.load.connections} connections do not carry the rate: {served}"
        )
    return None


def _complete(inputs: Attempted, rate: RateCheck | None) -> Objection:
    window = inputs.window
    if window is None or (rate is not None and rate.missed and window.lead.cut):
        return None
    found = (_missing(client) for client in window.clients if client.load.measures_times)
    return next((Reason.of("incomplete", text) for text in found if text is not None), None)


def _missing(client: Client) -> str | None:
    """Tell what is missing of one client's part, None when nothing is."""
    who, report, samples = client_text(client.role), client.report, client.samples
    if report is None or report.verdict != "ok":
        return f"the load report of {who} is {_worth(report)}"
    answers = report.answered_count or 0
    resolved = answers + (report.failed_count or 0)
    if resolved != client.load.window_count:
        return f"{resolved} of {client.load.window_count} requests of {who} have an outcome"
    if samples is None:
        return f"{who} left no samples"
    rows = int(answered(samples).sum())
    return None if rows == answers else f"{rows} samples of {who} for {answers} answers"


def _worth(report: LoadReport | None) -> str:
    return "missing" if report is None else f"{report.verdict}: {report.reason or 'no reason given'}"


def _provider_count(inputs: Attempted, rate: RateCheck | None) -> Objection:
    counts = None if inputs.window is None else inputs.window.counts
    if counts is None or (rate is not None and rate.missed):
        return None
    sent, received = counts.client_sent_count, counts.provider_request_count
    if sent is None or sent - received <= _failed(inputs):
        return None
    text = f"the provider received {received} requests for {sent} sent: a cache or an error answered in its place"
    return Reason.of("provider_count", text)


def _failed(inputs: Attempted) -> int:
    """Count the requests that need not have got to the provider: they failed, and were too few to reject the run."""
    window = inputs.window
    return 0 if window is None else sum(map(error_count, window.reports))


def _served(inputs: Attempted) -> str:
    achieved = None if inputs.figures is None else inputs.figures.known("achieved_rps")
    return served_text(achieved, inputs.load.offered_rps)


def _rig(inputs: Attempted, _rate: RateCheck | None) -> Objection:
    return rig_limits.breach(inputs)


def _lag(inputs: Attempted, rate: RateCheck | None) -> Objection:
    return rig_limits.gross_lag(inputs, missed=rate is not None and rate.missed)


_RULES: tuple[Rule, ...] = (
    _phase,
    _served_mode,
    _died,
    _rig,
    _clients,
    _client_limits,
    _open_streams,
    _crossed,
    _cache_hit,
    _errors,
    _rate,
    _complete,
    _provider_count,
    _lag,
)
