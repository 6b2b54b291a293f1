"""The cost table: CPU per request (the second headline), memory, context switches, calls and flushes of each gateway.

Every figure stands beside its load, for a request costs more CPU at a low rate than at a high one. Columns that
nobody could fill are named in one sentence with their reason.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import CPU_SOURCES, absence_text
from weighbridge.publish.views.cells import Notes
from weighbridge.publish.views.columns import BUSY, Show, cells_of, number_column, shown, spread
from weighbridge.publish.views.conditions import heading
from weighbridge.publish.views.labels import Names, has_open_streams, is_baseline
from weighbridge.publish.views.rows import RowMaker, head_columns, sections
from weighbridge.publish.views.shared import flag_marks, loaded_warning, spread_text
from weighbridge.publish.views.views import Table, TableGroup
from weighbridge.record.figures import Absent, Figure
from weighbridge.record.metrics import METRICS, PER_REQUEST, Metric, MetricKey, ValueKey
from weighbridge.record.summary import CellSummary, Summary

_CPU_TEXT = (
    "CPU is that of the gateway's whole process tree for each request, less what it uses idle, which stands beside "
    "it with what that leaves open (±). Compare rows of one load only: a request costs more CPU at a low rate than "
    "at a high one, for cores sleep in between."
)
_CPU_SLOPE_TEXT = (
    "The slope is what one more request a second takes, by a line through the rates of each block: idle use is no "
    "part of it, and neither is what a core costs that goes to sleep between two requests."
)
_BUSY_TEXT = (
    "Busy is CPU per request × achieved rate ÷ its cores, idle use included; where one thread does the work, its "
    "core. From about 70 % on, requests wait for each other."
)
_DRAIN_TEXT = (
    "Throughput leaves the drain out: what a lane borrowed stands here as drain time and undelivered events at the "
    "end of the window."
)
_MEMORY_TEXT = (
    "RSS counts pages that processes share once for each of them, PSS shares them out. The peak is the sum of the "
    "processes' own peaks{since}."
)
_STREAM_TEXT = (
    "Memory per open stream is the slope of a line through the steps of open streams of each run: of PSS where the "
    "kernel tells it, else of RSS; beside it the interval over the blocks. Nothing is timed meanwhile."
)
_FLUSH_TEXT = "Flushes are those of the whole device under the state folder, whoever made them."


_COST_FLAGS = frozenset({"backlog_growing", "idle_cpu_large", "memory_order", "retried"})


def _name(metric: Metric) -> str:
    """Return the name of a figure in a sentence."""
    return metric.label if metric.group in ("", PER_REQUEST) else f"{metric.group} {metric.label}"


def _full(metric: Metric) -> str:
    """Return the heading of a figure where no group stands above it."""
    return _capital(metric.label if metric.group in ("", PER_REQUEST) else f"{metric.group}, {metric.label}")


def _undelivered(cell: CellSummary, _digits: numbers.Digits) -> str:
    left = cell.count("undelivered_at_end_count")
    return "" if left is None else f"{numbers.count(left)} undelivered"


def _idle_flushes(cell: CellSummary, digits: numbers.Digits) -> str:
    idle_rps = cell.known("flush_idle_rps")
    return "" if idle_rps is None else f"{digits.ms(idle_rps)}/s idle"


def _interval(cell: CellSummary, digits: numbers.Digits) -> str:
    figure = cell.value("memory_per_stream_bytes")
    return spread_text(figure, digits) if isinstance(figure, Figure) else ""


def _beside_cpu(cell: CellSummary, digits: numbers.Digits) -> str:
    """Return spread, uncertainty and idle use of the CPU per request, as far as they are known."""
    unsure_ms, idle_cores = cell.known("cpu_uncertainty_ms"), cell.known("cpu_idle_cores")
    parts = [spread(cell.value("cpu_ms_per_request"), digits.ms)]
    if unsure_ms is not None:
        parts.append(f"± {digits.ms(unsure_ms)}")
    if idle_cores is not None:
        parts.append(f"idle {digits.share(idle_cores)} of a core")
    return ", ".join(part for part in parts if part)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_KEYS: tuple[ValueKey, ...] = (
    "cpu_ms_per_request",
    "cpu_slope_ms",
    "busy_ratio",
    "context_switches_per_request",
    "admission_calls_per_request",
    "background_calls_per_request",
    "upstream_calls_per_request",
    "flushes_per_request",
    "rss_idle_bytes",
    "rss_peak_bytes",
    "rss_after_bytes",
    "pss_idle_bytes",
    "pss_after_bytes",
    "memory_per_stream_bytes",
    "drain_s",
)
_SMALL_PRINT: Mapping[MetricKey, Callable[[CellSummary, numbers.Digits], str]] = {
    "cpu_ms_per_request": _beside_cpu,
    "flushes_per_request": _idle_flushes,
    "memory_per_stream_bytes": _interval,
    "drain_s": _undelivered,
}
_COST_COLUMNS = tuple(
    Show(
        key,
        label=_full(METRICS[key]),
        css="lead" if key == "cpu_ms_per_request" else "",
        small=_SMALL_PRINT.get(key, lambda *_: ""),
        write=BUSY.write if key == BUSY.key else None,
    )
    for key in _KEYS
)


def cost_table(summary: Summary, names: Names, anchor: str) -> Table:
    """Tabulate CPU, memory, calls and flushes of each gateway at each load."""
    notes = Notes(names.digits)
    cells = [
        cell for cell in summary.cells if not is_baseline(cell) and (cell.runs_accepted or has_open_streams(cell))
    ]
    found = shown(_COST_COLUMNS, cells)
    heads = head_columns(names)
    maker = RowMaker(
        lambda cell: cells_of(cell, found, notes),
        lambda cell: flag_marks(cell, notes, _COST_FLAGS),
    )
    return Table(
        id=f"{anchor}-cost",
        title="CPU, memory and calls",
        caption=(*_texts(found, cells), *_missing_text(found, cells), heading(summary)),
        columns=(*heads, *(number_column(one.metric.label, one.label, one.css) for one in found)),
        groups=(TableGroup("", len(heads)), *_groups(found)),
        sections=sections(names, cells, maker, baselines=False) if found else (),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
        empty="Nothing beside the time was measured.",
    )


def _texts(there: Sequence[Show], cells: Sequence[CellSummary]) -> tuple[str, ...]:
    """Return what the columns that are there mean, and what counted them."""
    groups, keys = {one.metric.group for one in there}, {one.key for one in there}
    found = []
    if "cpu_ms_per_request" in keys:
        found.append(f"{_CPU_TEXT} {_source_text(cells)}".strip())
    beside: tuple[tuple[MetricKey, str], ...] = (("cpu_slope_ms", _CPU_SLOPE_TEXT), ("busy_ratio", _BUSY_TEXT))
    found += [text for key, text in beside if key in keys]
    if groups & {"RSS", "PSS"}:
        whole_life = any("lifetime" in cell.words("rss_peak_from") for cell in cells)
        found.append(_MEMORY_TEXT.format(since=", since their start" if whole_life else ", in the window"))
    if "Memory" in groups:
        found.append(_STREAM_TEXT)
    last: tuple[tuple[MetricKey, str], ...] = (("flushes_per_request", _FLUSH_TEXT), ("drain_s", _DRAIN_TEXT))
    tail = [text for key, text in last if key in keys]
    return (*found, *((" ".join(tail),) if tail else ()))


def _source_text(cells: Sequence[CellSummary]) -> str:
    sources = dict.fromkeys(source for cell in cells for source in cell.words("cpu_from"))
    reported = [CPU_SOURCES.get(source, plain(source)) for source in sources]
    return f"Counted {' or '.join(reported)}." if reported else ""


def _missing_text(there: Sequence[Show], cells: Sequence[CellSummary]) -> tuple[str, ...]:
    by_reason: dict[str, list[str]] = {}
    for one in _COST_COLUMNS:
        if one not in there:
            reasons = {absence_text(found) for cell in cells if isinstance(found := one.of(cell), Absent)}
            text = " or ".join(sorted(reasons)) or "no accepted run"
            by_reason.setdefault(text, []).append(_name(one.metric))
    parts = [f"{numbers.listed(names)} ({reason})" for reason, names in by_reason.items()]
    return (f"Absent everywhere: {'; '.join(parts)}.",) if parts else ()


def _groups(there: Sequence[Show]) -> tuple[TableGroup, ...]:
    spans = {one.metric.group: 0 for one in there}
    for one in there:
        spans[one.metric.group] += 1
    return tuple(TableGroup(_capital(group), span) for group, span in spans.items())
