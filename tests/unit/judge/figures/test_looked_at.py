"""What a part of the clients saw of contents is scaled to all, and what sizes tell of the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.examples.judge_examples import clients_load, closed_loop, report
from weighbridge.judge.figures.looked_at import LookedAt, failed_count, looked_at, odd_sizes, sizes_known
from weighbridge.record.load_report import LoadReport

LOAD = clients_load(1, 395)
SAMPLES = closed_loop(LOAD, 0.02)


def seen(count: int, **failed: int) -> LoadReport:
    """The report of a probe that looked at so many."""
    load = clients_load(1, count - 1)
    return report(
        closed_loop(load, 0.02), load, tool="probe", failed_by_class=failed, failed_count=sum(failed.values())
    )


def test_bad_contents_of_a_part_are_scaled_to_all() -> None:
    """Two bad ones of 44 beside 396 that nobody looked into are about 20 of 440, 3 to 65."""
    reports = [report(SAMPLES, LOAD, tool="oha"), seen(44, error_in_body=1, empty=1)]
    part = looked_at(reports)
    assert part == LookedAt(2, 44, 440)
    assert (part.estimate_count, part.bounds) == (20, (3, 65))
    assert failed_count(reports) == 20
    assert failed_count(reports, odd_count=5) == 25


def test_what_everybody_sees_is_not_scaled() -> None:
    """A refused connection of the probe's own is one failure; statuses of both are counted as they are."""
    reports = [report(SAMPLES, LOAD, tool="oha", answered_by_status={"200": 390, "500": 6}), seen(44, reset=1)]
    assert failed_count(reports) == 7
    assert looked_at(reports) == LookedAt(0, 44, 440)


def test_a_probe_that_leads_looks_at_all() -> None:
    """Nothing is scaled where the leading client reads contents, or where nobody does."""
    assert looked_at([seen(44, empty=2)]) is None
    assert failed_count([seen(44, empty=2)], unwhole_count=1) == 3
    assert looked_at([report(SAMPLES, LOAD, tool="oha")]) is None
    assert looked_at([]) is None


@pytest.mark.parametrize(
    ("size", "expected_bytes", "odd"), [(550, None, 0), (551, None, 7), (449, None, 7), (500, 900, 396)]
)
def test_a_body_of_another_size_is_odd(size: int, expected_bytes: int | None, odd: int) -> None:
    """More than a tenth off the usual size, or off that of the response before the window."""
    sizes = np.full(len(SAMPLES), 500)
    sizes[10:17] = size
    assert odd_sizes(replace(SAMPLES, received_bytes=sizes), expected_bytes) == odd


def test_sizes_are_known_where_every_good_response_has_one() -> None:
    """One unknown size is one content that nobody knows."""
    sizes = np.full(len(SAMPLES), 500)
    assert sizes_known(replace(SAMPLES, received_bytes=sizes))
    sizes[3] = -1
    assert not sizes_known(replace(SAMPLES, received_bytes=sizes))
    assert not sizes_known(None)
