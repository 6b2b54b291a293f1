"""What a page says where probe and cost readings measured: added time leads, baselines and thresholds beside it."""

from __future__ import annotations

import functools

import pytest

from tests.golden.campaigns import cell, clients, rate, summary, timing, whole
from tests.golden.probed import fidelity, probed, seen, sloped
from weighbridge.judge.figures import buffering
from weighbridge.matrix.arrivals import Arrivals
from weighbridge.matrix.loads import RateLoad
from weighbridge.publish.charts.charts import charts
from weighbridge.publish.site import templating
from weighbridge.publish.site.page import campaign_of, page_of
from weighbridge.publish.terminal.terminal import campaign_text
from weighbridge.publish.text import numbers, wording
from weighbridge.publish.views.labels import names_of
from weighbridge.record.codes import ABSENCES
from weighbridge.record.figures import Absent, Figure


@functools.cache
def view():
    """View of the campaign that a probe measured."""
    return campaign_of(probed(), "c1")


def table(campaign, name: str):
    """A table by the end of its id."""
    return next(t for t in (*campaign.tables, *campaign.run_tables) if t.id == f"c1-{name}")


def rows(of) -> list[list[str]]:
    """Rows as texts with their second lines."""
    return [[f"{c.text} {c.small}".strip() for c in row.cells] for section in of.sections for row in section.rows]


def figures(found, section: str, gateway: str, load: str = "50/s") -> dict[str, str]:
    """Cells of one row by the heading of their column; for rows in which no message spans columns."""
    (of,) = (one for one in found.sections if one.title == section)
    row = next(one for one in of.rows if [c.text for c in one.cells[:2]] == [load, gateway])
    texts = [f"{c.text} {c.small}".strip() for c in row.cells]
    return dict(zip([column.full for column in found.columns], texts, strict=True))


def test_added_time_and_cpu_are_the_sentence_and_the_shift_is_not() -> None:
    """The second sentence tells added time with its p95, both of a stream, CPU and the baseline's own; no shift."""
    costs = view().answer[1]
    assert costs.startswith(
        "With one client and no policies, Reference (mock, not a product) adds at the median 0.62 ms "
        "(0.59 to 0.65, p95 0.87)"
    )
    for reported in ("to the first content of streams", "p95 0.93) to their end", "0.81 ms (non-streaming)", "CPU"):
        assert reported in costs
    assert "without a gateway the same measure shows 0.11 ms to non-streaming responses" in costs
    assert "shift" not in costs


def test_a_lane_without_stamps_falls_back_to_its_shift() -> None:
    """Where stamps did not come through the sentence shifts, and no added time of another lane stands for it."""
    load = clients(1)
    gone = seen(cell("litellm", load), added_ms=Absent(absent="no_inband"))
    costs = campaign_of(summary([seen(cell("direct", load)), seen(cell("reference", load)), gone]), "c1").answer[1]
    assert "LiteLLM proxy shifts the median by 9.40 ms" in costs
    assert "Reference (mock, not a product) adds at the median 0.62 ms" in costs


def test_a_load_with_added_time_is_told_before_one_without() -> None:
    """When only the rate was seen by a probe, the sentence is about the rate, not about one client."""
    cells = [
        of for gateway in ("direct", "reference") for of in (seen(cell(gateway, rate(50))), cell(gateway, clients(1)))
    ]
    start = "At 50/s (evenly spaced: shows no queueing) and no policies"
    assert campaign_of(summary(cells), "c1").answer[1].startswith(start)


def test_a_driver_alone_leads_with_the_shift_and_says_so() -> None:
    """Without a probe page, limits and terminal say that the shift is the headline, and no added column stands."""
    campaign = campaign_of(whole(), "c1")
    assert campaign.headline_text == wording.SHIFT_ALONE_TEXT
    assert wording.SHIFT_ALONE_TEXT in campaign_text(whole())
    assert not any("Added" in column.full for t in campaign.tables for column in t.columns)
    assert next(t for t in campaign.tables if t.id == "c1-chunks").empty.startswith("First content, gaps")


