"""Text for the terminal: final text stays as it is, hostile text is harmless, progress is silent in a window."""

from __future__ import annotations

import io
import re
import threading
from dataclasses import dataclass, replace

from tests.golden import campaigns
from tests.golden.campaigns import cell, hostile, rate, smoke, summary, whole
from tests.golden.probed import probed
from weighbridge.matrix.cells import Cell, LaneKey
from weighbridge.matrix.loads import RateLoad
from weighbridge.matrix.requests import AnswerSpec, PayloadSpec
from weighbridge.publish.site.page import page_of
from weighbridge.publish.terminal.progress import ConsoleListener
from weighbridge.publish.terminal.terminal import PlanFacts, campaign_text, load_report_text, plan_text
from weighbridge.record.figures import Absent, Timing
from weighbridge.record.load_report import LoadReport, Percentiles


def test_numbers_keep_their_digits() -> None:
    """2.50 stays 2.50: nothing parses and prints our text again."""
    # Without the baseline's dashes every column holds numbers only, which tabulate would parse.
    text = campaign_text(summary([cell("reference", rate(20))]))
    row = next(line for line in text.splitlines() if line.startswith("reference"))
    assert row.split()[5:9] == ["20", "2.50", "3.25", "4.75"]
    assert "248" not in campaign_text(smoke())


def test_the_table_of_a_loaded_machine_says_so() -> None:
    """Every table heading carries the warning, and the remark tells what was seen."""
    text = campaign_text(smoke())
    assert text.count("Other processes were using the CPU during accepted runs") == 2
    assert "1.4 cores" in text
    assert "no claims" in text


def test_a_mock_is_labelled_in_every_row() -> None:
    """No row of the reference without its label."""
    for line in campaign_text(whole()).splitlines():
        if line.startswith("reference"):
            assert line.startswith("reference (mock, not a product) ")


def test_lines_fit_an_ordinary_terminal() -> None:
    """Table lines of ordinary names stay within 130 columns, with added time and without."""
    for made in (whole(), probed()):
        lines = campaign_text(made).splitlines()
        widths = [len(line) for line in lines if line.startswith(("reference", "direct", "litellm "))]
        assert max(widths) <= 130


def test_rows_without_figures_say_what_became_of_them() -> None:
    """Saturated, not supported and errored cells keep their row with what was served or why not, and dashes."""
    lines = campaign_text(whole()).splitlines()
    litellm = [" ".join(line.split()[1:]) for line in lines if line.startswith("litellm ")]
    assert "150 – b – b – b – b – b – b – b 3/3 0 served 66 of 150/s" in litellm
    assert "150 66.2 – b – b 3.40" in litellm
    assert "150 – b – b – b – b – b – b – b 0/0 – d not supported" in litellm
    assert "10 – b – b – b – b – b – b – b 0/6 0 errored" in litellm
    text = "\n".join(lines)
    message = "0 of 6 runs accepted, 3 wanted; errors: 12 of 1,000 requests answered 500"
    assert f"litellm.starter.work.stream.clients-10: {message}" in text
    assert "149 attempts: 141 accepted, 8 rejected (2 for failed requests)." in text


def test_every_dash_has_a_reason_below_its_tables() -> None:
    """A dash stands nowhere without the mark of its reason, and each mark stands below the tables of its section."""
    for text in (campaign_text(whole()), campaign_text(probed()), campaign_text(smoke())):
        sections = re.split(r"(?m)^(?:No policies|Chain )", text)[1:]
        for section in sections:
            marks = set(re.findall(r"– ([a-z])(?:  |$)", section, re.MULTILINE))
            assert marks
            assert marks <= set(re.findall(r"(?m)^([a-z])  \S", section))
        assert not re.search(r"–(?:  |$)", text, re.MULTILINE)


def test_a_tail_shows_in_the_terminal() -> None:
    """A gateway that delays two requests in a hundred by 100 ms: its p99, grey, and a mean far above its p50."""
    tailed = Timing(p50=0.64, p95=1.73, p99=101.0, mean=2.64, n=220, few_samples={"p99": "218th of 220"})
    found = summary([cell("direct", rate(20)), cell("reference", rate(20)).with_figures({"added_ms": tailed})])
    row = next(line for line in campaign_text(found).splitlines() if line.startswith("reference"))
    assert row.split()[6:10] == ["0.64", "1.73", "101?", "2.64"]


