"""The first three sentences of a page: what was compared, what it costs, and how sure that is.

What it costs is the added time where it was measured, else the shift, and the CPU per request at the same load.
Only reliable figures stand here (enough samples beyond them); a cell without figures says why in their place.
"""

from __future__ import annotations

from weighbridge.matrix.axes import others
from weighbridge.publish.calibration.abstract import calibration_abstract
from weighbridge.publish.calibration.certificate import own_certificate
from weighbridge.publish.prose.open_streams import open_streams_text
from weighbridge.publish.text import numbers
from weighbridge.publish.text.load_wording import LOAD_WORDS, arrivals_text, load_text, loads_text
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import grade_text
from weighbridge.publish.views.cells import interval_text, reliable
from weighbridge.publish.views.headline import BY_MODE, has_reliable_added
from weighbridge.publish.views.labels import (
    MODE_TEXT,
    Names,
    answer_text,
    chain_text,
    is_baseline,
    settings_text,
    timed,
)
from weighbridge.publish.views.shared import has_figures, message
from weighbridge.record.figures import Timing, TimingOrAbsent
from weighbridge.record.metrics import METRICS
from weighbridge.record.summary import CellSummary, Summary


def answer(summary: Summary, names: Names) -> tuple[str, str, str]:
    """Answer the reader's question in three sentences: what it costs, or of a calibration, whether it is right."""
    own = own_certificate(summary)
    if own is not None:
        return calibration_abstract(own)
    return (_compared(summary, names), _costs(summary, names), _sure(summary))


def _compared(summary: Summary, names: Names) -> str:
    cells = sorted(summary.cells, key=lambda cell: (names.order(cell), names.place(cell)))
    present = {cell.gateway for cell in cells}
    measured = [
        names.full(g.id) + _version(g.version) for g in summary.gateways if g.kind != "baseline" and g.id in present
    ] or ["no gateway"]
    modes = list(dict.fromkeys(cell.mode for cell in cells))
    used = dict.fromkeys((cell.answer, cell.mode) for cell in cells)
    provider = [
        f"{MODE_TEXT[mode]}: {answer_text(names.answers[name], mode)}" for name, mode in used if name in names.answers
    ]
    reported = f" ({'; '.join(dict.fromkeys(provider))})" if provider else ""
    host = summary.host
    cpu = f"{plain(host.cpu_model, limit=80)}, " if host.cpu_model else ""
    chain = numbers.listed([chain_text(one) for one in names.chains])
    disks = (
        f" on disks {numbers.listed([plain(disk, limit=40) for disk in names.disks])}" if names.varies_disk else ""
    )
    kinds = numbers.listed([MODE_TEXT[mode] for mode in modes])
    return (
        f"On one machine ({cpu}{numbers.plural(host.cpu_count, 'logical CPU')}), {numbers.listed(measured)} "
        f"{'was' if len(measured) == 1 else 'were'} measured against a direct connection to a mock "
        f"provider{reported}: {chain}{disks}, {kinds} responses, {loads_text([cell.load for cell in cells])}."
    )


def _version(version: str | None) -> str:
    return f" {plain(version, limit=40)}" if version else ""


def _costs(summary: Summary, names: Names) -> str:
    headline = _headline(timed(summary), names)
    if not headline:
        return open_streams_text(summary, names) or "No gateway was measured, so there is no cost to report."
    first = headline[0]
    load = "one client" if first.load.is_serial else load_text(first.load)
    spaced = arrivals_text(first.load)
    load += f" ({spaced})" if spaced else ""
    preposition = LOAD_WORDS[first.load.kind].preposition
    disk = f", disk {plain(first.disk, limit=40)}" if names.varies_disk else ""
    subjects = dict.fromkeys((cell.gateway, settings_text(cell.settings)) for cell in headline)
    parts = [
        _gateway_cost(names, [c for c in headline if (c.gateway, settings_text(c.settings)) == s]) for s in subjects
    ]
    baseline = _baseline_text(summary, headline, names.digits)
    start = f"{preposition} {load} and {names.policy(first)}{disk}, {'; '.join([*parts, *baseline])}."
    return (
        f"Smoke run (setup check only, do not quote): {start[:1].lower()}{start[1:]}"
        if summary.grade == "smoke"
        else start
    )


