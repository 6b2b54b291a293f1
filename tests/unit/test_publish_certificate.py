"""The certificate on pages and in the terminal: everything that did not pass is said, and an absence has a reason."""

from __future__ import annotations

import re
from typing import Any

from tests.golden import campaigns
from tests.unit.calibration_examples import certificate
from weighbridge.publish import templating
from weighbridge.publish.certificate import scale_of
from weighbridge.publish.certificate_text import certificate_text
from weighbridge.publish.page import page_of
from weighbridge.record.certificate import Certificate
from weighbridge.record.figures import Absent
from weighbridge.record.summary import Summary


def summary_with(own: bool = True, **changes: Any) -> Summary:
    """A campaign with a certificate: its own, or that of another campaign."""
    summary = campaigns.smoke()
    found = certificate(**changes).model_copy(update={"campaign": summary.campaign if own else "another"})
    return summary.model_copy(update={"certificate": found.short})


def test_a_passed_certificate_shows_every_percentile_of_every_weight() -> None:
    """Errors of added time and of the shift side by side, resolution, faults and floors beside them."""
    text = certificate_text(summary_with())

    assert "passed its calibration" in text
    assert "weight-3ms" in text
    for words in ("A/A differs", "caught by buffering verdict", "p50 141 µs, p99 305 µs", "wrk is not on PATH"):
        assert words in text


def test_a_failed_one_says_what_failed() -> None:
    """Each problem of the certificate is a line, and the row says at which percentiles it is off."""
    summary = summary_with(error_ns=500_000, caught=False)
    text = certificate_text(summary)

    assert isinstance(summary.certificate, Certificate)
    assert "failed its calibration" in text
    assert "off at p50, p95 and p99" in text
    assert "not caught" in text
    assert all(problem in text for problem in summary.certificate.problems)


def test_a_provisional_one_says_so() -> None:
    """What was made in a hurry is called provisional in the terminal and on the page."""
    summary = summary_with(is_quick=True)

    assert "provisional certificate" in certificate_text(summary)
    assert "provisional certificate" in templating.html(page_of([summary]))


def test_another_campaigns_certificate_is_one_sentence_in_the_terminal_and_whole_on_the_page() -> None:
    """It names the campaign that made it; the page shows the figures."""
    summary = summary_with(own=False)

    assert "\n" not in certificate_text(summary)
    assert "campaign another" in certificate_text(summary)
    assert "weight-3ms" in templating.html(page_of([summary]))


def test_without_a_certificate_the_reason_stands_there() -> None:
    """A page without a valid certificate says so and shows no empty table."""
    summary = campaigns.smoke().model_copy(update={"certificate": Absent(absent="the kernel is another one")})
    scale = scale_of(summary, "c1")

    assert scale.lines == ("There is no valid certificate of this scale: the kernel is another one.",)
    assert (scale.has_facts, scale.tables) == (False, ())
    for page in (templating.html(page_of([summary])), templating.markdown_text(page_of([summary]))):
        assert "There is no valid certificate of this scale" in page


def test_a_percentile_with_few_samples_is_grey_and_not_held_against_the_scale() -> None:
    """A row that is not judged carries its sign and no verdict."""
    found = certificate(error_ns=500_000)
    rows = tuple(row.model_copy(update={"judged": row.figure != "p99"}) for row in found.weights)
    summary = campaigns.smoke()
    own = found.model_copy(update={"campaign": summary.campaign, "weights": rows})
    text = certificate_text(summary.model_copy(update={"certificate": own}))

    assert "off at p50 and p95" in text
    assert re.search(r"\b(49|50)\d\?", text)