def test_a_gateway_that_retries_is_marked_in_its_row() -> None:
    """Beside its outcome, not only in a remark below."""
    found = summary([cell("direct", rate(20)), cell("reference", rate(20), flags=("retried",))])
    rows = [line for line in campaign_text(found).splitlines() if line.endswith(("valid", "retried"))]
    assert [row.split()[-1] for row in rows] == ["valid", "retried"]


def test_errors_of_contents_that_nobody_looked_at_are_a_bound() -> None:
    """Of 440 requests the probe read 44 and found none bad: no "0", but what that leaves open."""
    runs = (campaigns.line(1, request_count=440, failed_count=0),)
    whole_ = cell("direct", rate(20), looked_at_count=None, error_count=0, runs=runs)
    part = cell("reference", rate(20), looked_at_count=44, error_count=0, runs=runs)
    found = summary([whole_, part])
    rows = [row for row in campaign_text(found).splitlines() if row.endswith("valid")]
    assert [" none " in row for row in rows] == [False, True]
    assert "none of 44 looked at, fewer than 7.5 %" in campaign_text(found)
    table = page_of([found]).campaigns[0].tables[0]
    assert [row.cells[-1].text for row in table.sections[0].rows] == ["0", "none of 44 looked at, fewer than 7.5 %"]


def test_few_samples_and_a_limiting_baseline_are_remarked() -> None:
    """A figure that is not reliable has its sign with an explanation, and a flag its sentence."""
    text = campaign_text(whole())
    row = next(line for line in text.splitlines() if line.startswith("litellm") and "?" in line)
    assert "−0.30?" in row.split()
    assert "? behind a figure: 1 to 9 samples lie beyond it, so it is not reliable." in text
    assert "baseline limited (2 cells): The direct lane's own p99" in text


def test_many_clients_are_told_to_be_bounded() -> None:
    """The table of clients says so in its heading and has N ÷ mean beside what was achieved."""
    lines = campaign_text(whole()).splitlines()
    heading = next(line for line in lines if line.startswith("No policies · non-streaming, closed loop"))
    assert "more than one client: bounded by the throughput" in heading
    _, row, *_ = (
        line for line in lines[lines.index(heading) :] if line.startswith("direct") and line.split()[1] == "10"
    )
    assert row.split()[2:4] == ["489.7", "490.2"]


def test_hostile_text_does_not_reach_the_terminal() -> None:
    """No escape character, no carriage return, no direction mark."""
    text = campaign_text(hostile())
    assert not set(text) & {"\x1b", "\r", "\u202e", "\x07"}


def one_cell(name: str = "direct.none.work.plain.rate-50", not_supported: str | None = None) -> Cell:
    """A planned cell."""
    load = RateLoad(50.0, 30.0, 1500, 32, 25, 60.0)
    lane = LaneKey("direct", (), "none", "work")
    return Cell(name, lane, "plain", PayloadSpec("1k", 256, 1024), AnswerSpec("20ms", 0.02, 16, 0.005), load, "oha",
                name, not_supported)  # fmt: skip


def test_a_plan_says_cells_order_time_and_space() -> None:
    """Everything that `plan` promises stands in its text."""
    cells = (one_cell(), one_cell("litellm.x", not_supported="no such chain"))
    text = plan_text(PlanFacts(cells, [cells[:1]], 200.0, 3_000_000, 1, ["too few requests"]))
    for words in ("direct.none.work.plain.rate-50", "1,500", "no such chain", "block 1", "plain rate-50", "2 cells",
                  "1 window:", "poisson", "3 min 20 s", "2.86 MiB", "warning: too few requests"):  # fmt: skip
        assert words in text


def test_a_plan_shows_each_visit_of_a_block_in_its_order() -> None:
    """A baseline that is visited twice in a block stands there twice, with its windows each time."""
    direct = one_cell()
    other = replace(direct, id="beta", lane=LaneKey("beta", (), "none", "work"))
    text = plan_text(PlanFacts((direct, other), [(direct, other, direct)], 1.0, 1, 3))
    lines = text.partition("block 1\n")[2].splitlines()[:3]
    assert [line.split()[0] for line in lines] == ["direct.none.work", "beta.none.work", "direct.none.work"]
    assert all(line.endswith("plain rate-50") for line in lines)


