"""What the wrk driver asks for, and how the script's own report and samples read."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from weighbridge.command import Command
from weighbridge.errors import InputError, ToolMissing
from weighbridge.load.contract.driver import LoadOutputs, LoadPlan
from weighbridge.load.contract.reading import ReportReading
from weighbridge.load.drivers import DRIVERS
from weighbridge.load.read import read_report
from weighbridge.load.wrk import driver as wrk
from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad
from weighbridge.record.load_report import Percentiles

WRK = DRIVERS["wrk"]
RATE = RateLoad(50.0, 30.0, 1500, 32, 25, 60.0)
CLIENTS = ClientsLoad(10, 1000, 10, 25, 60.0)
HEADER = "slot,scheduled_us,sent_us,done_us,status,free_us"


def plan_of(folder: Path, load: Load = RATE, **changes: Any) -> LoadPlan:
    """A window on a lane at port 8123."""
    made = LoadPlan(
        program=Path("/opt/wrk"),
        url="http://127.0.0.1:8123/v1/chat/completions",
        mode="plain",
        load=load,
        headers=(("authorization", "Bearer kept-from-all"), ("content-type", "application/json")),
        secrets=("kept-from-all",),
        bodies=folder / "bodies.jsonl",
        out_dir=folder / "out",
        expected_s=30.64,
        seed=1,
    )
    return replace(made, **changes)


def reported(command: Command) -> dict[str, list[str]]:
    """What the plan file says, by name."""
    (text,) = (data.decode() for path, data in command.files.items() if path.suffix == ".txt")
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        name, _, value = line.partition("=")
        found.setdefault(name, []).append(value)
    return found


def test_a_rate_has_one_connection_a_thread_and_an_end_after_ours(tmp_path: Path) -> None:
    """As many threads as connections; -d lies behind the cut, the deadline behind it leaves time for the report."""
    command = WRK.command(plan_of(tmp_path))
    words = " ".join(command.argv)
    assert words.startswith("/opt/wrk -t32 -c32 -d")
    assert command.cut_after_s == pytest.approx(2 * 1557 / 50 + 1 + 32 * 0.005)
    assert float(command.argv[3][2:-1]) >= command.cut_after_s + 10
    assert command.deadline_s > command.cut_after_s
    assert "-T 60s" in words


def test_the_address_of_the_lane_is_in_the_plan_only(tmp_path: Path) -> None:
    """The command line leads to port 0, where nobody listens, so that wrk without the script sends nothing."""
    command = WRK.command(plan_of(tmp_path))
    assert command.argv[-1] == "http://127.0.0.1:0/v1/chat/completions"
    assert "8123" not in " ".join(command.argv)
    assert (reported(command)["host"], reported(command)["port"]) == (["127.0.0.1"], ["8123"])


def test_the_plan_says_what_is_to_be_sent(tmp_path: Path) -> None:
    """Number, rate, threads, time-out and the head of each request, without a content length of ours."""
    found = reported(WRK.command(plan_of(tmp_path)))
    assert (found["rate"], found["count"], found["threads"]) == (["50.0"], ["1557"], ["32"])
    assert float(found["timeout"][0]) == 60e6
    assert found["head"] == [
        "POST /v1/chat/completions HTTP/1.1",
        "Host: 127.0.0.1:8123",
        "authorization: Bearer kept-from-all",
        "content-type: application/json",
    ]


def test_clients_have_no_rate_and_patience_for_an_end(tmp_path: Path) -> None:
    """A closed loop is no schedule; it is cut after ten times the expected time, a time-out and the start."""
    command = WRK.command(plan_of(tmp_path, CLIENTS, expected_s=2.0))
    assert (reported(command)["rate"], reported(command)["count"]) == ([""], ["1010"])
    assert command.cut_after_s == pytest.approx(80 + 1 + 10 * 0.005)


def test_secrets_and_script_lie_beside_what_is_kept(tmp_path: Path) -> None:
    """No argument and no variable holds a key, and the output folder, which is kept, gets none of the files."""
    plan = plan_of(tmp_path)
    command = WRK.command(plan)
    assert "kept-from-all" not in " ".join([*command.argv, *command.env.values()])
    assert all(path.parent == plan.out_dir.parent for path in command.files)
    assert {path.suffix for path in command.files} == {".lua", ".txt"}
    assert str(next(path for path in command.files if path.suffix == ".lua")) in command.argv


def test_a_warm_up_and_its_window_do_not_share_files(tmp_path: Path) -> None:
    """Two output folders side by side have a plan each."""
    window, warmup = (WRK.command(plan_of(tmp_path, out_dir=tmp_path / name)) for name in ("out", "warmup"))
    assert not set(window.files) & set(warmup.files)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"load": replace(RATE, connections=1_001)}, "cannot hold 1,001 connections"),
        ({"load": replace(RATE, connections=0)}, "cannot hold 0 connections"),
        ({"url": "https://127.0.0.1:8123/v1"}, "expected an http:// address"),
        ({"headers": (("x-note", "one\r\nx-other: two"),)}, "line break"),
    ],
)
def test_windows_that_wrk_cannot_drive_are_refused(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    """One sentence before anything runs."""
    with pytest.raises(InputError, match=message):
        WRK.command(plan_of(tmp_path, **changes))


def test_a_missing_script_is_said_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation without the script does not start wrk at all."""
    monkeypatch.setattr(wrk, "_SCRIPT", tmp_path / "nowhere.lua")
    with pytest.raises(ToolMissing, match="install Weighbridge again"):
        WRK.command(plan_of(tmp_path))


