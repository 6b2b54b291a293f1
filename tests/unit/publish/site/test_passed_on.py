"""The table of what a gateway passed on: its request, the usage, and whose the responses are."""

from __future__ import annotations

from tests.golden.campaigns import cell, clients, summary
from weighbridge.publish.tables.passed_on import passed_on_tables
from weighbridge.publish.views.labels import names_of
from weighbridge.record.probe_counts import StampCounts, UsageCounts
from weighbridge.record.summary import Summary

STAMPS = StampCounts(
    whole_count=186,
    absent_count=0,
    damaged_count=0,
    stale_count=3,
    repeated_count=1,
    unknown_count=0,
    crossed_count=10,
)
USAGE = UsageCounts(
    response_count=200,
    same_count=195,
    differing_count=3,
    missing_count=2,
    own_count=0,
    example="prompt 50 + completion 17 = 66 instead of 50 + 16 = 66",
)


def rows(made: Summary) -> list[list[str]]:
    """Rows of the table as texts with their second lines."""
    (table,) = passed_on_tables(made, names_of(made), "c1")
    return [[f"{one.text} {one.small}".strip() for one in row.cells] for part in table.sections for row in part.rows]


def test_changes_differences_and_foreign_responses_are_told_with_their_numbers() -> None:
    """Each of the three has a cell with all that it is; a lane that changed nothing says so."""
    load = clients(1)
    lane = cell("litellm", load, stamps=STAMPS, usage=USAGE, request_changes=("adds user", "drops seed"))
    baseline, gateway = rows(summary([cell("direct", load, stamps=STAMPS), lane]))

    assert "as sent" in baseline
    assert gateway[-3:] == [
        "adds user, drops seed",
        f"195 of 200 3 differ ({USAGE.example}), 2 without any",
        "186 of 200 10 of another request, 1 given twice, 3 old",
    ]


def test_no_table_where_nothing_was_looked_at() -> None:
    """A campaign without a probe and without a changed request has no such table."""
    made = summary([cell("direct", clients(1))])

    assert passed_on_tables(made, names_of(made), "c1") == ()
