"""Documents in the tools' true shape that invite a wrong reading."""

from __future__ import annotations

from pathlib import Path

import pytest

from weighbridge.errors import InputError
from weighbridge.load.read import read_report
from weighbridge.load.reports.document import TruncatedReport
from weighbridge.record.figures import Absent
from weighbridge.record.load_report import LoadReport, Percentiles

DATA = Path(__file__).resolve().parents[3] / "data"


def _report(number: int, *, tool: str = "oha", argv: list[str] | None = None) -> LoadReport:
    folder = DATA / tool / "edge"
    return read_report(next(folder.glob(f"case-{number:02}.*")), argv=argv).report


def test_case_1_all_refused() -> None:
    """No response at all: every latency is absent, success 0, 40 refused connections, no bin named NaN."""
    report = _report(1)
    assert (report.generation, report.verdict, report.answered_count) == ("G5", "void", 0)
    assert report.response_ms == Absent(absent="no_response")
    assert report.first_byte_ms == Absent(absent="no_response")
    assert report.success_ratio == 0.0
    assert report.failed_by_class == {"connect_refused": 40}
    assert report.histogram == ()
    assert report.completed_rps == 0.0


def test_case_2_mostly_time_outs() -> None:
    """Ten of twelve timed out: no percentile is known, although the file says p50 1.95 s."""
    report = _report(2)
    assert (report.generation, report.answered_count, report.failed_by_class) == ("G3", 2, {"timeout": 10})
    assert report.response_ms == Percentiles(p50=None, p95=None, p99=None, max=None, n=2)
    assert {"percentile_undefined", "small_n"} <= set(report.flags)
    assert report.first_byte_ms == Absent(absent="not_reported_by_this_version")


def test_case_3_rate_limited() -> None:
    """Half 429: success 0.5, no published percentile, the rate limit named."""
    report = _report(3)
    assert report.success_ratio == 0.5
    assert report.response_ms == Absent(absent="non_2xx_mixed")
    assert report.first_byte_ms == Absent(absent="non_2xx_mixed")
    assert "non_2xx_mixed" in report.flags
    assert any(note.startswith("3 responses were 429") for note in report.notes)


def test_case_5_only_aborts() -> None:
    """Aborted workers are neither responses nor failures: success is absent and the run void."""
    report = _report(5)
    assert (report.verdict, report.reason) == ("void", "nothing completed")
    assert report.success_ratio is None
    assert (report.failed_count, report.failed_by_class) == (0, {})
    assert any(": 5" in note for note in report.notes)
    assert report.completed_rps == 0.0


def test_case_6_one_answer() -> None:
    """The count is 1 by the status table although the histogram sums to 0."""
    report = _report(6)
    assert isinstance(report.response_ms, Percentiles)
    assert report.response_ms.n == 1
    assert report.response_ms.p50 == report.response_ms.p99 == report.response_ms.max == 12.3
    assert {"histogram_collapsed", "small_n"} <= set(report.flags)


def test_case_7_oldest_shape() -> None:
    """0.5.4 without an answer: generation G1, nothing invented, zeros of an empty set not taken."""
    report = _report(7)
    assert (report.generation, report.verdict) == ("G1", "void")
    assert report.response_ms == Absent(absent="no_response")
    assert report.failed_by_class == {"reset": 6}


def test_case_8_truncated() -> None:
    """A cut document is a typed error with its size and last whole key; an empty one says so."""
    file = DATA / "oha" / "edge" / "case-08.txt"
    with pytest.raises(TruncatedReport) as raised:
        read_report(file)
    assert raised.value.byte_count == file.stat().st_size
    assert raised.value.last_key == "p75"
    assert "\n" not in str(raised.value)


def test_case_8_every_cut_is_found(tmp_path: Path) -> None:
    """Wherever a report is cut, no number of it is used."""
    whole = (DATA / "oha" / "1.16.0" / "mix.json").read_bytes()
    cut = tmp_path / "cut.json"
    for length in (*range(1, 60), *range(60, len(whole), 37), len(whole) - 1):
        cut.write_bytes(whole[:length])
        with pytest.raises(InputError):
            read_report(cut)


def test_case_8_empty(tmp_path: Path) -> None:
    """An empty file, as oha leaves when it is killed, is no report."""
    empty = tmp_path / "empty.json"
    empty.touch()
    with pytest.raises(InputError, match="is empty: no report; the tool was killed before it wrote, or still runs"):
        read_report(empty)


def test_case_10_breakdown_without_failures() -> None:
    """Breakdown maps of a clean run change nothing; the empty not-successful ones do not show."""
    report = _report(10)
    assert report.response_ms == Percentiles(p50=52.0, p95=52.0, p99=52.0, max=52.0, n=2)
    assert "non_2xx_mixed" not in report.flags
    assert sum(count for _, count in report.histogram) == 2


def test_case_11_empty_bodies() -> None:
    """Answers without a body have response times and no first byte."""
    report = _report(11)
    assert isinstance(report.response_ms, Percentiles)
    assert report.response_ms.p50 == 4.0
    assert report.first_byte_ms == Absent(absent="no_body")
    assert report.success_ratio == 1.0


def test_case_12_interrupted() -> None:
    """Nothing in the document says that it is partial: the arguments do, and without them nobody can."""
    planned = _report(12, argv=["oha", "-n", "3000", "-q", "100", "--latency-correction"])
    assert (planned.verdict, planned.censored_count, planned.sent_count) == ("partial", 2998, None)
    assert "partial" in planned.flags
    assert planned.response_ms == Percentiles(p50=None, p95=None, p99=None, max=None, n=2)
    alone = _report(12)
    assert (alone.verdict, alone.scheduled_count, alone.censored_count) == ("ok", None, None)


def test_case_12_shorter_than_its_time_limit() -> None:
    """A total far below -z is the other sign of an interrupt."""
    report = _report(12, argv=["oha", "-z", "10s", "-c", "4"])
    assert (report.verdict, report.scheduled_count) == ("partial", None)


def test_case_13_wrk_without_a_sample() -> None:
    """2^64−1 and zeros are no latencies; 900 read errors and no response are a void run."""
    report = _report(13, tool="wrk")
    assert (report.tool, report.verdict, report.answered_count) == ("wrk", "void", 0)
    assert report.response_ms == Absent(absent="no_response")
    assert report.scheduled_count is None
    assert report.failed_count is None


def test_case_15_noise_around_the_document() -> None:
    """The document is found among log lines, which are kept as notes."""
    report = _report(15)
    assert report.answered_count == 2
    assert [note for note in report.notes if "resolv.conf" in note]
    assert [note for note in report.notes if "Storing results" in note]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-8-sig"])
def test_case_15_redirected_on_windows(tmp_path: Path, encoding: str) -> None:
    """A byte-order mark decides the decoding."""
    text = (DATA / "oha" / "edge" / "case-15.txt").read_text()
    mark = b"\xfe\xff" if encoding == "utf-16-be" else b""
    file = tmp_path / "redirected.txt"
    file.write_bytes(mark + text.encode(encoding))
    assert read_report(file).report.answered_by_status == {"200": 2}


def test_case_15_two_documents(tmp_path: Path) -> None:
    """Two reports in one file are refused; the last one is not taken."""
    text = (DATA / "oha" / "edge" / "case-15.txt").read_text()
    file = tmp_path / "two.txt"
    file.write_text(text + text)
    with pytest.raises(InputError, match="holds 2 reports"):
        read_report(file)
