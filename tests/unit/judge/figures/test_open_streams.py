"""Open streams: which runs count, and the memory of one more open stream as a slope over blocks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.examples.judge_examples import (
    campaign,
    client,
    code_of,
    counts,
    detail_of,
    evidence,
    plan,
    report,
    run,
    window_of,
)
from tests.examples.judge_examples import inputs as attempt
from weighbridge.judge.cell.summarise import summarise
from weighbridge.judge.figures.open_streams import bytes_per_stream
from weighbridge.judge.inputs import Attempted
from weighbridge.judge.run.acceptance import judge_run
from weighbridge.matrix.loads import ClientsLoad, OpenStreamsLoad
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Absent, Figure, Timing
from weighbridge.record.metrics import TIME_KEYS
from weighbridge.record.open_streams import OpenStreamsResult, OpenStreamsStep
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import CellSummary

COUNTS = (0, 20, 50, 100)
LOAD = OpenStreamsLoad(COUNTS, 3.0, 3.02)
BASELINE, CELL = "direct.none.work.stream.streams-100", "reference.none.work.stream.streams-100"
PLANS = tuple(plan(cell, LOAD, driver="probe") for cell in (BASELINE, CELL))
KB = 1000


def point(count: int, *, each_bytes: int = 20 * KB, idle_bytes: int = 30_000 * KB, **changes: Any) -> OpenStreamsStep:
    """A step of a gateway that takes so many bytes for each stream; its resident set is half as much again."""
    memory = idle_bytes + each_bytes * count
    fields = {
        "client_open_count": count,
        "content_count": count,
        "open_count": count,
        "at_s": 0.1,
        "pss_bytes": memory,
    }
    return OpenStreamsStep(**{**fields, "rss_bytes": memory * 3 // 2, **changes})


def opened(each_bytes: int = 20 * KB, **changes: Any) -> OpenStreamsResult:
    """A faultless window; each test plants one fault by `changes`."""
    points = tuple(point(count, each_bytes=each_bytes) for count in COUNTS)
    fields = {"points": points, "opened_count": 100, "whole_count": 100, "broken": None}
    return OpenStreamsResult(**{**fields, **changes})


def inputs(seen: OpenStreamsResult | None, **changes: Any) -> Attempted:
    """A faultless attempt around it."""
    reported = None if seen is None else report(None, LOAD, tool="probe")
    opener = client(LOAD, None, role="open_streams", report=reported, streams=seen)
    streams_window = window_of(opener, mode="stream", counts=counts(100))
    return attempt(streams_window, evidence=(evidence("stream"),), **changes)


def test_a_window_that_opened_all_counts() -> None:
    """Every step at the provider as at the client, every stream to its end: accepted without a remark."""
    found = judge_run(inputs(opened()))
    assert (found.accepted, found.verdict, found.reason, found.flags) == (True, "valid", None, ())


def _at(place: int, **changes: Any) -> OpenStreamsResult:
    """One step that is not as it should be."""
    points = [point(count) for count in COUNTS]
    points[place] = points[place].model_copy(update=changes)
    return opened(points=tuple(points))


@pytest.mark.parametrize(
    ("seen", "reason", "sentence"),
    [
        (
            opened(faults={"http_error (status 429)": 2, "reset": 1}, broken="ended_early", points=(point(0),)),
            "errors",
            "3 of 100 open streams failed: 2 × http_error (status 429), 1 × reset",
        ),
        (_at(2, open_count=48), "errors", "the provider had 48 streams open when 50 were to be opened"),
        (_at(1, open_count=21), "errors", "the provider had 21 streams open when 20 were to be opened"),
        (opened(broken="ended_early", points=(point(0),)), "errors", "one ended before the last step was seen"),
        (opened(broken="not_seen", points=(point(0),)), "generator_failed", "1 of 4 steps of open streams were seen"),
        (opened(points=(point(0), point(20))), "generator_failed", "2 of 4 steps of open streams were seen"),
        (opened(whole_count=97), "errors", "97 of 100 open streams came to their end"),
        (None, "generator_failed", "no report"),
    ],
)
def test_what_was_not_opened_does_not_count(seen: OpenStreamsResult | None, reason: str, sentence: str) -> None:
    """Each way in which streams are not what they are counted as rejects the run with a sentence that says it."""
    found = judge_run(inputs(seen))
    assert (found.accepted, code_of(found)) == (False, reason)
    assert sentence in detail_of(found)


def test_the_provider_must_have_been_asked_as_often() -> None:
    """A stream that the gateway asked for twice is flagged; one that the provider never saw is no stream of ours."""
    found = judge_run(inputs(opened(), counts=counts(100, provider_request_count=101)))
    assert (found.accepted, "retried" in found.flags) == (True, True)
    found = judge_run(inputs(opened(), counts=counts(100, provider_request_count=99)))
    assert (found.accepted, code_of(found)) == (False, "provider_count")


def test_responses_that_are_buffered_are_flagged() -> None:
    """Open at the provider and silent at the client: it counts, and is said."""
    found = judge_run(inputs(_at(3, content_count=0)))
    assert (found.accepted, found.flags) == (True, ("buffered",))


@pytest.mark.parametrize("each_bytes", [0, 20 * KB, 450 * KB])
def test_the_slope_is_the_memory_of_a_stream(each_bytes: int) -> None:
    """On a straight line the slope is exact, whatever the gateway takes without a stream."""
    assert bytes_per_stream(opened(each_bytes)) == pytest.approx(each_bytes, abs=1e-6)


def test_one_step_off_the_line_moves_the_slope_by_its_delay() -> None:
    """Least squares: a step of 100 that is d too high moves the slope by d × 57.5 ÷ Σ(x − x̄)²."""
    points = [point(count) for count in COUNTS]
    over = 800 * KB
    points[3] = point(100, pss_bytes=(points[3].pss_bytes or 0) + over)
    spread = sum((count - 42.5) ** 2 for count in COUNTS)
    assert bytes_per_stream(opened(points=tuple(points))) == pytest.approx(20 * KB + over * 57.5 / spread)


def test_resident_memory_stands_in_where_shares_are_not_reported() -> None:
    """Without the proportional set of one step the slope is that of the resident set; without both there is none."""
    assert bytes_per_stream(_at(1, pss_bytes=None)) == pytest.approx(30 * KB)
    assert bytes_per_stream(_at(1, pss_bytes=None, rss_bytes=None)) is None


def _runs(*each_kb: int) -> list[RunRecord]:
    """Blocks whose streams took so many KB."""
    blocks = list(enumerate(each_kb, start=1))
    baseline = opened(points=tuple(point(count, pss_bytes=None, rss_bytes=None) for count in COUNTS))
    return [
        *(run(CELL, block, open_streams=opened(kb * KB), counts=counts(100)) for block, kb in blocks),
        *(run(BASELINE, block, open_streams=baseline, counts=counts(100)) for block, _ in blocks),
    ]


def _cell(runs: list[RunRecord], name: str = CELL) -> CellSummary:
    return next(one for one in summarise(campaign(*PLANS), runs, None).cells if one.cell == name)


def test_a_cell_has_the_median_over_its_blocks_with_an_interval() -> None:
    """Median, smallest and largest slope, which are the interval of three blocks; none of a single block."""
    found = _cell(_runs(19, 20, 24)).memory_per_stream_bytes
    assert isinstance(found, Figure)
    assert (found.value, found.low, found.high) == pytest.approx((20 * KB, 19 * KB, 24 * KB))
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (found.low, found.high)
    assert (found.interval.kind, found.run_count) == ("range", 3)
    one = _cell(_runs(19)).memory_per_stream_bytes
    assert isinstance(one, Figure)
    assert one.interval is None


def test_open_streams_have_no_times() -> None:
    """Every time and rate is absent for the same reason; what is counted is there."""
    cell = _cell(_runs(20, 20, 20))
    timings = {key: cell.timing(key) for key in TIME_KEYS}
    assert len(timings) > 10
    assert set(map(repr, timings.values())) == {repr(Absent(absent="open_streams"))}
    assert (cell.verdict, cell.in_flight_max_count, cell.error_count) == ("valid", 100, 0)
    assert cell.load == LOAD
    assert isinstance(cell.upstream_calls_per_request, Figure)
    assert not isinstance(cell.shift_ms, Timing)


def test_the_baseline_and_failed_cells_say_why_they_have_none() -> None:
    """No gateway, nothing accepted, nothing told, another load: four reasons."""
    assert _cell(_runs(20), BASELINE).memory_per_stream_bytes == Absent(absent="no_gateway")
    broken = run(
        CELL,
        1,
        open_streams=opened(faults={"reset": 4}),
        accepted=False,
        verdict="errored",
        reason=Reason.of("errors", "x"),
    )
    failed = _cell([broken])
    assert failed.memory_per_stream_bytes == Absent(absent="errored")
    assert failed.error_count == 4
    untold = opened(points=tuple(point(count, pss_bytes=None, rss_bytes=None) for count in COUNTS))
    assert _cell([run(CELL, 1, open_streams=untold)]).memory_per_stream_bytes == Absent(
        absent="not_reported_by_kernel"
    )
    other = ClientsLoad(1, 1000, 1, 25, 60.0)
    name = "reference.none.work.plain.clients-1"
    summary = summarise(campaign(plan(name, other)), [run(name, 1)], None)
    assert summary.cells[0].memory_per_stream_bytes == Absent(absent="no_open_streams")
