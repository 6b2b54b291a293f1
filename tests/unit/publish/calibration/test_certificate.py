"""The certificate on pages and in the terminal: everything that did not pass is said, and an absence has a reason."""

from __future__ import annotations

import re
from typing import Any

from tests.examples.calibration_examples import certificate
from tests.golden import campaigns
from weighbridge.publish.calibration.certificate import certificate_section
from weighbridge.publish.calibration.chart import certificate_chart
from weighbridge.publish.calibration.terminal import certificate_text
from weighbridge.publish.site import templating
from weighbridge.publish.site.page import page_of
from weighbridge.publish.terminal.terminal import campaign_text
from weighbridge.record.certificate import Certificate
from weighbridge.record.figures import Absent
from weighbridge.record.summary import Summary


def summary_with(own: bool = True, **changes: Any) -> Summary:
    """A campaign with a certificate: its own, or that of another campaign."""
    summary = campaigns.smoke()
    found = certificate(**changes).model_copy(update={"campaign": summary.campaign if own else "another"})
    return summary.model_copy(update={"certificate": found.short})


def test_a_passed_certificate_shows_every_percentile_of_every_delay() -> None:
    """Errors of added time and of the shift side by side, resolution, faults and baselines beside them."""
    text = certificate_text(summary_with())

    assert "passed its calibration" in text
    assert "delay-3ms" in text
    for words in ("A/A differs", "detected by buffering verdict", "p50 141 µs, p99 305 µs", "wrk is not on PATH"):
        assert words in text


def test_a_failed_one_says_what_failed() -> None:
    """Each problem of the certificate is a line, and the row says at which percentiles it is off."""
    summary = summary_with(error_ns=500_000, detected=False)
    text = certificate_text(summary)

    assert isinstance(summary.certificate, Certificate)
    assert "failed its calibration" in text
    assert "off at p50, p95 and p99" in text
    assert "not detected" in text
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
    assert "delay-3ms" in templating.html(page_of([summary]))


def test_without_a_certificate_the_reason_stands_there() -> None:
    """A page without a valid certificate says so and shows no empty table."""
    summary = campaigns.smoke().model_copy(
        update={"certificate": Absent(absent="certificate_does_not_hold", detail="the kernel is another one")}
    )
    section = certificate_section(summary, "c1")

    assert section.lines == ("There is no valid certificate for this machine: the kernel is another one.",)
    assert (section.has_facts, section.tables) == (False, ())
    for page in (templating.html(page_of([summary])), templating.markdown_text(page_of([summary]))):
        assert "There is no valid certificate for this machine" in page


def test_a_percentile_with_few_samples_is_grey_and_not_judged() -> None:
    """A row that is not judged carries its sign and no verdict."""
    found = certificate(error_ns=500_000)
    rows = tuple(row.model_copy(update={"judged": row.figure != "p99"}) for row in found.known_delays)
    summary = campaigns.smoke()
    own = found.model_copy(update={"campaign": summary.campaign, "known_delays": rows})
    text = certificate_text(summary.model_copy(update={"certificate": own}))

    assert "off at p50 and p95" in text
    assert re.search(r"\b(49|50)\d\?", text)


def test_a_calibrations_page_begins_with_its_verdict() -> None:
    """The first sentences say whether the measurement is right, how far off, and what it cannot tell apart here."""
    summary = summary_with()
    verdict, errors, fineness = page_of([summary]).campaigns[0].answer

    assert "Weighbridge passed its calibration: 3 of 3 percentiles of known delays were found again" in verdict
    assert re.search(r"off by at most \d+ µs at p50, \d+ µs at p95 and \d+ µs at p99", errors)
    assert re.search(r"Two equal lanes differ on this host by up to ±\d+ µs at p50", fineness)
    assert fineness.endswith("injected faults that a check detected: 1 of 1.")
    assert all(sentence in campaign_text(summary) for sentence in (verdict, errors, fineness))


def test_a_calibration_that_is_off_says_where_in_its_first_sentence() -> None:
    """Failed rows are named with error and limit, and none is called found again."""
    verdict = page_of([summary_with(error_ns=500_000)]).campaigns[0].answer[0]

    assert "failed its calibration: 0 of 3 percentiles" in verdict
    assert re.search(r"p50 of delay-3ms, plain, on a quiet machine, by \d+ µs \(limit 60\)", verdict)


def test_a_calibration_that_fails_by_its_faults_alone_says_that_more_stands_below() -> None:
    """All delays found again is no pass while an injected fault was not detected."""
    verdict, _, fineness = page_of([summary_with(detected=False)]).campaigns[0].answer

    assert "failed its calibration: 3 of 3" in verdict
    assert verdict.endswith("; 1 other problem below.")
    assert fineness.endswith("a check detected: 0 of 1.")


def test_the_certificate_leads_on_its_own_page_alone() -> None:
    """A calibration shows picture and certificate before any figure; another page keeps them after."""
    own, others = (templating.html(page_of([summary_with(own=own)])) for own in (True, False))

    assert own.index("How far off known delays were found") < own.index("Calibration")
    assert own.index("Calibration") < own.index(">Figures<")
    assert others.index("Calibration") > others.index(">Figures<")
    assert "How far off" not in others
    page = templating.markdown_text(page_of([summary_with()]))
    assert page.index("## Calibration") < page.index("## Figures")


def test_the_picture_shows_the_size_of_each_error_of_both_times() -> None:
    """Three numbers a delay for added time and shift; an error of nothing is drawn at a microsecond."""
    found = summary_with(error_ns=500_000).certificate
    assert isinstance(found, Certificate)
    exact = found.model_copy(
        update={"known_delays": tuple(row.model_copy(update={"added_error_ms": 0.0}) for row in found.known_delays)}
    )
    (chart,) = certificate_chart(found, "c1")

    sizes = " · ".join(str(round(1000 * abs(row.added_error_ms))) for row in found.known_delays)
    assert sizes in chart.svg
    assert "1 · 1 · 1" in certificate_chart(exact, "c1")[0].svg
    assert certificate_chart(found.model_copy(update={"known_delays": ()}), "c1") == ()