@pytest.mark.parametrize("name", ["rate-plain", "rate-stream", "clients-plain", "clients-stream"])
def test_added_and_shift_share_no_column_and_the_baseline_shows_its_own(name: str) -> None:
    """Every column is of one kind; the direct row has added figures and no shift."""
    found = table(view(), name)
    kinds = [column.full for column in found.columns if "p50" in column.full]
    assert all(("Added" in kind) + ("Shift" in kind) + ("claim" in kind) <= 1 for kind in kinds)
    baseline = found.sections[0].rows[0].cells
    assert baseline[2].text == "0.11"
    assert "baseline" in [made.text for made in baseline]
    assert found.groups[1].css == "lead"


def test_streams_have_two_added_times_apart() -> None:
    """First content and end are column groups of their own; no group of a stream is called added time alone."""
    titles = [group.text for group in table(view(), "rate-stream").groups]
    assert titles[1:4] == ["Added, first content, ms", "Added, end, ms", "Shift, ms"]


def test_the_claim_is_a_third_figure_with_its_difference() -> None:
    """The self-reported overhead has a column with what was measured above it, and none in the baseline's row."""
    row = next(r for r in rows(table(view(), "rate-plain")) if r[1] == "LiteLLM proxy")
    assert "4.10 added +3.70" in row
    negative = seen(
        cell("litellm", rate(50)),
        self_reported_difference_ms=probed().cells[0].added_ms.model_copy(update={"p50": -0.2}),
    )
    campaign = campaign_of(summary([seen(cell("direct", rate(50))), negative]), "c1")
    assert "4.10 added −0.20" in rows(table(campaign, "rate-plain"))[1]


def test_the_first_chart_is_added_time_with_the_baseline_in_every_panel() -> None:
    """Added time of non-streaming responses comes first, with dots of the direct lane; shift charts follow."""
    made = probed()
    drawn = charts(made, names_of(made), "c1")
    assert drawn[0].title == "Added time, open loop: non-streaming responses"
    assert drawn[0].svg.count(">0.11<") == 4
    assert [chart.title for chart in drawn].index("Shift, open loop") > 1
    assert "for direct, Reference" in drawn[0].description
    assert "the chain destroys" in drawn[0].svg


def test_thresholds_of_the_buffering_verdict_come_from_its_rules() -> None:
    """The legend's numbers are those that the judge uses."""
    text = " ".join(table(view(), "chunks").caption)
    assert f"{buffering.TOGETHER_NS / 1e6:g} ms" in text
    assert f"{100 * buffering.BUNCHED_MARGIN:g} percentage points" in text
    assert f"Below {buffering.PAIRS_NEEDED} pairs" in text
    for verdict in ("held until complete", "passed through", "windowed", "coalesced"):
        assert verdict in text


def test_a_stream_that_was_buffered_and_lost_chunks_says_so() -> None:
    """Verdict, share, stalls, missing chunks and end markers of a bad lane stand in its row."""
    row = next(r for r in rows(table(view(), "chunks")) if "held until complete" in " ".join(r))
    assert row[-5:] == [
        "97.8 %",
        "2",
        "held until complete 97.8 % bunched",
        "differs 2 chunks missing",
        "> 99.9 %",
    ]


def test_a_stream_cell_without_a_verdict_says_why() -> None:
    """Too few pairs are a dash with that reason, no blank."""
    load = rate(50)
    made = summary([seen(cell(g, load, mode="stream"), buffering=None) for g in ("direct", "reference")])
    found = table(campaign_of(made, "c1"), "chunks")
    assert ABSENCES["too_few_pairs"] in [note.text for note in found.footnotes]


def test_cost_names_rate_source_and_whole_device() -> None:
    """CPU stands beside its load, with what counted it; flushes are the device's, idle ones beside them."""
    found = table(view(), "cost")
    text = " ".join(found.caption)
    assert "cgroup v2" in text
    assert "whole device" in text
    assert "in the window" in text
    assert not found.is_folded
    row = rows(found)[0]
    assert row[0] == "50/s evenly spaced: shows no queueing"
    assert row[2:5] == ["0.81 0.79 to 0.84, ± 0.03, idle 0.3 % of a core", "0.68", "8 %"]
    assert "4.10 0.50/s idle" in row


