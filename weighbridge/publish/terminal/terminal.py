"""Text for the terminal: tables of a campaign, of a plan, and what we make of one load report.

Text only: whoever calls prints it. Tables are set by tabulate with number parsing off, for every number is final text
already.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from tabulate import tabulate

from weighbridge.matrix.axes import AXES, varied
from weighbridge.matrix.cells import Cell
from weighbridge.matrix.order import visits
from weighbridge.publish.calibration.certificate import own_certificate
from weighbridge.publish.calibration.terminal import certificate_text
from weighbridge.publish.prose.abstract import answer
from weighbridge.publish.prose.open_streams import open_streams_text
from weighbridge.publish.tables.runs import ordered_cells, outcome_text
from weighbridge.publish.terminal.cells import cells_text, label
from weighbridge.publish.text import numbers
from weighbridge.publish.text.load_wording import arrivals_words, by_arrivals, by_kind
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import (
    SHIFT_ALONE_TEXT,
    STATUSES,
    absence_text,
    drift_remark,
    failed_remark,
    goodput_text,
    grade_text,
    leading,
    reason_text,
)
from weighbridge.publish.views.cells import GREY, ONE_BOOT
from weighbridge.publish.views.conditions import spread_text, value_text
from weighbridge.publish.views.headline import added_of, measures_added
from weighbridge.publish.views.labels import Names, names_of
from weighbridge.publish.views.shared import loaded_detail
from weighbridge.record.codes import FLAGS
from weighbridge.record.figures import Timing
from weighbridge.record.load_report import LoadReport, Percentiles, PercentilesOrAbsent
from weighbridge.record.summary import CellSummary, Summary

_ADDED_LINE = (
    "added: client's time minus the provider's, request by request; +first and +end: of streams, to the first "
    "content and to the end. The row of direct is the baseline; nothing is subtracted. CPU: of the gateway's process "
    "tree a request."
)
_RIGHT, _LEFT = "right", "left"
_Number = TypeVar("_Number", int, float)


@dataclass(frozen=True)
class PlanFacts:
    """What `plan` shows: cells, the order of each block, what it will take, and what weakens the figures."""

    cells: Sequence[Cell]
    blocks: Sequence[Sequence[Cell]]
    seconds: float
    written_bytes: int
    window_count: int
    warnings: Sequence[str] = ()


def campaign_text(summary: Summary) -> str:
    """Return the tables and remarks of a campaign, ending in a newline."""
    names = names_of(summary)
    cells = ordered_cells(summary, names)
    parts = [f"{plain(summary.provenance.title, limit=120)}\n{plain(summary.campaign, limit=120)}"]
    parts += [
        cells_text(summary, names, chosen) for of_kind in by_kind(cells).values() for chosen in by_arrivals(of_kind)
    ]
    sentences, streams = answer(summary, names), open_streams_text(summary, names)
    costs = " ".join(sentences) if own_certificate(summary) is not None else sentences[1]
    parts += [
        costs,
        *([streams] if streams and streams != costs else []),
        *_remarks(summary, names, cells),
        outcome_text(summary),
    ]
    parts.append(certificate_text(summary))
    return "\n\n".join(parts) + "\n"


def _remarks(summary: Summary, names: Names, cells: list[CellSummary]) -> list[str]:
    lines = [f"Grade {summary.grade}: {grade_text(summary.grade)}."]
    lines.append(
        f"{value_text(summary).capitalize()}; in brackets behind a median stands {spread_text(summary)}: {ONE_BOOT}."
    )
    lines += _distance_line(cells)
    lines += filter(None, (goodput_text(summary.provenance.goodput),))
    if summary.loaded_machine:
        lines.append(f"{loaded_detail(summary)}.")
    if STATUSES[summary.status]:
        lines.append(STATUSES[summary.status])
    if measures_added(cells):
        lines.append(_ADDED_LINE)
    else:
        lines.append(SHIFT_ALONE_TEXT)
    lines += leading(summary.provenance.warnings)
    times = [(added_of(cell), cell.timing("shift_ms"), cell.timing("response_ms")) for cell in cells]
    timings = [timing for each in times for timing in each]
    if any(isinstance(timing, Timing) and timing.few_samples for timing in timings):
        lines.append(f"{GREY} behind a figure: 1 to 9 samples lie beyond it, so it is not reliable.")
    flags = {flag for cell in cells for flag in cell.flags} - {"few_samples", "loaded_machine"}
    lines += [
        f"{plain(flag.replace('_', ' '))} ({numbers.plural(sum(flag in cell.flags for cell in cells), 'cell')}): "
        f"{FLAGS[flag]}"
        for flag in sorted(flags)
    ]
    reasons = dict.fromkeys(
        f"{plain(cell.cell, limit=120)}{label(names, cell)}: {_outcome(cell, text)}"
        for cell in cells
        for text in (reason_text(cell, summary.status), failed_remark(cell), drift_remark(cell))
        if cell.verdict != "not_supported" and text
    )
    return ["\n".join([*lines, *reasons])]


def _distance_line(cells: Sequence[CellSummary]) -> list[str]:
    """Tell how far in time the baseline's runs lay that those of gateways are compared with."""
    known = [away_s for cell in cells if (away_s := cell.known("baseline_distance_s")) is not None]
    if not known:
        return []
    near, far = numbers.rough_duration(min(known)), numbers.rough_duration(max(known))
    span = near if near == far else f"{near} to {far}"
    return [f"The direct run that a run is compared with lay {span} away (median of each cell)."]