def test_how_far_the_compared_runs_lay_is_said() -> None:
    """Once over all cells, in words of time; nothing where it was not measured."""
    assert "The direct run that a run is compared with lay 3 min away (median of each cell)." in campaign_text(
        whole()
    )
    assert "is compared with" not in campaign_text(summary([cell("direct", rate(20))]))


def report(**over) -> LoadReport:
    """A load report."""
    given = {
        "tool": "oha", "tool_version": None, "corrected": "unknown", "verdict": "partial", "reason": "cut",
        "wall_s": 30.1, "scheduled_count": None, "sent_count": 100, "answered_count": 99,
        "answered_by_status": {"200": 98, "500": 1}, "failed_count": 1, "failed_by_class": {"timeout": 1, "reset": 0},
        "censored_count": 0, "completed_rps": 3.29, "success_ratio": 0.98, "received_bytes": 2048,
        "response_ms": Percentiles(p50=1.0, p95=2.0, p99=None, max=9.0, n=99),
        "first_byte_ms": Absent(absent="not_reported"),
    } | over  # fmt: skip
    return LoadReport(**given)


def test_a_load_report_tells_unknown_from_nothing() -> None:
    """What was not given is unknown, an absent percentile is a dash, zero stays zero."""
    text = load_report_text(report(error_text={"\x1b[31mreset\nx": 2}, notes=("3 aborted at the deadline",)))
    lines = {line[:36].strip(): line[36:].strip() for line in text.splitlines()}
    assert lines["scheduled"] == "unknown"
    assert lines["never resolved"] == "0"
    assert lines["answered"] == "99 (200: 98, 500: 1)"
    assert lines["failed"] == "1 (timeout: 1)"
    assert lines["response time, ms"] == "p50 1.00, p95 2.00, p99 –, max 9.00, n 99"
    assert lines["first byte, ms"] == "– (not reported)"
    assert lines["error"] == "reset x (2)"
    assert lines["note"] == "3 aborted at the deadline"


@dataclass(frozen=True)
class Done:
    """How far a campaign is."""

    done_count: int = 1
    total_count: int = 12
    remaining_s: float = 200.0


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_without_a_terminal_progress_is_plain_lines() -> None:
    """No escape sequence, one line per step, and counting steps are not told a hundred times."""
    out = io.StringIO()
    with ConsoleListener(out) as listener:
        listener.started("2026-x", Done(0))
        for number in range(1, 100):
            listener.phase(f"building oha: {number} of 300")
        listener.window_opened("a.b\x1b[2J", 1, 11.0, Done())
        listener.window_closed("a.b", 1, "rejected: errors", Done(2))
        listener.warning("w" * 400)
        listener.ended("done")
    lines = out.getvalue().splitlines()
    assert "\x1b" not in out.getvalue()
    assert [line for line in lines if line.startswith("building")] == ["building oha: 1 of 300"]
    assert "[2/12] a.b, block 1: about 11 s; 3 min 20 s left" in lines
    assert "[2/12] a.b, block 1: rejected: errors" in lines
    assert f"warning: {'w' * 400}" in lines


def shown(out: io.StringIO) -> int:
    """How many live lines stand: the cursor is hidden while one does."""
    return out.getvalue().count("\x1b[?25l") - out.getvalue().count("\x1b[?25h")


def test_nothing_moves_inside_a_window() -> None:
    """On a terminal the live line stands between windows and is gone while one is open; no thread refreshes it."""
    out = Terminal()
    before = threading.active_count()
    with ConsoleListener(out) as listener:
        listener.started("c", Done(0))
        listener.phase("starting litellm")
        assert shown(out) == 1
        listener.window_opened("a.b", 1, 11.0, Done())
        assert (shown(out), threading.active_count()) == (0, before)
        listener.window_closed("a.b", 1, "accepted", Done(2))
        listener.phase("stopping litellm")
        listener.phase("starting direct")
        assert (shown(out), threading.active_count()) == (1, before)
    assert shown(out) == 0
    assert "starting direct  2 of 12 windows done, 3 min 20 s left" in out.getvalue()


def test_an_interrupt_leaves_the_terminal_as_it_was() -> None:
    """The cursor comes back when the campaign is stopped while the live line moves."""
    out = Terminal()
    try:
        with ConsoleListener(out) as listener:
            listener.phase("starting litellm")
            raise KeyboardInterrupt
    except KeyboardInterrupt:
        pass
    assert out.getvalue().count("\x1b[?25l") == out.getvalue().count("\x1b[?25h") == 1
