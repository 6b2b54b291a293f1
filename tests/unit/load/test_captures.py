"""Every capture of oha and wrk against what is known to be a correct reading of it."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weighbridge.errors import InputError
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.read import read_report
from weighbridge.record.figures import Absent
from weighbridge.record.load_report import LoadReport, Percentiles

DATA = Path(__file__).resolve().parents[2] / "data"
COUNTS = (
    "scheduled_count",
    "sent_count",
    "answered_count",
    "answered_by_status",
    "failed_count",
    "failed_by_class",
    "censored_count",
    "verdict",
    "corrected",
)


@dataclass(frozen=True)
class Capture:
    """One case of one tool and version."""

    folder: Path
    case: str
    expected: dict[str, Any]

    @property
    def tool(self) -> str:
        return self.folder.parent.name

    @property
    def file(self) -> Path:
        names = [self.folder / f"{self.case}{end}" for end in (".json", ".csv", ".stdout", ".db")]
        return next((name for name in names if name.exists()), names[0])

    @property
    def samples(self) -> Path | None:
        name = self.folder / (f"{self.case}.db" if self.tool == "oha" else f"{self.case}.samples.csv")
        return name if name.exists() and name != self.file else None

    @property
    def argv(self) -> list[str]:
        return (self.folder / f"{self.case}.argv").read_text().splitlines()

    def read(self, **others: Any) -> ReportReading:
        given = {"argv": self.argv, "samples": self.samples, "tool_version": self.folder.name}
        return read_report(self.file, **{**given, **others})


def _captures() -> list[Capture]:
    found = []
    for index in sorted(DATA.glob("*/*/expected.json")):
        found += [Capture(index.parent, case, expected) for case, expected in json.loads(index.read_text()).items()]
    return found


CAPTURES = _captures()
READABLE = [c for c in CAPTURES if "answered_count" in c.expected or c.case == "quiet"]
UNREADABLE = [c for c in CAPTURES if c not in READABLE]
WITH_DATABASE = [c for c in READABLE if (c.folder / f"{c.case}.db").exists()]


def _name(capture: Capture) -> str:
    return f"{capture.tool}-{capture.folder.name}-{capture.case}"


def _capture(tool: str, version: str, case: str) -> Capture:
    return next(c for c in CAPTURES if (c.tool, c.folder.name, c.case) == (tool, version, case))


def _spread(reading: ReportReading) -> Percentiles:
    assert isinstance(reading.report.response_ms, Percentiles)
    return reading.report.response_ms


def test_no_capture_is_left_out() -> None:
    """All 161 cases of the seven folders are tried, 14 of them hold no report."""
    assert len(CAPTURES) == 161
    assert len(UNREADABLE) == 14


@pytest.mark.parametrize("capture", READABLE, ids=_name)
def test_a_capture_reads_as_it_should(capture: Capture) -> None:
    """Counts, classes, correction, wall clock and verdict are those of the correct reading."""
    report = capture.read().report
    expected = {name: capture.expected[name] for name in COUNTS if name in capture.expected}
    assert {name: getattr(report, name) for name in expected} == expected
    if capture.expected.get("wall_s") is not None:
        assert report.wall_s == pytest.approx(capture.expected["wall_s"], abs=1e-6)
    if "unresolved_count" in capture.expected:
        assert report.censored_count == capture.expected["unresolved_count"]
    aborts = capture.expected.get("deadline_aborts")
    noted = [note for note in report.notes if note.startswith("workers aborted at the deadline")]
    assert [str(aborts)] == [note.split(": ")[1].split(",")[0] for note in noted] if aborts else not noted
    assert (report.reason is None) == (report.verdict == "ok")


@pytest.mark.parametrize("capture", UNREADABLE, ids=_name)
def test_what_is_no_report_is_one_sentence(capture: Capture) -> None:
    """Empty, absent and text outputs raise InputError (exit 2) with a single line that names the file."""
    with pytest.raises(InputError) as raised:
        capture.read()
    assert raised.value.exit_code == 2
    assert "\n" not in str(raised.value)
    assert str(capture.file) in str(raised.value)


@pytest.mark.parametrize("capture", READABLE, ids=_name)
def test_without_arguments_nothing_is_guessed(capture: Capture) -> None:
    """Without arguments, samples and version, oha's plan and correction are unknown, its responses are not."""
    report = capture.read(argv=None, samples=None, tool_version=None).report
    assert report.tool_version is None
    if capture.tool == "oha":
        assert report.scheduled_count is None
        assert report.sent_count is None
        assert report.censored_count is None
        if capture.file.suffix != ".db":
            assert report.corrected == "unknown"
    if "answered_by_status" in capture.expected:
        assert report.answered_by_status == capture.expected["answered_by_status"]