def test_process_clocks_and_whole_life_peaks_are_named() -> None:
    """Without a group of its own the page says what counted, and that a peak may be older than the window."""
    load = rate(50)
    made = seen(cell("reference", load), cpu_from=("process_clock",), rss_peak_from=("lifetime",))
    text = " ".join(table(campaign_of(summary([cell("direct", load), made]), "c1"), "cost").caption)
    assert "by the CPU clocks of its processes" in text
    assert "since their start" in text


def test_every_table_over_cells_names_cores_and_plan() -> None:
    """The CPU plan, or that all share, stands in each heading and in the terminal's."""
    for t in view().tables:
        if t.has_rows:
            assert any(
                "gateway on CPUs 2–3, 6–7, mocks on CPU 1 and load generator on CPU 0" in line for line in t.caption
            ), t.id
    for t in campaign_of(whole(), "c1").tables:
        if t.has_rows:
            assert any("2 logical CPUs shared" in line for line in t.caption), t.id
    text = campaign_text(probed())
    assert text.count("CPU plan of 2 logical CPUs") == text.count("Chain ") + text.count("No policies ")


def test_a_sweep_has_the_order_of_the_matrix() -> None:
    """Listed as 8k, 1k, the larger payload comes first, in tables and in the sentence; names are not sorted."""
    found = sloped()
    turned = found.changed(cells=(*found.cells[2:], *found.cells[:2]))
    rows_ = table(campaign_of(turned, "c1"), "rate-plain").sections[0].rows
    assert [row.cells[1].text for row in rows_] == ["8k", "8k", "1k", "1k"]
    assert "payload 8k" in campaign_of(turned, "c1").answer[1]
    assert campaign_text(turned).index(" 8k ") < campaign_text(turned).index(" 1k ")


def test_the_slope_of_one_block_is_not_reliable() -> None:
    """It has no interval, so it is grey and says so."""
    found = sloped()
    one_block = tuple(slope.changed(block_count=1, interval_ms=None) for slope in found.slopes)
    row = table(campaign_of(found.changed(slopes=one_block), "c1"), "slopes").sections[0].rows[1]
    assert (row.cells[3].text, row.cells[3].small) == ("31.0", "one block: not reliable")
    assert row.cells[3].is_grey


def test_slopes_stand_with_interval_and_baseline() -> None:
    """Each line has its slope per KiB with interval and the direct lane's; the baseline's row says baseline."""
    found = rows(table(campaign_of(sloped(), "c1"), "slopes"))
    direct, gateway = found
    assert gateway[1] == "no policies · non-streaming · 50/s 2 cells"
    assert gateway[2:5] == ["KiB of prompt to the end of a non-streaming response", "31.0 27.9 to 34.1", "4.00"]
    assert direct[4] == "baseline"
    assert not [t for t in view().tables if t.id == "c1-slopes"]


def test_another_driver_than_asked_for_is_told_at_the_top() -> None:
    """The sentence of the fallback is a warning of the page and a line of the terminal."""
    assert any(text.startswith("oha is not there") for text in view().warnings)
    assert "oha is not there" in campaign_text(probed())
    assert not any("oha is not there" in text for text in campaign_of(whole(), "c1").warnings)


def test_the_terminal_leads_with_added_time() -> None:
    """Added time stands before the shift, with p99 and mean; a stream has both of both."""
    heads = [line.split() for line in campaign_text(probed()).splitlines() if "offered" in line]
    assert heads[0] == ["offered", *["added"] * 4]
    assert heads[1] == ["offered", "achieved", *["shift"] * 3, *["resp."] * 3, "service", "late", "CPU", "busy"]
    assert heads[2] == ["offered", *["+first"] * 4, *["+end"] * 4]


@pytest.mark.parametrize(
    ("ratio", "shown"), [(0.0, "0 %"), (1.0, "100 %"), (0.9996, "> 99.9 %"), (0.0002, "< 0.1 %"), (0.978, "97.8 %")]
)
def test_only_all_is_a_hundred_per_cent(ratio: float, shown: str) -> None:
    """A share that rounds to all or none is not shown as such."""
    assert numbers.share(ratio) == shown


