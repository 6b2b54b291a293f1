"""Open streams on the page and in the terminal: their memory in the cost table, and in no table of times."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.golden.campaigns import cell, clients, summary
from weighbridge.matrix.loads import OpenStreamsLoad
from weighbridge.publish.prose.abstract import answer
from weighbridge.publish.site.page import campaign_of
from weighbridge.publish.terminal.terminal import campaign_text
from weighbridge.publish.text.load_wording import load_text
from weighbridge.publish.views.labels import names_of
from weighbridge.publish.views.views import Table
from weighbridge.record.coded import Reason
from weighbridge.record.figures import Absent, Figure, Interval
from weighbridge.record.summary import CellSummary, Summary

STREAMS = OpenStreamsLoad((0, 20, 50, 100), 3.0, 3.02)
NOT_TIMED = Absent(absent="open_streams")
NO_OPEN_STREAMS = Absent(absent="no_open_streams")
TIMES = [name for name in CellSummary.model_fields if name.endswith("_ms")]
MEMORY = Figure(
    value=22_528.0, low=21_000.0, high=24_000.0, interval=Interval(low=20_480.0, high=24_576.0, kind="range")
)


def streams(gateway: str, **changes: object) -> CellSummary:
    """A cell that holds streams."""
    where = "none.work.stream.streams-100"
    absent = dict.fromkeys((*TIMES, "achieved_rps", "goodput_rps", "cpu_ms_per_request"), NOT_TIMED)
    memory = Absent(absent="no_gateway") if gateway == "direct" else MEMORY
    own = {"cell": f"{gateway}.{where}", "baseline": f"direct.{where}", "offered_rps": None, "littles_rps": None}
    given = {**absent, **own, "memory_per_stream_bytes": memory, "request_count": 0}
    return cell(gateway, STREAMS, mode="stream", **{**given, **changes})


def campaign(*more: CellSummary) -> Summary:
    """Both loads of one gateway, with the baselines."""
    serial = clients(1)
    timed = [cell(name, serial, memory_per_stream_bytes=NO_OPEN_STREAMS) for name in ("direct", "reference")]
    return summary([*timed, streams("direct"), streams("reference"), *more])


def table(found: Summary, ending: str) -> Table:
    """A table of the page by the end of its id."""
    return next(one for one in campaign_of(found, "c1").tables if one.id.endswith(ending))


def texts(one: Table) -> list[str]:
    """Every row as one text."""
    return [" | ".join(c.text for c in row.cells) for section in one.sections for row in section.rows]


def test_the_cost_table_has_a_row_of_open_streams() -> None:
    """The memory of one more stream with its interval stands beside its own load; other rows say where it is told."""
    found = table(campaign(), "-cost")
    rows = [row for section in found.sections for row in section.rows]
    cells = {row.cells[0].text: row.cells for row in rows}
    column = [one.text for one in found.columns].index("per open stream")
    assert (cells["100 open streams"][column].text, cells["100 open streams"][column].small) == (
        "22 KiB",
        "20 KiB to 24 KiB",
    )
    assert cells["1 client"][column].title == "only measured with open streams"
    assert any("slope of a line" in text for text in found.caption)


def test_without_open_streams_the_column_is_named_as_absent() -> None:
    """A campaign that opens no streams has no column for them, and one sentence with the reason."""
    serial = clients(1)
    found = table(
        summary([cell("direct", serial), cell("reference", serial, memory_per_stream_bytes=NO_OPEN_STREAMS)]), "-cost"
    )
    assert "per open stream" not in [one.text for one in found.columns]
    assert any("per open stream" in text and "only measured with open streams" in text for text in found.caption)


def test_no_other_table_has_them() -> None:
    """Nothing is timed while streams are kept open, so only the cost table has the row."""
    tables = campaign_of(campaign(), "c1").tables
    having = [one.id for one in tables if any("open stream" in text for text in texts(one))]
    assert having == ["c1-cost"]


def test_a_gateway_that_did_not_hold_them_is_in_the_table_all_the_same() -> None:
    """Without an accepted run the row is there with the reason of its cell."""
    failed = streams(
        "litellm", verdict="errored", reason=Reason.of("errors", "streams failed"), runs_attempted=3, runs_accepted=0,
        memory_per_stream_bytes=Absent(absent="errored"),
    )  # fmt: skip
    found = table(campaign(failed), "-cost")
    assert sum("100 open streams" in text for text in texts(found)) == 2
    assert any("errored" in note.text for note in found.footnotes)


def test_the_sentences_stay_those_of_the_plainest_load() -> None:
    """Open streams are named among the loads and are never the load of the headline."""
    found = campaign()
    compared, costs, _ = answer(found, names_of(found))
    assert "with 1 client and with up to 100 open streams" in compared
    assert "one client" in costs
    assert "open stream" not in costs


def test_the_terminal_tells_the_memory_of_a_stream() -> None:
    """One sentence with every gateway, its interval and its label; the baseline has none."""
    text = campaign_text(campaign())
    message = next(line for line in text.splitlines() if "more open stream" in line)
    assert "Reference (mock, not a product) 22 KiB, 20 KiB to 24 KiB (no policies)" in message
    assert "direct" not in message


def test_open_streams_alone_are_an_answer() -> None:
    """A campaign of open streams alone says what they take instead of what requests cost."""
    found = summary([streams("direct"), streams("reference")], grade="smoke", runs=1)
    assert answer(found, names_of(found))[1].startswith(
        "Smoke run (setup check only, do not quote): one more open stream takes"
    )
    assert campaign_text(found).count("more open stream") == 1


@pytest.mark.parametrize(("counts", "text"), [((0, 1), "1 open stream"), ((0, 1000), "1,000 open streams")])
def test_the_load_has_a_name(counts: tuple[int, ...], text: str) -> None:
    """As many as the last step holds."""
    assert load_text(replace(STREAMS, counts=counts)) == text