@pytest.mark.parametrize("capture", READABLE, ids=_name)
def test_a_report_survives_its_own_json(capture: Capture) -> None:
    """The document that `invoke read --json` prints reads back as the same document."""
    report = capture.read().report
    assert LoadReport.from_json(report.to_json(), origin="test") == report


@pytest.mark.parametrize("capture", READABLE, ids=_name)
def test_percentiles_rise_and_the_histogram_is_sorted(capture: Capture) -> None:
    """p50 ≤ p95 ≤ p99 ≤ max wherever they exist, and bins come in the order of numbers, not of text."""
    report = capture.read().report
    for times in (report.response_ms, report.first_byte_ms):
        if isinstance(times, Percentiles):
            shown = [value for value in (times.p50, times.p95, times.p99, times.max) if value is not None]
            assert shown == sorted(shown)
    assert list(report.histogram) == sorted(report.histogram)


@pytest.mark.parametrize("capture", WITH_DATABASE, ids=_name)
def test_samples_hold_what_the_database_has(capture: Capture) -> None:
    """Rows, send rate and the largest dispatch lag are those that the database itself gives."""
    table = capture.read().samples
    assert table is not None
    answered = table.where(table.outcome == 0)
    assert len(answered) == capture.expected["db_rows"]
    starts = np.sort(answered.sent_s)
    if capture.expected.get("sent_rps_from_db") is not None:
        rate = (len(starts) - 1) / (starts[-1] - starts[0])
        assert rate == pytest.approx(capture.expected["sent_rps_from_db"], abs=5e-4)
    if capture.expected.get("lag_max_s") is not None:
        assert np.max(answered.sent_s - answered.released_s) == pytest.approx(capture.expected["lag_max_s"], abs=1e-6)


@pytest.mark.parametrize(
    ("case", "failed"),
    [
        ("faults", [k for k in range(80) if k % 8 in (3, 4, 5, 6)]),
        ("timeouts-part", [k for k in range(60) if k % 3 == 2]),
    ],
)
def test_failed_arrivals_are_named(case: str, failed: list[int]) -> None:
    """The slots that nobody took are exactly the arrivals which the server let fail, with their scheduled time."""
    capture = _capture("oha", "1.16.0", case)
    table = capture.read().samples
    assert table is not None
    assert len(table) == capture.expected["scheduled_count"]
    assert np.flatnonzero(table.outcome == 1).tolist() == failed
    gaps = np.diff(table.intended_s) * capture.expected["offered_rps"]
    assert gaps == pytest.approx(1.0)


@pytest.mark.parametrize("case", ["healthy", "rate1000", "saturated", "server-dies", "server-restarts", "sse-csv"])
def test_the_rebuilt_schedule_is_an_even_grid_before_every_release(case: str) -> None:
    """Scheduled times lie 1/R apart, no release comes before its slot, and one comes right at it."""
    capture = _capture("oha", "1.16.0", case)
    table = capture.read().samples
    assert table is not None
    assert np.diff(table.intended_s) == pytest.approx(1 / capture.expected["offered_rps"])
    late = (table.released_s - table.intended_s)[table.outcome == 0]
    assert late.min() == pytest.approx(0, abs=1e-9)
    assert late.max() < 0.1


