"""A page from summaries: puts the views of each campaign into one. Reads nothing but summaries."""

from __future__ import annotations

from collections.abc import Sequence

from weighbridge.publish.calibration.certificate import certificate_section, own_certificate
from weighbridge.publish.calibration.chart import certificate_chart
from weighbridge.publish.charts.charts import charts
from weighbridge.publish.prose.abstract import answer
from weighbridge.publish.prose.method import limits, meanings, method
from weighbridge.publish.prose.provenance import provenance
from weighbridge.publish.tables.added_time_parts import legs_tables
from weighbridge.publish.tables.cost import cost_table
from weighbridge.publish.tables.main import load_tables
from weighbridge.publish.tables.passed_on import passed_on_tables
from weighbridge.publish.tables.runs import outcome_text, run_tables
from weighbridge.publish.tables.side_tables import driver_table, ttfb_table
from weighbridge.publish.tables.streams import stream_tables
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import code, plain
from weighbridge.publish.text.wording import ADDED_TEXT, SHIFT_ALONE_TEXT, SHIFT_TEXT, STATUSES, grade_text, leading
from weighbridge.publish.views.headline import measures_added
from weighbridge.publish.views.labels import names_of, timed
from weighbridge.publish.views.shared import loaded_detail
from weighbridge.publish.views.views import CampaignPage, Chart, Page
from weighbridge.record.summary import Summary


def page_of(summaries: Sequence[Summary]) -> Page:
    """Return the page of one or several campaigns, in the order given."""
    campaigns = tuple(campaign_of(summary, f"c{number}") for number, summary in enumerate(summaries, start=1))
    many = len(campaigns) > 1
    title = "Gateway overhead" if many else campaigns[0].title
    return Page(
        title=title,
        description=campaigns[0].answer[0],
        campaigns=campaigns,
        is_many=many,
        made_by=f"Made by Weighbridge {plain(summaries[0].provenance.weighbridge_version, limit=40)} from the kept "
        f"records; the same records give the same page.",
    )


def campaign_of(summary: Summary, anchor: str) -> CampaignPage:
    """Return everything that a page says of a campaign."""
    names = names_of(summary)
    record = summary.provenance
    reported = timed(summary)
    lead = (
        f"Campaign {plain(summary.campaign, limit=120)}, started {plain(record.started_at, limit=40)}, "
        f"method version {summary.method_version}"
    )
    return CampaignPage(
        anchor=anchor,
        title=plain(record.title, limit=120) or "Gateway overhead",
        lead=lead,
        grade=summary.grade,
        grade_note=grade_text(summary.grade),
        claims=summary.grade != "smoke",
        warnings=_warnings(summary),
        answer=answer(summary, names),
        headline_text=f"{ADDED_TEXT} The baseline's stands beside it."
        if measures_added(summary.cells)
        else SHIFT_ALONE_TEXT,
        shift_text=SHIFT_TEXT,
        charts=(*_certificate_charts(summary, anchor), *charts(reported, names, anchor)),
        tables=(
            *load_tables(reported, names, anchor),
            cost_table(summary, names, anchor),
            *stream_tables(reported, names, anchor),
            *legs_tables(reported, names, anchor),
            *passed_on_tables(reported, names, anchor),
            ttfb_table(reported, names, anchor),
            driver_table(reported, names, anchor),
        ),
        run_tables=run_tables(summary, names, anchor),
        certificate=certificate_section(summary, anchor),
        outcome_text=outcome_text(summary),
        meanings=meanings(summary),
        method=method(summary),
        limits=limits(summary),
        provenance=provenance(summary, names),
        commands=(code(record.command),),
        repeat_text=f"With the matrix of SHA-256 {plain(record.matrix_sha256, limit=80)} and seed {record.seed}. The "
        f"campaign folder keeps the matrix, the recipes, every run and these figures as JSON.",
    )


def _certificate_charts(summary: Summary, anchor: str) -> tuple[Chart, ...]:
    own = own_certificate(summary)
    return certificate_chart(own, anchor) if own is not None else ()


def _warnings(summary: Summary) -> tuple[str, ...]:
    record = summary.provenance
    found = []
    if summary.grade == "smoke":
        found.append(f"Grade smoke: {grade_text('smoke')}.")
    if summary.loaded_machine:
        found.append(f"{loaded_detail(summary)}.")
    found += leading(record.warnings)
    if STATUSES[summary.status]:
        found.append(STATUSES[summary.status])
    short = [cell for cell in summary.cells if cell.verdict == "incomplete" or "few_runs" in cell.flags]
    if short:
        found.append(f"{numbers.plural(len(short), 'cell')} with fewer accepted runs than wanted.")
    return tuple(found)