def _headline(summary: Summary, names: Names) -> list[CellSummary]:
    """Return cells of the plainest question: first chain, first disk, one client or else lowest load, subject first.

    A load whose added time was measured comes before others.
    """
    measured = sorted((cell for cell in summary.cells if not is_baseline(cell)), key=names.order)
    if not measured:
        return []
    first = measured[0]
    but = ("gateway", "disk", "mode", "load")
    same = [c for c in measured if c.disk == names.disks[0] and others(c, *but) == others(first, *but)]
    lowest = min(
        same,
        key=lambda cell: (not has_reliable_added(cell), not cell.load.is_serial, names.place(cell)),
        default=first,
    ).load
    chosen = [cell for cell in same if load_text(cell.load) == load_text(lowest)]
    return sorted(chosen, key=lambda cell: (cell.gateway != summary.subject, names.rank(cell)))


def _gateway_cost(names: Names, cells: list[CellSummary]) -> str:
    name = names.full(cells[0].gateway, cells[0].settings)
    added = [text for cell in cells for text in _added_texts(cell, names.digits)]
    shifted = [cell for cell in cells if not _added_texts(cell, names.digits)]
    shifts = [text for cell in shifted if (text := _shift_text(cell, names.digits))]
    others = [f"{message(cell)} ({MODE_TEXT[cell.mode]})" for cell in shifted if not _shift_text(cell, names.digits)]
    cpu = _cpu_text(cells, names.digits)
    sentences = (
        f"adds at the median {numbers.listed(added)}{cpu}" if added else "",
        f"shifts the median by {' and '.join(shifts)}{'' if added else cpu}" if shifts else "",
    )
    return f"{name} {' – '.join(part for part in (*sentences, ' and '.join(others)) if part)}"


def _added_texts(cell: CellSummary, digits: numbers.Digits) -> list[str]:
    """Return `0.52 ms (0.49 to 0.55, p95 0.81) to non-streaming responses`; of a stream both times."""
    if not has_figures(cell):
        return []
    found = []
    for key in BY_MODE[cell.mode]:
        middle = reliable(cell.timing(key), "p50")
        if middle is not None:
            found.append(f"{digits.ms(middle)} ms{_beside(cell.timing(key), 'p95', digits)} {METRICS[key].phrase}")
    return found


def _beside(timing: TimingOrAbsent, high: str, digits: numbers.Digits) -> str:
    """Return the interval of a median and the p95 in brackets, where they are reliable; `high` leads to the p95."""
    p95 = reliable(timing, "p95")
    span = interval_text(timing, "p50", digits) if isinstance(timing, Timing) else ""
    parts = [part for part in (span, "" if p95 is None else f"{high} {digits.ms(p95)}") if part]
    return f" ({', '.join(parts)})" if parts else ""


def _cpu_text(cells: list[CellSummary], digits: numbers.Digits) -> str:
    """Return the CPU per request of the same cells; the load is that of the sentence."""
    known = [(cell.mode, cell.known("cpu_ms_per_request")) for cell in cells if has_figures(cell)]
    reported = [f"{digits.ms(cpu)} ms ({MODE_TEXT[mode]})" for mode, cpu in known if cpu is not None]
    return f", and uses {numbers.listed(reported)} of CPU per request" if reported else ""


def _baseline_text(summary: Summary, headline: list[CellSummary], digits: numbers.Digits) -> list[str]:
    """Return what the lane without a gateway shows by the same measure."""
    if not any(has_reliable_added(cell) for cell in headline):
        return []
    wanted = {cell.baseline for cell in headline}
    baselines = [cell for cell in summary.cells if cell.cell in wanted]
    reported = [
        f"{digits.ms(middle)} ms {METRICS[key].phrase}"
        for cell in baselines
        for key in BY_MODE[cell.mode]
        if (middle := reliable(cell.timing(key), "p50")) is not None
    ]
    return [f"without a gateway the same measure shows {numbers.listed(reported)}"] if reported else []


def _shift_text(cell: CellSummary, digits: numbers.Digits) -> str:
    middle = reliable(cell.timing("shift_ms"), "p50")
    if not has_figures(cell) or middle is None:
        return ""
    beside = _beside(cell.timing("shift_ms"), "p95 by", digits)
    return f"{digits.ms(middle)} ms{beside} on {MODE_TEXT[cell.mode]} responses"


def _sure(summary: Summary) -> str:
    runs = summary.provenance.runs
    kept = f"{numbers.plural(summary.runs_accepted, 'run')} accepted, {numbers.count(summary.runs_rejected)} rejected"
    value = (
        f"Each value is the median of {numbers.plural(runs, 'accepted run')}" if runs > 1 else "Each value is one run"
    )
    loaded = "; other processes were using the CPU" if summary.loaded_machine else ""
    grade = f"grade {summary.grade}: {grade_text(summary.grade)}"
    return f"{value} on one machine without a reboot ({kept}){loaded}; {grade}."
