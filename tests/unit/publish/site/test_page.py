"""What a page says: response, figures, absences, labels, warnings; and what it must never say."""

from __future__ import annotations

import functools
import re
from html.parser import HTMLParser

import pytest

from tests.golden.campaigns import (
    HOSTILE,
    cell,
    clients,
    hostile,
    rate,
    smoke,
    summary,
    timing,
    whole,
    without,
)
from weighbridge.matrix.requests import GoodputBounds
from weighbridge.publish.site.page import campaign_of
from weighbridge.publish.site.site import files
from weighbridge.publish.terminal.terminal import campaign_text
from weighbridge.publish.text.sanitise import code, link, markdown, plain
from weighbridge.record.figures import Absent, Figure


@functools.cache
def view(name: str):
    """View of a campaign, made once: it is frozen."""
    return campaign_of({"whole": whole, "smoke": smoke}[name](), "c1")


@functools.cache
def whole_files() -> dict[str, bytes]:
    """Files of the site of the whole campaign."""
    return files([whole()])


class Reader(HTMLParser):
    """Elements with their attributes, and the text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(text)

    def handle_starttag(self, tag, attrs) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data) -> None:
        self.text += data


def cells_of(campaign, table: str):
    """Rows of a table as texts with their second lines."""
    found = next(t for t in (*campaign.tables, *campaign.run_tables) if t.id == f"c1-{table}")
    return [[f"{c.text} {c.small}".strip() for c in row.cells] for section in found.sections for row in section.rows]


def test_the_first_three_sentences_answer_the_reader() -> None:
    """What was compared, what it costs and how sure that is, in this order, each one sentence."""
    compared, costs, sure = view("whole").answer
    assert "LiteLLM proxy 1.108.7" in compared
    assert "against a direct connection" in compared
    assert costs.startswith(
        "With one client and no policies, Reference (mock, not a product) shifts the median by 2.50"
    )
    assert "LiteLLM proxy shifts the median by 9.40 ms (p95 by 12.2)" in costs
    assert "median of 3 accepted runs" in sure
    assert "141 runs accepted, 8 rejected" in sure


def test_the_answer_leaves_out_figures_with_few_samples() -> None:
    """A percentile that is not reliable stands in no sentence."""
    few = timing(9.4, 12.2, 15.0, n=100)
    few = few.model_copy(update={"few_samples": {"p95": "95th of 100", "p99": "99th of 100"}})
    load = clients(1)
    _, costs, _ = campaign_of(summary([cell("direct", load), cell("litellm", load, shift_ms=few)]), "c1").answer
    assert "9.40 ms on non-streaming responses" in costs
    assert "12.2" not in costs


def test_a_saturated_row_says_what_was_served_and_no_shift() -> None:
    """A saturated cell shows `served X of Y per second` in place of shift and response time."""
    rows = cells_of(view("whole"), "rate-plain")
    row = next(r for r in rows if r[1].startswith("LiteLLM") and r[0].startswith("150/s "))
    assert row[2].startswith("served 66 of 150 per second")
    assert row[3:5] == ["150", "66.2 64.0 to 67.9"]


def test_a_row_without_figures_says_why() -> None:
    """Not supported and errored cells stand in the table with their reasons."""
    rows = [row for mode in ("plain", "stream") for row in cells_of(view("whole"), f"clients-{mode}")]
    text = " ".join(" ".join(row) for row in rows)
    assert "not supported the recipe does not claim the chain finance" in text
    assert "errored 0 of 6 runs accepted, 3 wanted; errors: 12 of 1,000 requests answered 500" in text


def test_a_limit_of_the_rig_is_not_a_reproach_in_the_gateways_row() -> None:
    """The row only says that there is no figure; the reason is a footnote that clears the gateway."""
    load = rate(50)
    limited = without("rig_limited", "oha lagged", "litellm", load)
    table = campaign_of(summary([cell("direct", load), limited]), "c1").tables[0]
    message = table.sections[0].rows[1].cells[2]
    assert (message.text, message.small) == ("no figure: limit of the rig", "")
    assert (
        table.footnotes[0].text
        == "limit of the rig, not of the gateway: 0 of 0 runs accepted, 3 wanted; load_limit: oha lagged"
    )


def test_every_absent_figure_carries_a_reason() -> None:
    """No dash in any table without a footnote, a second line or a message beside it."""
    for campaign in (view("whole"), view("smoke"), campaign_of(hostile(), "c1")):
        for table in campaign.tables:
            for section in table.sections:
                for row in section.rows:
                    messages = any("said" in c.css for c in row.cells)
                    for c in row.cells:
                        if c.text == "–" and not messages and c.label not in ("Offered/s", "Stream"):
                            assert c.mark, (table.id, c)
                            assert c.title


def test_few_samples_are_grey_with_their_rank() -> None:
    """The p99 of 250 requests is grey and says that it is the 248th of 250."""
    rows = cells_of(view("whole"), "clients-plain")
    assert any("−0.30 248th of 250" in row for row in rows)
    html = whole_files()["index.html"].decode()
    assert re.search(r'class="n grey[^"]*"[^>]*title="248th of 250: fewer than 10 samples', html)


def test_shift_response_and_added_time_never_share_a_column() -> None:
    """Where a driver gave added time it has its own column group beside shift and response time."""
    load = clients(1)
    made = summary([cell("direct", load), cell("litellm", load, added_ms=timing(8.1, 9.2, 11.0))])
    table = campaign_of(made, "c1").tables[0]
    groups = [group.text for group in table.groups]
    assert groups[1:4] == ["Added time, ms", "Shift, ms", "Response time, ms"]
    assert [c.text for c in table.sections[0].rows[1].cells[2:5]] == ["8.10", "9.20", "11.0"]
    assert sum(group.span for group in table.groups) == len(table.columns)


def test_spans_of_every_row_add_up_to_the_columns() -> None:
    """No row is wider or narrower than its table, in HTML spans and in Markdown fillers."""
    for campaign in (view("whole"), view("smoke"), campaign_of(hostile(), "c1"), campaign_of(two_disks(), "c1")):
        for table in (*campaign.tables, *campaign.run_tables):
            for row in (row for section in table.sections for row in section.rows):
                assert sum(c.span for c in row.cells) == len(table.columns), table.id
                assert all(len(c.fill) == c.span - 1 for c in row.cells), table.id


def two_disks():
    """The same gateway on two disks."""
    load = rate(50)
    return summary([cell(g, load, disk=disk) for disk in ("work", "fast") for g in ("direct", "litellm")])


def test_disks_get_a_column_when_they_are_compared() -> None:
    """Rows of two disks stand under each other at the same load, each with its own baseline."""
    rows = cells_of(campaign_of(two_disks(), "c1"), "rate-plain")
    assert [row[1:3] for row in rows] == [
        ["work", "direct"], ["work", "LiteLLM proxy"], ["fast", "direct"], ["fast", "LiteLLM proxy"],
    ]  # fmt: skip


def test_fifty_clients_and_fifty_per_second_stay_apart() -> None:
    """In a table over both kinds of load the baseline of one does not slip among the rows of the other."""
    loads = [rate(50), clients(50)]
    made = summary([cell(g, load) for g in ("direct", "litellm") for load in loads])
    rows = cells_of(campaign_of(made, "c1"), "driver")
    assert [row[:2] for row in rows] == [
        ["50/s evenly spaced: shows no queueing", "direct"],
        ["50/s evenly spaced: shows no queueing", "LiteLLM proxy"],
        ["50 clients", "direct"],
        ["50 clients", "LiteLLM proxy"],
    ]  # fmt: skip


def test_the_heading_names_provider_delay_connections_and_cores() -> None:
    """A table's heading says what its figures depend on."""
    caption = " ".join(line for table in view("whole").tables[:2] for line in table.caption)
    for words in ("20 ms", "16 chunks", "every 5 ms", "Connections: at most 32", "2 logical CPUs", "3 accepted runs"):
        assert words in caption