def test_the_grid_shows_lateness_that_the_tool_hides() -> None:
    """At 1,000/s releases are late by milliseconds, while the tool's durations start at the release."""
    table = _capture("oha", "1.16.0", "rate1000").read().samples
    assert table is not None
    late = table.released_s - table.intended_s
    assert np.max(late) > 1e-3


def test_csv_and_database_join_on_the_start() -> None:
    """Of a stream run each request has release, start, first byte and end, and the last three come in that order."""
    table = _capture("oha", "1.16.0", "sse-csv").read().samples
    assert table is not None
    assert np.isfinite(table.first_byte_s).all()
    assert np.isfinite(table.released_s).all()
    assert (table.sent_s < table.first_byte_s).all()
    assert (table.first_byte_s < table.end_s).all()


def test_csv_alone_gives_the_same_ends_as_the_database() -> None:
    """Scheduled times by the order of starts put each end within the pacer's lateness of the true one."""
    capture = _capture("oha", "1.16.0", "saturated-csv")
    with_database, alone = capture.read().samples, capture.read(samples=None).samples
    assert with_database is not None
    assert alone is not None
    assert alone.end_s == pytest.approx(with_database.end_s, abs=0.02)
    assert alone.intended_s == pytest.approx(with_database.intended_s, abs=0.02)


def test_the_database_overrules_version_and_arguments() -> None:
    """1.13.0 with the switch and -n: uncorrected, and so said even when the version given is a lie."""
    capture = _capture("oha", "1.13.0", "saturated")
    report = capture.read(tool_version="1.16.0").report
    assert report.corrected == "no"
    assert any("samples show" in note for note in report.notes)


def test_success_is_judged_by_status() -> None:
    """A fifth each of 429 and 500 makes 0.6, and percentiles are those of the 2xx responses alone."""
    report = _capture("oha", "1.16.0", "mix").read().report
    assert report.success_ratio == pytest.approx(0.6)
    assert isinstance(report.response_ms, Percentiles)
    assert report.response_ms.n == 60
    assert "non_2xx_mixed" in report.flags


def test_mixed_percentiles_are_not_shown_without_breakdown_or_samples() -> None:
    """0.6.0 has no breakdown: the percentiles of its mixed run are absent with a reason."""
    report = _capture("oha", "0.6.0", "mix").read().report
    assert report.response_ms == Absent(absent="non_2xx_mixed")


def test_raw_samples_stand_in_for_a_missing_breakdown() -> None:
    """With the database the percentiles are those of the 2xx rows, though the JSON's own mix in the errors."""
    with_samples = _capture("oha", "1.16.0", "mix").read().report
    document = json.loads(_capture("oha", "1.16.0", "mix").file.read_text())
    assert isinstance(with_samples.response_ms, Percentiles)
    assert with_samples.response_ms.p50 != pytest.approx(document["latencyPercentiles"]["p50"] * 1e3)


def test_time_outs_hide_the_percentiles_above_them() -> None:
    """With a third timed out the median stands and p95, p99 and max are null, whatever the file says."""
    spread = _spread(_capture("oha", "1.16.0", "timeouts-part").read())
    assert spread.p50 == pytest.approx(51.1, abs=0.1)
    assert (spread.p95, spread.p99, spread.max) == (None, None, None)


def test_completed_rate_leaves_aborted_workers_out() -> None:
    """Twelve idle workers aborted at the deadline do not raise 20.2 to the file's 26.1 per second."""
    report = _capture("oha", "1.16.0", "idle-aborts").read().report
    assert report.completed_rps == pytest.approx(41 / 2.031813, abs=1e-3)


def test_corrected_and_uncorrected_medians_of_the_saturated_runs() -> None:
    """The same load reads 1.04 s where the wait is in and 0.32 s where it is not, in every version."""
    for version in ("1.16.0", "1.13.0", "1.8.0", "1.4.7", "0.6.5", "0.6.0"):
        for case in ("saturated", "saturated-uncorrected"):
            reading = _capture("oha", version, case).read()
            expected = 1040 if reading.report.corrected == "yes" else 320
            assert _spread(reading).p50 == pytest.approx(expected, rel=0.03)


