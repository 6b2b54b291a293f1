"""The certificate as a page shows it: a sentence, what it found, and a table of known delays.

Whatever does not pass is said; without one, why.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.views.columns import number_column
from weighbridge.publish.views.labels import MODE_TEXT
from weighbridge.publish.views.views import (
    CertificateSection,
    Fact,
    Section,
    Table,
    TableCell,
    TableColumn,
    TableGroup,
    TableRow,
)
from weighbridge.record.certificate import Certificate, DelayResult, DriverBaseline, Resolution
from weighbridge.record.figures import PERCENTILES, Absent, Figure
from weighbridge.record.summary import Summary

AROUND = {
    "quiet": "on a quiet machine",
    "busy": "beside an injected noisy neighbour",
    "jitter": "while the provider's own time jitters",
}
_HOW = {"mixed": "lanes mixed request by request", "cell": "each delay a cell of its own"}
_CAPTION = (
    "Known is what the gateway recorded that it held a request, joined to the control of the same block (a gateway "
    "with no delay). The error is added time − control − known: of the median block, the worst block beneath. The "
    "error of the shift stands beside it. Grey: fewer than 10 samples lie beyond the percentile; shown, not judged."
)


def own_certificate(summary: Summary) -> Certificate | None:
    """Return the certificate that this campaign made; None of one that relies on another's, or on none."""
    found = summary.certificate
    return None if isinstance(found, Absent) or found.campaign != summary.campaign else found


def certificate_section(summary: Summary, anchor: str) -> CertificateSection:
    """Return the section of a page about its certificate."""
    found = summary.certificate
    if isinstance(found, Absent):
        return CertificateSection((verdict_text(summary),), (), ())
    lines = (verdict_text(summary), *(f"{plain(text)}." for text in found.problems))
    leads = own_certificate(summary) is not None
    return CertificateSection(lines, tuple(facts(found)), (delays_table(found, anchor),), leads=leads)


def verdict_text(summary: Summary) -> str:
    """Return one sentence: whether the calibration passed, or that there is no certificate and why."""
    found = summary.certificate
    if isinstance(found, Absent):
        return f"There is no valid certificate for this machine: {plain(found.text)}."
    kind = "provisional certificate" if found.provisional else "certificate"
    made = f"made {plain(found.made_at, limit=40)} by campaign {plain(found.campaign, limit=120)}"
    if not found.passed:
        return (
            f"Weighbridge failed its calibration ({kind}, {made}): {numbers.plural(len(found.problems), 'problem')}."
        )
    return f"Weighbridge passed its calibration ({kind}, {made}); it holds for seven days on this host."


def facts(found: Certificate) -> Iterator[Fact]:
    """Yield everything but the delays: resolution, jitter, faults, baselines, stamps, CPU, ceiling."""
    for (mode, arrangement), pairs in groupby(found.resolution, key=lambda one: (one.mode, one.arrangement)):
        yield Fact(f"resolution, {MODE_TEXT[mode]}, {_HOW[arrangement]}", _resolution_text(tuple(pairs)))
    for one in found.jitter:
        yield Fact(
            f"added time against shift under jitter, {one.mode} {one.figure}",
            f"mean error {numbers.us(one.added_mean_error_ms)} µs against {numbers.us(one.shift_mean_error_ms)} µs"
            f"{f', {numbers.short(round(one.ratio, 1))} times' if one.ratio is not None else ''}"
            f"{'' if one.passed else ': not ten times' if one.judged else ' (too few requests to judge)'}",
        )
    for fault in found.faults:
        detected = f"detected by {plain(fault.by or '', limit=200)}" if fault.detected else "not detected"
        yield Fact(f"injected fault {plain(fault.fault, limit=60)}", detected)
    for baseline in found.baselines:
        yield Fact(f"baseline of {baseline.driver}", baseline_text(baseline))
    yield from _rig_facts(found)


def baseline_text(baseline: DriverBaseline) -> str:
    """Return the baseline of one driver, or why there is none."""
    if baseline.p50_ms is None or baseline.p99_ms is None:
        return f"none: {plain(baseline.absent or 'not measured', limit=200)}"
    at = f" at {numbers.short(baseline.rate_rps)}/s" if baseline.rate_rps is not None else ""
    return f"p50 {numbers.us(baseline.p50_ms)} µs, p99 {numbers.us(baseline.p99_ms)} µs above the provider's time{at}"