def test_clients_are_said_to_be_bounded_by_the_throughput() -> None:
    """The table of clients says so and prints N ÷ mean beside the achieved rate."""
    table = next(t for t in view("whole").tables if t.id == "c1-clients-plain")
    assert "bounded by the throughput" in " ".join(table.caption)
    row = next(r for s in table.sections for r in s.rows if r.cells[0].text == "10 clients" and "first" not in r.css)
    labels = [c.label for c in row.cells]
    assert labels.index("N ÷ mean") == labels.index("Achieved/s") + 1


def test_a_mock_is_labelled_wherever_it_stands() -> None:
    """The name of the reference never stands without `mock, not a product`: page, Markdown and pictures."""
    for name, content in whole_files().items():
        text = re.sub(r"\s+", " ", Reader(content.decode()).text if not name.endswith("md") else content.decode())
        for found in re.finditer(r"Reference", text):
            after = text[found.end() : found.end() + 60]
            assert re.match(r"(<sup>\w</sup>|[ab])? ?\(?mock, not a product", after), (name, after)


def test_a_loaded_machine_is_told_above_every_table_and_picture() -> None:
    """With other work on the machine no table with rows and no chart goes without the warning."""
    campaign = view("smoke")
    assert all(table.warning for table in (*campaign.tables, *campaign.run_tables))
    assert all("Other processes were using the CPU" in chart.description for chart in campaign.charts)
    assert any("1.4 cores" in warning for warning in campaign.warnings)
    assert not any(table.warning for table in view("whole").tables)