def test_merged_events_are_told_from_unchanged_ones() -> None:
    """The lowest level of any response stands with how many kept the provider's events."""
    load = rate(50)
    merged = seen(cell("reference", load, mode="stream"), fidelity=fidelity("text", events_equal_count=12))
    found = rows(table(campaign_of(summary([seen(cell("direct", load, mode="stream")), merged]), "c1"), "chunks"))
    assert found[1][-2] == "text whole, events merged or split 12 of 3,000 event for event"


def test_a_saturated_lane_has_no_added_figures() -> None:
    """`served X of Y per second` spans added time too."""
    row = next(r for r in rows(table(view(), "rate-plain")) if r[2].startswith("served"))
    assert row[2] == "served 66 of 150 per second"
    assert row[3] == "150"


def test_hostile_text_cannot_come_in_by_a_new_figure() -> None:
    """A source that nobody knows is cleaned before it is printed."""
    load = rate(50)
    made = seen(cell("reference", load), cpu_from=("\x1b[31mx\n",), cpu_ms_per_request=Figure(value=1.0))
    text = " ".join(table(campaign_of(summary([cell("direct", load), made]), "c1"), "cost").caption)
    assert "\x1b" not in text
    assert "Counted x." in text


EVEN, RANDOM = "evenly spaced: shows no queueing", "at random"


@pytest.mark.parametrize(
    ("driver", "arrivals", "message"),
    [
        ("oha", "even", f"Driven by oha, {EVEN}; added time is measured by the companion probe"),
        ("wrk", "even", f"Driven by wrk, {EVEN}; added time is measured by the companion probe"),
        ("probe", "poisson", f"Driven by the built-in probe, {RANDOM}"),
        ("probe", "dithered", "Driven by the built-in probe, dithered: shows little queueing"),
        ("probe", "even", f"Driven by the built-in probe, {EVEN}"),
    ],
)
def test_a_table_says_whose_added_times_they_are_and_how_requests_were_spaced(
    driver: str, arrivals: Arrivals, message: str
) -> None:
    """Beside oha a companion probe runs and the table says so; where it drives there is nothing to tell apart."""
    alone = RateLoad(50.0, 30.0, 1500, 32, 25, 60.0, arrivals=arrivals)
    load = alone if driver == "probe" else alone.with_companion("probe", "auto")
    cells = [seen(cell(gateway, load)).model_copy(update={"driver": driver}) for gateway in ("direct", "litellm")]
    made = summary(cells)

    page = table(campaign_of(made, "c1"), "rate-plain")
    for text in (" ".join(page.caption), campaign_text(made)):
        assert message in text
        assert ("companion probe" in text) == (driver != "probe")
    assert all(message.partition(", ")[2].partition(";")[0] in row[0] for row in rows(page))
    beside = "that of the probe's own requests, which come at random in the same seconds"
    assert (beside in " ".join(page.caption)) == (driver != "probe")


def test_cells_of_different_arrivals_share_no_column() -> None:
    """One lane by evenly spaced and one by random requests of one rate stand in tables of their own."""
    spaced: tuple[Arrivals, ...] = ("even", "poisson")
    loads = [RateLoad(50.0, 30.0, 1500, 32, 25, 60.0, arrivals=one) for one in spaced]
    made = summary([seen(cell(gateway, load)) for load in loads for gateway in ("direct", "litellm")])

    pages = [one for one in campaign_of(made, "c1").tables if one.id.startswith("c1-rate-plain")]
    assert [{row[0] for row in rows(page)} for page in pages] == [{f"50/s {EVEN}"}, {f"50/s {RANDOM}"}]
    told = [line for line in campaign_text(made).splitlines() if line.startswith("Driven by")]
    assert [any(line.endswith(f", {one}") for line in told) for one in (EVEN, RANDOM)] == [True] * 2
    assert not any(EVEN in line and RANDOM in line for line in told)