def _outcome(cell: CellSummary, text: str) -> str:
    return text if cell.served_text is None else f"{plain(cell.served_text)}; {text}"


def plan_text(plan: PlanFacts) -> str:
    """Return the cells, order and cost of a plan, ending in a newline."""
    rows = [
        [plain(cell.id, limit=160), cell.driver, numbers.count(cell.load.request_count),
         numbers.count(cell.load.connections), arrivals_words(cell.load), plain(cell.not_supported or "", limit=100)]
        for cell in plan.cells
    ]  # fmt: skip
    heads = ["cell", "driver", "requests", "connections", "arrivals", "not supported because"]
    parts = [_table(rows, heads, [_LEFT, _LEFT, _RIGHT, _RIGHT, _LEFT, _LEFT])]
    varies = varied(plan.cells)
    parts += [_block_text(number, block, varies) for number, block in enumerate(plan.blocks, start=1)]
    parts.append(
        f"{numbers.plural(len(plan.cells), 'cell')}, {numbers.plural(len(plan.blocks), 'block')}, "
        f"{numbers.plural(plan.window_count, 'window')}: about {numbers.duration(plan.seconds)} and "
        f"{numbers.size(plan.written_bytes)} on disk."
    )
    parts += [f"warning: {plain(text)}" for text in plan.warnings]
    return "\n\n".join(parts) + "\n"


def _block_text(number: int, block: Sequence[Cell], varies: frozenset[str]) -> str:
    rows = [
        [plain(lane.name, limit=120), ", ".join(_window_text(cell, varies) for cell in cells)]
        for lane, cells in visits(block)
    ]
    widths: list[int | None] = [None, 90]
    return f"block {number}\n" + tabulate(
        rows, tablefmt="plain", disable_numparse=True, maxcolwidths=widths, colalign=(_LEFT, _LEFT)
    )


def _window_text(cell: Cell, varies: frozenset[str]) -> str:
    more = (f"{axis.name} {axis.read(cell)}" for axis in AXES if axis.listed is not None and axis.name in varies)
    return plain(" ".join([cell.mode, cell.load.name, *more]), limit=120)


def load_report_text(report: LoadReport) -> str:
    """Return what we make of one load report, ending in a newline."""
    rows = [
        ["tool", f"{report.tool} {plain(report.tool_version or '(version unknown)', limit=60)}"],
        ["verdict", report.verdict + (f": {plain(report.reason)}" if report.reason else "")],
        ["corrected for coordinated omission", report.corrected],
        ["wall clock", _known(report.wall_s, numbers.duration)],
        ["scheduled", _known(report.scheduled_count, numbers.count)],
        ["sent", _known(report.sent_count, numbers.count)],
        ["answered", _known(report.answered_count, numbers.count) + _split(report.answered_by_status)],
        ["failed", _known(report.failed_count, numbers.count) + _split(report.failed_by_class)],
        ["never resolved", _known(report.censored_count, numbers.count)],
        ["completed per second", _known(report.completed_rps, numbers.rps)],
        ["2xx share", _known(report.success_ratio, numbers.percent)],
        ["received", _known(report.received_bytes, numbers.size)],
        ["response time, ms", _percentiles(report.response_ms)],
        ["first byte, ms", _percentiles(report.first_byte_ms)],
    ]
    rows += [["error", f"{plain(text)} ({numbers.count(n)})"] for text, n in sorted(report.error_text.items())]
    rows += [["flag", plain(flag)] for flag in report.flags]
    rows += [["note", plain(note)] for note in report.notes]
    return tabulate(rows, tablefmt="plain", disable_numparse=True) + "\n"


def _known(value: _Number | None, write: Callable[[_Number], str]) -> str:
    return "unknown" if value is None else write(value)


def _split(counts: dict[str, int] | None) -> str:
    known = [f"{plain(key, limit=40)}: {numbers.count(n)}" for key, n in sorted((counts or {}).items()) if n]
    return f" ({', '.join(known)})" if known else ""


def _percentiles(found: PercentilesOrAbsent) -> str:
    if not isinstance(found, Percentiles):
        return f"{numbers.ABSENT} ({absence_text(found)})"
    known = (("p50", found.p50), ("p95", found.p95), ("p99", found.p99), ("max", found.max))
    parts = [f"{name} {numbers.ABSENT if value is None else numbers.ms(value)}" for name, value in known]
    return f"{', '.join(parts)}, n {'unknown' if found.n is None else numbers.count(found.n)}"


def _table(rows: list[list[str]], heads: list[str], sides: list[str]) -> str:
    return tabulate(rows, headers=heads, tablefmt="simple", disable_numparse=True, colalign=tuple(sides))