def test_a_smoke_run_makes_no_claims() -> None:
    """Grade smoke says so in the abstract and as a warning."""
    campaign = view("smoke")
    assert "do not quote" in campaign.answer[1]
    assert "no claims" in campaign.warnings[0]
    assert campaign.claims is False


def test_shift_is_explained_where_it_is_shown() -> None:
    """The page says that a shift is biased, can be negative and can fall with the percentile."""
    text = view("whole").shift_text
    for words in ("biased", "negative", "can fall as the percentile rises"):
        assert words in text


def test_no_score_and_no_times_faster() -> None:
    """Nothing on a page claims a score or a factor."""
    for content in whole_files().values():
        assert not re.search(r"times (faster|slower)|\bscore\b|\dx (faster|slower)", content.decode())


def test_rejected_runs_are_shown_with_both_load_readings() -> None:
    """The rejected attempt stands with its reason and the readings before and after, and the shift with it."""
    campaign = view("whole")
    row = next(r for r in cells_of(campaign, "runs") if r[3].startswith("rejected"))
    assert row[3] == "rejected failed requests"
    assert row[6].startswith("0.42 CPU 0.30 %")
    assert row[7].startswith("3.90 CPU 31.0 %")
    assert cells_of(campaign, "recomputed")[0][2:] == ["9.40", "12.2", "−0.30 248th of 250", "9.60", "13.9", "20.1"]


def test_the_same_summary_gives_the_same_bytes() -> None:
    """Two renderings, the second from a document that went through JSON, do not differ in a byte."""
    made = whole()
    again = type(made).from_json(made.to_json(), origin="test")
    assert files([made]) == files([again])


def test_the_page_asks_for_nothing_and_runs_nothing() -> None:
    """No script, no form, no frame, no outside address that would be loaded, ids are unique."""
    reader = Reader(files([whole(), smoke()])["index.html"].decode())
    tags = {tag for tag, _ in reader.elements}
    assert not tags & {"script", "form", "iframe", "object", "embed", "img", "video", "audio", "base"}
    assert all(attrs.get("href", "").startswith("data:") for tag, attrs in reader.elements if tag == "link")
    ids = [attrs["id"] for _, attrs in reader.elements if "id" in attrs]
    assert len(ids) == len(set(ids))


def test_hostile_text_stays_text_in_html() -> None:
    """Markup of a gateway becomes no element, attribute or handler, in the page and in its pictures."""
    reader = Reader(files([hostile()])["index.html"].decode())
    assert "script" not in {tag for tag, _ in reader.elements}
    assert not [a for _, attrs in reader.elements for a in attrs if a.startswith("on")]
    assert not [v for _, attrs in reader.elements for v in attrs.values() if v and v.startswith("javascript")]
    assert "\x1b" not in reader.text
    assert "\u202e" not in reader.text
    assert "<script>alert(1)</script> | `x` red line two" in reader.text