def test_service_time_is_in_the_samples_of_a_corrected_run() -> None:
    """End minus actual start is the server's 0.32 s, though the duration says 1.04 s."""
    table = _capture("oha", "1.16.0", "saturated").read().samples
    assert table is not None
    assert np.median(table.end_s - table.sent_s) == pytest.approx(0.32, abs=0.01)
    assert np.median(table.end_s - table.intended_s) == pytest.approx(1.04, abs=0.02)


def test_wrk_hides_the_wait_that_its_samples_show() -> None:
    """Overloaded, wrk says 50 ms; done minus scheduled is 0.39 s in the middle and 0.74 s at most."""
    capture = _capture("wrk", "4.1.0", "overload")
    with_samples, alone = capture.read(), capture.read(samples=None)
    assert _spread(with_samples).p50 == pytest.approx(386, abs=1)
    assert _spread(with_samples).max == pytest.approx(741, abs=1)
    assert with_samples.report.corrected == "yes"
    assert _spread(alone).p50 == pytest.approx(50, abs=3)
    assert alone.report.corrected == "unknown"


def test_wrk_samples_with_negative_lags_are_refused() -> None:
    """A script that labels requests with later slots loses its samples, not its counts."""
    reading = _capture("wrk", "4.1.0", "idleclose-unqueued").read()
    assert reading.samples is None
    assert "samples_refused" in reading.report.flags
    assert reading.report.answered_count == 60


def test_wrk_answers_beyond_its_timeout_are_answers() -> None:
    """20 of 40 slower than -T: all 40 answered; wrk's own p95 is null, the samples' is 2 s."""
    capture = _capture("wrk", "4.1.0", "timeout1")
    assert _spread(capture.read(samples=None)).p99 is None
    assert _spread(capture.read()).p99 == pytest.approx(2003, abs=2)


def test_wrk_counts_repeats_as_the_failures_they_are() -> None:
    """Nine sends broke and were repeated: 59 of 68 tries succeeded, and idle closes count for nothing."""
    half = _capture("wrk", "4.1.0", "half").read().report
    assert half.failed_by_class == {"other": 9}
    assert half.success_ratio == pytest.approx(59 / 68)
    idle = _capture("wrk", "4.1.0", "idleclose").read().report
    assert idle.failed_count == 0
    assert idle.success_ratio == 1.0


def test_client_faults_are_flagged() -> None:
    """Running out of files and a single busy connection are limits of the client."""
    for case in ("fd-limit", "one-connection"):
        assert "client_limited" in _capture("oha", "1.16.0", case).read().report.flags
    assert "client_limited" not in _capture("oha", "1.16.0", "saturated").read().report.flags


def test_the_breakdown_alone_gives_the_times_of_the_successes() -> None:
    """Without samples the 2xx maps of the document are taken, for percentiles and histogram alike."""
    capture = _capture("oha", "1.13.0", "mix")
    report = capture.read().report
    good = json.loads(capture.file.read_text())["latencyPercentilesSuccessful"]
    assert isinstance(report.response_ms, Percentiles)
    assert report.response_ms.p50 == pytest.approx(good["p50"] * 1e3)
    assert report.response_ms.max == pytest.approx(good["p99.99"] * 1e3)
    assert sum(count for _, count in report.histogram) == 60


def test_no_first_byte_is_absent_not_instant() -> None:
    """A Response-delay of 0 in CSV means that there was no body."""
    reading = _capture("oha", "1.16.0", "empty204-csv").read()
    assert reading.report.first_byte_ms == Absent(absent="no_body")
    assert reading.samples is not None
    assert np.isnan(reading.samples.first_byte_s).all()


def test_a_database_of_another_run_does_not_join() -> None:
    """Two healthy runs of one shape differ in their starts: the CSV is read alone, and its correction is unproven."""
    other = DATA / "oha" / "1.16.0" / "healthy.db"
    reading = _capture("oha", "1.16.0", "healthy-csv").read(samples=other)
    assert "unverified_correction" in reading.report.flags
    assert any("another run" in note for note in reading.report.notes)
    assert reading.samples is not None
    assert np.isnan(reading.samples.released_s).all()