def test_a_window_without_the_scripts_report_is_void(tmp_path: Path) -> None:
    """Whatever wrk printed, its own words are in the sentence."""
    (tmp_path / "out").mkdir()
    outputs = WRK.outputs(plan_of(tmp_path), 1, b"\nPANIC: unprotected error in call to Lua API\n")
    with pytest.raises(InputError, match=r"left no report of the script \(exit status 1, PANIC: unprotected"):
        WRK.read(outputs)


def write(folder: Path, rows: list[str], **changes: Any) -> ReportReading:
    """Reading of a report with these samples."""
    document = {
        "schema": "wrk-lua/1", "duration_us": 2_000_000, "requests": 3, "bytes": 900,
        "errors": {"connect": 0, "read": 0, "write": 0, "status": 0, "timeout": 0},
        "latency_us": {"n": 3, "min": 1, "max": 9, "mean": 4, "p50": 4, "p99": 9},
        "status": {"200": 3}, "schedule": {"rate": 50, "n": 4, "threads": 2},
        "sent": 4, "resent": 0, "failed": {"broken": 1, "timeout": 0}, "ends_when_done": True, **changes,
    }  # fmt: skip
    (folder / "report.json").write_text(json.dumps(document) + "\n")
    (folder / "samples.csv").write_text("\n".join([HEADER, *rows]) + "\n")
    return read_report(folder / "report.json", samples=folder / "samples.csv")


ROWS = [
    "0,0,50,20050,200,-900",
    "1,20000,20060,-1,0,-880",
    "2,40000,55010,75010,200,55000",
    "3,60000,60040,80040,200,100",
]


def test_failed_rows_are_kept_and_counted(tmp_path: Path) -> None:
    """A failed request has its slot and start, no end, and is in no time."""
    reading = write(tmp_path, ROWS)
    report, table = reading.report, reading.samples
    assert (report.verdict, report.failed_count, report.failed_by_class) == ("ok", 1, {"other": 1})
    assert (report.censored_count, report.success_ratio) == (0, 0.75)
    assert "repeated_sends" not in report.flags
    assert table is not None
    assert table.outcome.tolist() == [0, 1, 0, 0]
    assert np.isnan(table.end_s[1])
    assert table.sent_s[1] == pytest.approx(0.02006)
    assert isinstance(report.response_ms, Percentiles)
    assert (report.response_ms.n, report.response_ms.max) == (3, pytest.approx(35.01))


def test_waiting_for_a_free_connection_is_not_the_pacers_lag(tmp_path: Path) -> None:
    """Slot 2 waited 15 ms for a connection: it was released in time; the others left some µs late."""
    table = write(tmp_path, ROWS).samples
    assert table is not None
    assert table.released_s - table.intended_s == pytest.approx([50e-6, 60e-6, 10e-6, 40e-6])
    assert table.sent_s - table.released_s == pytest.approx([0, 0, 0.015, 0])


def test_samples_of_a_script_without_that_column_have_no_release(tmp_path: Path) -> None:
    """What is not told is unknown, not zero."""
    write(tmp_path, ROWS)
    five = "\n".join(line.rpartition(",")[0] for line in [HEADER, *ROWS])
    (tmp_path / "samples.csv").write_text(five + "\n")
    table = read_report(tmp_path / "report.json", samples=tmp_path / "samples.csv").samples
    assert table is not None
    assert np.isnan(table.released_s).all()


def test_late_answers_are_failures_of_class_timeout(tmp_path: Path) -> None:
    """Broken and late ones are told apart."""
    report = write(tmp_path, ROWS, failed={"broken": 0, "timeout": 1}).report
    assert (report.failed_count, report.failed_by_class) == (1, {"timeout": 1})


def test_a_closed_loop_has_no_intended_start(tmp_path: Path) -> None:
    """No rate: nothing to correct, response counts from the send, rows come in the order of sends."""
    rows = ["0,0,300,900,200,0", "1,0,100,500,200,0", "2,0,600,1000,200,550", "3,0,50,-1,0,0"]
    reading = write(tmp_path, rows, schedule={"rate": None, "n": 4, "threads": 2})
    table = reading.samples
    assert reading.report.corrected == "no"
    assert table is not None
    assert np.isnan(table.intended_s).all()
    assert (np.diff(table.sent_s) > 0).all()
    assert isinstance(reading.report.response_ms, Percentiles)
    assert reading.report.response_ms.max == pytest.approx(0.6)


def test_a_report_of_another_tool_is_refused(tmp_path: Path) -> None:
    """The driver reads what wrk left and nothing else."""
    oha = Path(__file__).resolve().parents[3] / "data" / "oha" / "1.16.0" / "healthy.json"
    with pytest.raises(InputError, match=r"holds no report.*wrk"):
        WRK.read(LoadOutputs(oha, None, None, None))


def test_words_of_a_bad_end_are_noted(tmp_path: Path) -> None:
    """A report that is whole counts, whatever the exit status; what wrk said stands beside it."""
    write(tmp_path, ROWS)
    outputs = LoadOutputs(tmp_path / "report.json", tmp_path / "samples.csv", None, None, 1, b"something odd\n")
    assert "wrk ended badly: exit status 1, something odd" in WRK.read(outputs).report.notes