def test_legs_stand_beside_their_sum_with_claim_and_stamps() -> None:
    """Added time, both legs, the claim, what is above it, and how many stamps came whole, each in its own column."""
    row = figures(table(view(), "legs"), "No policies · non-streaming", "LiteLLM proxy")
    assert row["Added time p50, ms"] == "7.80 7.41 to 8.19"
    assert (row["Request path p50, ms"], row["Response path p50, ms"]) == ("4.68", "3.12")
    assert (row["Self-reported p50, ms"], row["Self-reported p95, ms"]) == ("4.10", "4.90")
    assert (row["Added − reported p50, ms"], row["Added − reported p95, ms"]) == ("3.70", "3.80")
    assert row["Whole stamps"] == "4,400 of 4,400 3 in late turns"
    assert "Percentiles of legs do not add up to those of the sum" in " ".join(table(view(), "legs").caption)


def test_lost_stamps_are_counted_and_their_figures_absent() -> None:
    """A lane without stamps shows none of all attempts and dashes with that reason, in every table it stands in."""
    for name in ("legs", "rate-plain"):
        found = table(view(), name)
        assert "the chain destroys the provider's stamp" in [note.text for note in found.footnotes]
    stamps = next(r for r in rows(table(view(), "legs")) if "of 4,400" in r[-1] and not r[-1].startswith("4,400"))
    assert stamps[-1].startswith("0 of 4,400")


def test_chunks_are_told_gap_by_gap_with_the_baseline_beside() -> None:
    """Gaps, forwarding, distortion and the share of pairs stand apart, for the direct lane too."""
    row = figures(table(view(), "chunks"), "No policies · streaming", "direct")
    assert [row[f"{what} p50, ms"] for what in ("Gap", "Forwarding delay", "Gap distortion")] == [
        "5.00",
        "0.06",
        "0.02",
    ]
    assert [row[f"{what} p95, ms"] for what in ("Gap", "Forwarding delay", "Gap distortion")] == [
        "5.20",
        "0.14",
        "0.10",
    ]
    assert (row["Pairs in one read"], row["Streams with end marker"]) == ("< 0.1 %", "100 %")
    assert row["Fidelity"] == "unchanged 3,000 of 3,000 event for event"
    assert row["Buffering"] == "passed through 0.1 % bunched"


def test_first_bytes_are_told_from_first_content() -> None:
    """TTFB, TTFT and the response time of a stream are three groups, and the page says why they differ."""
    found = table(view(), "stream-times")
    row = figures(found, "No policies · streaming", "Reference")
    assert [row[f"{what} p50, ms"] for what in ("TTFB", "TTFT", "Response time")] == [
        "22.7",
        "20.7",
        "98.1 service 98.1, sent 0.40 late",
    ]
    assert "A first byte is not yet content" in " ".join(found.caption)


def test_cost_shows_memory_switches_calls_and_drain() -> None:
    """Each cost reading stands in its column with its unit."""
    row = figures(table(view(), "cost"), "No policies · non-streaming", "Reference")
    assert [row[f"RSS, {when}"] for when in ("idle", "peak", "after")] == ["27 MiB", "31 MiB", "30 MiB"]
    assert [row[f"PSS, {when}"] for when in ("idle", "after")] == ["15.5 MiB", "16 MiB"]
    calls = ("Control-plane calls in the path", "Control-plane calls beside it", "Provider calls")
    assert row["Context switches"] == "23.2"
    assert [row[one] for one in calls] == ["3.00", "1.20", "1.00"]
    assert row["Event drain"] == "210 ms 3 undelivered"


def test_the_load_generators_own_errors_stand_in_their_table() -> None:
    """Rate error, dispatch lag and release lateness are shown; with clients there is no rate and no schedule."""
    found = table(view(), "driver")
    row = figures(found, "No policies · non-streaming", "direct")
    assert (row["Driver"], row["Send-rate error"]) == ("probe", "−0.04 %")
    assert (row["Dispatch lag p50, ms"], row["Release lateness p99, ms"]) == ("0.03", "1.20")
    assert [note.text for note in found.footnotes] == [
        "clients have no rate to miss", "clients have no intended start",
    ]  # fmt: skip


