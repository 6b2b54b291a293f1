"""The oha driver: the command that it asks for and what it makes of the files."""

from __future__ import annotations

import shutil
import signal
from dataclasses import replace
from pathlib import Path

import pytest

from weighbridge.errors import InputError
from weighbridge.load.contract.driver import LoadOutputs, LoadPlan
from weighbridge.load.drivers import DRIVERS
from weighbridge.load.oha.argv import parse_argv
from weighbridge.matrix.loads import ClientsLoad, Load, RateLoad

OHA = Path(__file__).resolve().parents[3] / "data" / "oha" / "1.16.0"
DRIVER = DRIVERS["oha"]
RATE = RateLoad(50.0, 30.0, 1500, 32, 25, 60.0)
CLIENTS = ClientsLoad(10, 1000, 10, 25, 60.0)


def _plan(folder: Path, load: Load, mode: str = "plain") -> LoadPlan:
    return LoadPlan(
        program=Path("/opt/oha"),
        url="http://127.0.0.1:9/v1/chat/completions",
        mode=mode,
        load=load,
        headers=(("authorization", "Bearer hush"),),
        secrets=("hush",),
        bodies=folder / "bodies.jsonl",
        out_dir=folder,
        expected_s=load.window_count / 50,
        seed=1,
    )


def test_a_rate_asks_for_a_fixed_number_with_correction(tmp_path: Path) -> None:
    """W + N + C requests at R, corrected, no redirects, no compression, no time limit, bodies by the line."""
    argv = DRIVER.command(_plan(tmp_path, RATE)).argv
    asked = parse_argv(argv)
    assert (asked.count, asked.duration_s, asked.rate_rps, asked.correction) == (1557, None, 50.0, True)
    assert (asked.in_flight_cap_count, asked.timeout_s) == (32, 60.0)
    joined = " ".join(argv)
    for part in ("-r 0", "--disable-compression", "--no-tui", "-m POST", "-T application/json", "-H authorization: "):
        assert part in joined
    assert argv[argv.index("-Z") + 1] == str(tmp_path / "bodies.jsonl")
    assert "-w" not in argv
    assert argv[-1].startswith("http://127.0.0.1")


def test_clients_ask_for_no_rate(tmp_path: Path) -> None:
    """A closed loop has neither a rate nor a correction; as many connections as clients."""
    asked = parse_argv(DRIVER.command(_plan(tmp_path, CLIENTS)).argv)
    assert (asked.count, asked.paced, asked.correction, asked.in_flight_cap_count) == (1010, False, False, 10)


@pytest.mark.parametrize(("mode", "form"), [("plain", "json"), ("stream", "csv")])
def test_streams_write_csv_and_plain_windows_json(tmp_path: Path, mode: str, form: str) -> None:
    """Both with a samples file beside; the breakdown exists in JSON only."""
    argv = DRIVER.command(_plan(tmp_path, RATE, mode)).argv
    assert argv[argv.index("--output-format") + 1] == form
    assert "--db-url" in argv
    assert ("--stats-success-breakdown" in argv) == (form == "json")


def test_a_lane_that_does_not_keep_the_rate_is_cut_at_twice_its_window(tmp_path: Path) -> None:
    """INT after 2·(W + N + C)/R, with time left to write before the kill."""
    command = DRIVER.command(_plan(tmp_path, RATE))
    assert command.cut_after_s == pytest.approx(2 * 1557 / 50)
    assert command.stop_signal == signal.SIGINT
    assert command.deadline_s > command.cut_after_s + 5
    assert command.secrets == ("hush",)


def test_a_rate_is_written_without_loss(tmp_path: Path) -> None:
    """Fractions and round rates arrive at oha as they were asked for."""
    for rate in (2.5, 50.0, 1000.0, 33.333333):
        argv = DRIVER.command(_plan(tmp_path, replace(RATE, rate_rps=rate))).argv
        assert float(argv[argv.index("-q") + 1]) == rate


def test_outputs_are_what_lies_there(tmp_path: Path) -> None:
    """An interrupted rate window leaves a report and no samples: absent, not invented."""
    plan = _plan(tmp_path, RATE)
    shutil.copy(OHA / "sigint.json", tmp_path / "report.json")
    outputs = DRIVER.outputs(plan, 0, b"")
    assert outputs.report == tmp_path / "report.json"
    assert outputs.samples is None
    assert outputs.argv == DRIVER.command(plan).argv
    report = DRIVER.read(outputs).report
    assert (report.verdict, report.scheduled_count) == ("partial", 1557)


def test_no_report_says_what_oha_said(tmp_path: Path) -> None:
    """Without a file the sentence carries the exit status and oha's own error."""
    outputs = DRIVER.outputs(_plan(tmp_path, RATE), 1, (OHA / "nofile.stderr").read_bytes())
    with pytest.raises(InputError, match=r"exit status 1, Error: No such file or directory"):
        DRIVER.read(outputs)


def test_a_good_report_outlives_a_bad_exit_status() -> None:
    """Oha ends with 1 when only its samples file failed: the document is judged, the status is noted."""
    argv = (OHA / "baddb.argv").read_text().splitlines()
    outputs = LoadOutputs(OHA / "baddb.json", None, argv, "1.16.0", 1, (OHA / "baddb.stderr").read_bytes())
    report = DRIVER.read(outputs).report
    assert report.verdict == "ok"
    assert any("unable to open database file" in note for note in report.notes)


def test_a_report_of_another_tool_is_refused() -> None:
    """The oha driver does not pass wrk's output off as its own."""
    wrk = OHA.parent.parent / "wrk" / "4.1.0" / "healthy.json"
    with pytest.raises(InputError, match=r"holds no report.*oha"):
        DRIVER.read(LoadOutputs(wrk, None, None, None, 0))


def test_every_driver_is_known_by_its_own_name() -> None:
    """The dictionary's key is the name that the driver bears."""
    assert all(driver.name == name for name, driver in DRIVERS.items())
