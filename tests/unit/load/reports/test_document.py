"""Decoding: what is a report, what is noise, what is neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from weighbridge.errors import InputError
from weighbridge.load.read import EVERY_FORMAT, read_report
from weighbridge.load.reports.document import open_report

OHA = '{"summary":{"total":1.0,"slowest":%s},"statusCodeDistribution":{"200":1},"latencyPercentiles":{"p50":0.5}}'


def _file(folder: Path, data: bytes | str) -> Path:
    file = folder / "report"
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


@pytest.mark.parametrize("bare", ["NaN", "nan", "-nan", "inf", "-inf", "Infinity", "-Infinity"])
def test_bare_non_finite_numbers_are_absent(tmp_path: Path, bare: str) -> None:
    """Tokens that JSON does not have, in any writing, read as null."""
    found = open_report(_file(tmp_path, OHA % bare), EVERY_FORMAT)
    assert found.document is not None
    assert found.document["summary"]["slowest"] is None


def test_words_inside_texts_are_not_rewritten(tmp_path: Path) -> None:
    """`nan` within an error text stays as it was received while a bare one beside it becomes null."""
    text = OHA % "nan" + "\n"
    text = text.replace('"latencyPercentiles"', '"errorDistribution":{"no inf, nan at all":1},"latencyPercentiles"')
    report = read_report(_file(tmp_path, text)).report
    assert report.error_text == {"no inf, nan at all": 1}


def test_braces_in_noise_are_skipped(tmp_path: Path) -> None:
    """Log lines with braces, even JSON ones, stand around the report without being one."""
    text = 'warning {:?} {not: json}\n{"level":"info"}\n' + OHA % "0.5" + '\n{"level":"info","text":"{"}\n'
    assert read_report(_file(tmp_path, text)).report.answered_count == 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "is empty: no report"),
        (b"  \n", "is empty: no report"),
        (b"\x89PNG\r\n\x1a\n\x00\xff", "is no text"),
        (b"hello", "holds no report"),
        (b'{"a": 1}', "holds no report"),
        (b"[1, 2]", "holds no report"),
        (b'{"schema":"wrk-lua/2","requests":0}', "is written as 'wrk-lua/2'"),
        (b'{"summary":{},"statusCodeDistribution":{"200":"many"}}', "which is no count"),
        (b'{"summary":{},"statusCodeDistribution":{"200":-1}}', "which is no count"),
        (b"slot,scheduled_us,sent_us,done_us,status\n0,0,1,2,200\n", "holds the samples of wrk"),
        (b"SQLite format 3\x00 and nothing more", "is no SQLite file that can be read"),
    ],
)
def test_what_is_no_report_is_said_in_one_sentence(tmp_path: Path, data: bytes, sentence: str) -> None:
    """Each gets InputError with its own words, on one line."""
    with pytest.raises(InputError) as raised:
        read_report(_file(tmp_path, data))
    assert sentence in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_folder_and_an_absent_file_are_refused(tmp_path: Path) -> None:
    """Neither ends in a traceback."""
    for path in (tmp_path, tmp_path / "absent.json"):
        with pytest.raises(InputError):
            read_report(path)


def test_missing_sections_do_not_raise(tmp_path: Path) -> None:
    """A report with nothing but a status table is read as far as it goes."""
    report = read_report(_file(tmp_path, '{"summary":{},"statusCodeDistribution":{"200":3}}')).report
    assert (report.answered_count, report.wall_s, report.completed_rps) == (3, None, None)


@pytest.mark.parametrize("cut", [b"0.1,0,0,0.1,0.2,100,20", b"0.1,0,0,0.1,0.2,100,200", b"0.1,0,0\n"])
def test_a_cut_csv_is_refused(tmp_path: Path, cut: bytes) -> None:
    """A last line without its end may lack digits: nothing of the file is used."""
    head = b"request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n0.0,0,0,0.1,0.2,100,200\n"
    with pytest.raises(InputError, match="truncated"):
        read_report(_file(tmp_path, head + cut))


def test_a_csv_without_rows_is_a_void_report(tmp_path: Path) -> None:
    """A header alone says that nothing was answered, and that errors are not known."""
    head = "request-start,DNS,DNS+dialup,Response-delay,request-duration,bytes,status\n"
    report = read_report(_file(tmp_path, head), argv=["oha", "-n", "5", "-q", "1"]).report
    assert (report.verdict, report.answered_count, report.failed_count) == ("void", 0, None)
