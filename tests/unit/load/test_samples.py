"""Raw samples that invite a wrong reading, made from true ones."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from weighbridge.load.oha.output import read_json
from weighbridge.load.oha.rows import OHA_CSV_HEADER
from weighbridge.load.read import read_report
from weighbridge.load.reports.fields import number
from weighbridge.load.wrk.samples import WRK_CSV_HEADER

OHA = Path(__file__).resolve().parents[2] / "data" / "oha" / "1.16.0"


def _rows_of(database: Path) -> list[tuple[float, float, float, int, int]]:
    with closing(sqlite3.connect(database)) as opened:
        return opened.execute("SELECT start, end, duration, len_bytes, status FROM oha ORDER BY start").fetchall()


def test_csv_of_a_run_with_failures_gets_no_schedule(tmp_path: Path) -> None:
    """Half the arrivals failed, so the order of starts names wrong slots: scheduled times are unknown, not wrong."""
    lines = [f"{s},0,0,{e - s},{d},{n},{status}" for s, e, d, n, status in _rows_of(OHA / "faults.db")]
    csv = tmp_path / "faults.csv"
    csv.write_text("\n".join([OHA_CSV_HEADER, *lines, ""]))
    argv = ["oha", "-n", "80", "-q", "40", "--latency-correction", "-c", "24"]
    reading = read_report(csv, argv=argv, tool_version="1.16.0")
    assert reading.report.corrected == "yes"
    assert reading.samples is not None
    assert len(reading.samples) == 40
    assert np.isnan(reading.samples.intended_s).all()


def test_the_last_of_several_runs_in_one_database_is_taken(tmp_path: Path) -> None:
    """Oha can append: rows of an earlier run are not mixed in, and the report says so."""
    database = tmp_path / "two.db"
    database.write_bytes((OHA / "healthy.db").read_bytes())
    with closing(sqlite3.connect(database)) as opened, opened:
        opened.execute("INSERT INTO oha SELECT url, start, NULL, end, duration, 503, len_bytes, run - 60 FROM oha")
    argv = (OHA / "healthy.argv").read_text().splitlines()
    reading = read_report(OHA / "healthy.json", argv=argv, samples=database)
    assert reading.samples is not None
    assert len(reading.samples) == 150
    assert reading.report.corrected == "yes"
    assert any("earlier runs" in note for note in reading.report.notes)


@pytest.mark.parametrize(("lag_us", "kept"), [(-800, True), (-1_900, True), (-20_000, False)])
def test_wrk_sends_may_be_early_by_its_timer_only(tmp_path: Path, lag_us: int, kept: bool) -> None:
    """A send up to 2 ms before its slot is the timer's doing; a slot that lies later is a wrong slot."""
    document = {"schema": "wrk-lua/1", "duration_us": 1e6, "errors": {}, "status": {"200": 2}, "sent": 2, "resent": 0}
    (tmp_path / "wrk.json").write_text(json.dumps({**document, "schedule": {"rate": 10, "n": 2, "threads": 1}}))
    rows = f"{WRK_CSV_HEADER}\n0,0,100,900,200\n1,100000,{100000 + lag_us},140000,200\n"
    (tmp_path / "wrk.csv").write_text(rows)
    reading = read_report(tmp_path / "wrk.json", samples=tmp_path / "wrk.csv")
    assert (reading.samples is not None) == kept
    assert ("samples_refused" in reading.report.flags) != kept


def test_marks_of_nothing_are_no_numbers() -> None:
    """2^64−1, booleans, texts and infinities do not pass for measurements."""
    for value in (1.8446744073709552e19, 2**64 - 1, True, "1", None, float("inf"), float("nan"), 10**400):
        assert number(value) is None
    assert number(0) == 0.0


def test_histogram_labels_are_sorted_as_numbers() -> None:
    """The file sorts labels as text, where 10.5 comes before 2.42."""
    document = {"responseTimeHistogram": {"10.5": 1, "2.42": 2, "NaN": 0, "2.2e-05": 3}}
    assert read_json(document).histogram == ((2.2e-05, 3), (2.42, 2), (10.5, 1))