def delays_table(found: Certificate, anchor: str) -> Table:
    """Tabulate the known delays and what was found of them."""
    return Table(
        id=f"{anchor}-delays",
        title="Known delays",
        caption=(_CAPTION,),
        columns=(
            TableColumn("delay", "Delay"),
            number_column("known p50", "Known p50, ms"),
            *(number_column(name, f"Error of added {name}, µs") for name in PERCENTILES),
            *(number_column(name, f"Error of shift {name}, µs") for name in PERCENTILES),
            number_column("n", "Requests in the smallest block"),
            TableColumn("outcome", "Outcome"),
        ),
        groups=(
            TableGroup("", 2),
            TableGroup("Error of added time, µs", 3),
            TableGroup("Error of the shift, µs", 3),
            TableGroup("", 2),
        ),
        sections=tuple(_sections(found)),
        empty="No known delay was measured.",
    )


@dataclass(frozen=True)
class DelayGroup:
    """Delays of one mode, arrangement and condition: three rows a delay, one a figure."""

    place: str
    arrangement: str
    delays: tuple[tuple[DelayResult, ...], ...]

    @property
    def title(self) -> str:
        """Heading of a section."""
        return f"{self.place}, {self.arrangement}"

    @property
    def panel(self) -> str:
        """Heading of a panel: lanes mixed request by request are the usual arrangement."""
        return self.place if self.arrangement == _HOW["mixed"] else self.title


def grouped(found: Certificate) -> Iterator[DelayGroup]:
    """Yield the delays of a certificate, group by group."""
    sections: dict[tuple[str, str, str], dict[str, list[DelayResult]]] = {}
    for row in found.known_delays:
        section = sections.setdefault((row.mode, row.arrangement, row.condition), {})
        section.setdefault(row.delay, []).append(row)
    for (mode, arrangement, around), delays in sections.items():
        yield DelayGroup(
            f"{MODE_TEXT[mode]}, {AROUND[around]}", _HOW[arrangement], tuple(map(tuple, delays.values()))
        )


def outcome(rows: Iterable[DelayResult]) -> str:
    """Return `passed`, or which percentiles did not."""
    bad = [row.figure for row in rows if row.judged and not row.passed]
    return f"off at {numbers.listed(list(bad))}" if bad else "passed"


def _sections(found: Certificate) -> Iterator[Section]:
    for group in grouped(found):
        yield Section(group.title, tuple(_row(rows) for rows in group.delays))


def _row(rows: Sequence[DelayResult]) -> TableRow:
    first = rows[0]
    word = outcome(rows)
    return TableRow(
        (
            TableCell(plain(first.delay, limit=60), is_head=True),
            TableCell(numbers.ms(first.known_ms), label="Known p50", css="n"),
            *(_error_cell(row) for row in rows),
            *(TableCell(numbers.us(row.shift_error_ms), label=f"Shift {row.figure}", css="n") for row in rows),
            TableCell(numbers.count(first.sample_count), label="Requests", css="n"),
            TableCell(word, label="Outcome", css="" if word == "passed" else "warn"),
        )
    )


def _error_cell(row: DelayResult) -> TableCell:
    return TableCell(
        numbers.us(row.added_error_ms),
        label=f"Added {row.figure}",
        small=f"worst {numbers.us(row.worst_added_error_ms)}",
        title=f"limit {numbers.us(row.limit_ms)} µs",
        css="n" if row.judged else "n grey",
    )


def _resolution_text(pairs: Sequence[Resolution]) -> str:
    parts = [
        f"{one.figure} ±{numbers.us(one.half_width_ms)} µs (A/A differs by {numbers.us(one.median_difference_ms)} µs"
        f"{'' if one.passed else ', beyond its limit'})"
        for one in pairs
    ]
    return f"{', '.join(parts)} over {numbers.plural(pairs[0].block_count, 'block')}"


def _rig_facts(found: Certificate) -> Iterator[Fact]:
    stamping, cpu = found.stamping, found.cpu
    if stamping is not None and stamping.shift_p50_ms is not None:
        used = stamping.cpu_ms_per_request
        text = f"{numbers.us(stamping.shift_p50_ms)} µs at the client's median"
        yield Fact(
            "what stamps cost", text + ("" if used is None else f", {numbers.us(used)} µs of the provider's CPU")
        )
    if cpu is not None:
        yield Fact(
            "known CPU burn",
            f"{numbers.ms(cpu.known_ms)} ms read as {numbers.ms(cpu.measured_ms)} ms per request at "
            f"{numbers.short(cpu.rate_rps)}/s{'' if cpu.passed else f': beyond {100 * cpu.limit_ratio:.0f} %'}",
        )
    ceiling = found.mock_ceiling_rps
    text = (
        f"{numbers.rps(ceiling.value)} responses per second" if isinstance(ceiling, Figure) else plain(ceiling.absent)
    )
    yield Fact("ceiling of the mock provider", text)