def test_hostile_text_stays_text_in_markdown() -> None:
    """A Markdown reader finds no element but our footnote marks, no link but ours, and every table whole."""
    markdown_it = pytest.importorskip("markdown_it")
    text = files([hostile()])["index.md"].decode()
    tokens = markdown_it.MarkdownIt("commonmark", {"html": True}).enable("table").parse(text)
    flat = [inner for token in tokens for inner in (token, *(token.children or ()))]
    raw = [token.content for token in flat if token.type in ("html_block", "html_inline")]
    assert set(raw) <= {"<sup>", "</sup>"}
    assert [t.attrs["href"] for t in flat if t.type == "link_open"] == ["https://docs.litellm.ai"]
    code_blocks = [t.content for t in flat if t.type == "code_block"]
    assert code_blocks == [f"invoke bench {plain(HOSTILE)}\n"]
    widths = {
        line.count("|") - line.count("\\|") for line in text.splitlines() if line.startswith("| 1 client | LiteLLM")
    }
    assert len(widths) <= 3


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb\x1b[0m", "ab"),
        ("\x1b]0;title\x07x", "x"),
        ("a\r\nb\tc", "a b c"),
        ("a\x00b", "a\ufffdb"),
        ("x" * 700, "x" * 599 + "…"),
    ],
)
def test_plain_text_is_one_harmless_line(text: str, shown: str) -> None:
    """Terminal sequences vanish, white space folds, control characters are replaced, long text is cut."""
    assert plain(text) == shown


@pytest.mark.parametrize("text", ["-0.30", "20.4", "1,000", "3 of 4"])
def test_numbers_stay_readable_in_markdown_source(text: str) -> None:
    """No needless escape in what most cells hold."""
    assert markdown(text) == text


def test_only_ordinary_addresses_become_links() -> None:
    """A homepage that is no plain web address is no link."""
    assert link("https://docs.litellm.ai/x?y=1") == "https://docs.litellm.ai/x?y=1"
    for bad in ("javascript:alert(1)", "https://a.b/)(", "ftp://a", 'https://a"b', None, "https://a b"):
        assert link(bad) == ""


def test_code_is_one_line() -> None:
    """A command cannot leave its block."""
    assert "\n" not in code("a\n\nb")


def test_cost_columns_that_nobody_filled_become_one_sentence() -> None:
    """A column of dashes is told once, with its reason, in place of standing."""
    table = next(t for t in view("whole").tables if t.id == "c1-cost")
    assert "disk flushes" not in [c.text for c in table.columns]
    missing = next(line for line in table.caption if line.startswith("Absent everywhere"))
    assert "disk flushes" in missing
    assert "(not measured in this campaign)" in missing


def test_first_bytes_that_a_driver_does_not_give_are_told_once() -> None:
    """Non-streaming responses without first-byte times leave the TTFB table with a sentence."""
    table = next(t for t in view("whole").tables if t.id == "c1-ttfb")
    assert [s.title for s in table.sections] == [
        f"{c} · streaming" for c in ("No policies", "Chain starter", "Chain finance")
    ]
    assert "Absent for non-streaming responses: not reported by the driver." in table.caption


def test_a_campaign_of_the_baseline_alone_is_a_page() -> None:
    """Only the baseline, without a single figure, still renders."""
    gone = without("errored", "the provider died", "direct", rate(50), achieved_rps=Absent(absent="errored"))
    assert b"the provider died" in files([summary([gone])])["index.html"]
    alone = summary([cell("direct", rate(50), achieved_rps=Figure(value=50.0))])
    assert "no cost to report" in campaign_of(alone, "c1").answer[1]


def test_goodput_stands_with_its_bounds() -> None:
    """A column and a sentence where the matrix states bounds, and none of both where it does not."""
    found = summary([cell("direct", rate(20)), cell("reference", rate(20))])
    bounded = found.changed(provenance=found.provenance.changed(goodput=GoodputBounds(0.2, 1.0)))
    table = campaign_of(bounded, "c1").tables[0]
    place = [one.full for one in table.columns].index("Goodput/s")
    assert [row.cells[place].text for row in table.sections[0].rows[1:]] == ["20.0"]
    said = "the first content of a stream within 200 ms and the end within 1 s."
    assert any(text.endswith(said) for text in table.caption)
    assert said in campaign_text(bounded)
    assert not any("Goodput" in column.full for column in campaign_of(found, "c1").tables[0].columns)