def test_payloads_that_differ_are_rows_of_one_table_with_lines_of_their_own() -> None:
    """Two payloads are rows of one section in the matrix's order; Markdown has the table of their lines."""
    campaign = campaign_of(sloped(), "c1")
    (section,) = table(campaign, "rate-plain").sections
    assert section.title == "No policies · non-streaming"
    assert [[one.text for one in row.cells[:3]] for row in section.rows] == [
        ["50/s", "1k", "direct"], ["50/s", "1k", "Reference"], ["50/s", "8k", "direct"], ["50/s", "8k", "Reference"],
    ]  # fmt: skip
    line = dict(
        zip([c.full for c in table(campaign, "slopes").columns], rows(table(campaign, "slopes"))[1], strict=True)
    )
    assert (line["At zero, µs"], line["Farthest point, µs"], line["Block"]) == ("500", "0.00", "3 (6 points)")
    text = templating.markdown_text(page_of([sloped()]))
    assert "### Added time per KiB and per chunk" in text
    assert "31.0 (27.9 to 34.1)" in text


def test_every_table_of_a_probe_reaches_the_markdown_page() -> None:
    """What the views hold is printed: each heading stands on the page, and the added time of every lane."""
    text = templating.markdown_text(page_of([probed()]))
    for title in (
        "Open loop (fixed arrival rate): streams", "Closed loop (fixed concurrency): non-streaming responses",
        "CPU, memory and calls",
        "Streams: to the first byte, the first content and the end", "Streams as they arrive",
        "Added time by its two legs, and what gateways report", "Time to first byte at one client",
        "The load generator",
    ):  # fmt: skip
        assert f"### {title}\n" in text
    for reported in (
        "7.80 (7.41 to 8.19)",
        "0.71 (0.68 to 0.74)",
        "4.10 (added +3.70)",
        "served 66 of 150 per second",
    ):
        assert reported in text


def test_the_terminal_shows_both_added_times_and_the_remarks() -> None:
    """A stream's row has first content and end before its shift; flags are told with their number of cells."""
    lines = campaign_text(probed()).splitlines()
    stream = lines[
        lines.index(next(line for line in lines if line.startswith("No policies · streaming, open loop"))) :
    ]
    first, _, second, *_ = (line for line in stream if line.startswith("litellm"))
    assert first.split("  ")[0] == "litellm"
    assert " ".join(first.split()[1:]) == "50 7.80 10.9 16.4 – a 7.89 11.7 17.2 – a 3/3 0 valid"
    assert " ".join(second.split()[1:]) == "50 50.0 9.40 12.2 17.9 105 108 115 105 0.40 10.1 95 %"
    text = "\n".join(lines)
    assert "no inband (4 cells): The provider's stamp does not come through this lane." in text
    assert "stalls (4 cells): Some chunks came after more than ten times the provider's own gap." in text
    assert "99 attempts: 99 accepted, 0 rejected." in text


def _left_open():
    """A campaign with a median that late turns of our own loop leave open, and a p95 that they moved a little."""
    load = clients(1)
    added = timing(8.1, 9.2, 11.0).changed(bounds_ms={"p50": (6.4, 8.1), "p95": (8.95, 9.2)}, between=("p50",))
    return summary([cell("direct", load), cell("litellm", load, added_ms=added, flags=("probe_late",))])


def test_what_late_turns_leave_open_reads_between_two_values() -> None:
    """The open median stands as "between a and b", grey; the p95 as measured with the lesser value below it."""
    row = campaign_of(_left_open(), "c1").tables[0].sections[0].rows[1]
    middle, high = row.cells[2:4]

    assert (middle.text, middle.is_grey) == ("between 6.40 and 8.10", True)
    assert (high.text, high.is_grey, high.small) == ("9.20", False, "8.95 less late turns")


def test_what_late_turns_leave_open_is_in_no_sentence_and_marked_in_the_terminal() -> None:
    """No sentence and no chart has the open median; the terminal shows its two ends and says why."""
    made = _left_open()
    text = campaign_text(made)

    assert "8.10" not in " ".join(campaign_of(made, "c1").answer)
    assert "6.40\N{EN DASH}8.10" in text
    assert "probe late (1 cell): Late turns of the probe's own loop" in text
