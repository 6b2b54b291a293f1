"""Tables of streams: times to first byte, first content and end, and how chunks came against how they were sent.

The thresholds of the buffering verdict come from the rules that make it, so that page and rule cannot differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from weighbridge.judge.figures import buffering
from weighbridge.judge.figures.chunk_gaps import STALL_FACTOR, STALL_GAP_NS
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import FIDELITIES, absence_text
from weighbridge.publish.views.cells import Notes, absent_cell
from weighbridge.publish.views.columns import P50_P95, RESPONSE_COLUMNS, Show, cells_of, columns_of, groups_of, shown
from weighbridge.publish.views.conditions import heading
from weighbridge.publish.views.labels import Names
from weighbridge.publish.views.rows import RowMaker, head_columns, sections
from weighbridge.publish.views.shared import flag_marks, has_figures, loaded_warning, message
from weighbridge.publish.views.views import Table, TableCell, TableGroup
from weighbridge.record.figures import Absent
from weighbridge.record.probe_counts import Fidelity
from weighbridge.record.summary import CellSummary, Summary

_TIMES_TEXT = (
    "TTFB is the time to the first byte of the body, TTFT to the first content; both count from the actual start of "
    "a request, the response time from the intended one. A first byte is not yet content: a gateway may send headers "
    "or an empty event early. A gateway that checks the whole response before it lets any of it out buffers the "
    "stream: its first content then nears the end of the stream."
)
_CHUNKS_TEXT = (
    "Gap: time between the reads of two content events. Forwarding delay: read time minus the send time in the "
    "chunk. Gap distortion: |gap as read − gap as sent|, pair by pair. Bunched pairs and pairs in one read are "
    "shares of those that the provider sent 1 ms apart or more."
)
_STALL_MS, _TOGETHER_MS, _APART_MS = (
    ns / 1e6 for ns in (STALL_GAP_NS, buffering.TOGETHER_NS, buffering.APART_NS)
)  # fmt: skip
_MARGIN = 100 * buffering.BUNCHED_MARGIN
VERDICT_TEXT = (
    "Buffering, judged against the direct lane of the same blocks, in this order: held until complete – "
    f"{buffering.BUFFERED_STREAM_SHARE:.0%} of the streams or more began when the provider had sent its last chunk; "
    f"held, then re-paced – so too, but most of them then took more than {buffering.REPACED_SPAN_SHARE:.0%} of its "
    "span, at a pace of the gateway's own; passed through – the share of bunched "
    f"pairs (read within {_TOGETHER_MS:g} ms though sent {_APART_MS:g} ms apart or more) is at most {_MARGIN:g} "
    "percentage points above the baseline's; windowed – most bunched events came in reads of their own, or the "
    f"median bunch delayed its first event for more than {STALL_FACTOR} of the provider's gaps; coalesced – the "
    f"rest: several events in one read. Below {buffering.PAIRS_NEEDED} pairs there is no verdict. A stall is a gap "
    f"above {STALL_FACTOR} times the provider's own (which counts as {_STALL_MS:g} ms at least)."
).replace("%", " %")

_STREAM_TIMES = (Show("ttfb_ms"), Show("ttft_ms"), RESPONSE_COLUMNS)
_CHUNKS = (
    Show("gap_ms", percentiles=P50_P95),
    Show("forwarding_ms", percentiles=P50_P95),
    Show("gap_distortion_ms", percentiles=P50_P95),
)
_STREAM_FLAGS = frozenset({"responses_changed", "events_merged", "stalls", "mock_late", "probe_late", "no_inband"})


def stream_tables(summary: Summary, names: Names, anchor: str) -> tuple[Table, ...]:
    """Return both tables, or one line where no driver reads chunks; nothing without streams."""
    cells = [cell for cell in summary.cells if cell.mode == "stream" and cell.load.measures_times]
    if not cells:
        return ()
    if not any(cell.has("gap_ms") or cell.has("ttft_ms") for cell in cells):
        return (_nothing(cells, anchor),)
    return (_times_table(summary, names, cells, anchor), _chunks_table(summary, names, cells, anchor))


def _nothing(cells: Sequence[CellSummary], anchor: str) -> Table:
    gaps = [cell.timing("gap_ms") for cell in cells]
    reasons = sorted({absence_text(gap) for gap in gaps if isinstance(gap, Absent)})
    return Table(
        id=f"{anchor}-chunks",
        title="Streams as they arrive",
        caption=(),
        columns=(),
        sections=(),
        empty="First content, gaps, forwarding delay, buffering and fidelity are absent everywhere: "
        f"{' or '.join(reasons)}. The built-in probe measures them (--driver probe).",
    )


def _times_table(summary: Summary, names: Names, cells: Sequence[CellSummary], anchor: str) -> Table:
    notes = Notes(names.digits)
    groups = shown(_STREAM_TIMES, cells)

    def make(cell: CellSummary) -> tuple[TableCell, ...]:
        if not has_figures(cell):
            return (_message_cell(cell, 3 * len(groups)),)
        return cells_of(cell, groups, notes)

    heads = head_columns(names)
    return Table(
        id=f"{anchor}-stream-times",
        title="Streams: to the first byte, the first content and the end",
        caption=(_TIMES_TEXT, heading(summary)),
        columns=(*heads, *columns_of(groups)),
        groups=(TableGroup("", len(heads)), *groups_of(groups)),
        sections=sections(names, cells, RowMaker(make)),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
    )


def _chunks_table(summary: Summary, names: Names, cells: Sequence[CellSummary], anchor: str) -> Table:
    notes = Notes(names.digits)

    def make(cell: CellSummary) -> tuple[TableCell, ...]:
        if not has_figures(cell) and not isinstance(cell.fidelity, Fidelity):
            return (_message_cell(cell, 2 * len(_CHUNKS) + len(_WORD_COLUMNS)),)
        return cells_of(cell, (*_CHUNKS, *_WORD_COLUMNS), notes)

    heads = head_columns(names)
    return Table(
        id=f"{anchor}-chunks",
        title="Streams as they arrive",
        caption=(_CHUNKS_TEXT, VERDICT_TEXT, heading(summary)),
        columns=(*heads, *columns_of((*_CHUNKS, *_WORD_COLUMNS))),
        groups=(
            TableGroup("", len(heads)),
            *groups_of(_CHUNKS),
            TableGroup("Chunks", 3),
            TableGroup("Answers", 2),
        ),
        sections=sections(names, cells, RowMaker(make, lambda cell: flag_marks(cell, notes, _STREAM_FLAGS))),
        footnotes=notes.footnotes(),
        warning=loaded_warning(summary),
    )


def _message_cell(cell: CellSummary, span: int) -> TableCell:
    return TableCell(message(cell), label="Outcome", css="message", span=span, fill=(numbers.ABSENT,) * (span - 1))


def _buffering(cell: CellSummary, notes: Notes) -> TableCell:
    if cell.buffering:
        bunched = ""
        if not isinstance(cell.bunching, Absent):
            bunched = f"{numbers.share(buffering.bunched_ratio(cell.bunching))} bunched"
        return TableCell(plain(cell.buffering, limit=40), small=bunched)
    absent = cell.bunching if isinstance(cell.bunching, Absent) else Absent(absent="too_few_pairs")
    return replace(absent_cell(absent, notes), css="absent")


def _fidelity(cell: CellSummary, notes: Notes) -> TableCell:
    found = cell.fidelity
    if isinstance(found, Absent):
        return replace(absent_cell(found, notes), css="absent")
    counts = (
        (found.missing_chunk_count, "chunk", "missing"),
        (found.repeated_chunk_count, "chunk", "repeated"),
        (found.reordered_chunk_count, "chunk", "out of order"),
        (found.damaged_chunk_count, "chunk", "damaged"),
        (found.answer_count - found.json_whole_count, "answer", "not readable"),
    )
    wrong = [f"{numbers.plural(count, what)} {how}" for count, what, how in counts if count > 0]
    same = f"{numbers.count(found.events_equal_count)} of {numbers.count(found.answer_count)} event for event"
    return TableCell(FIDELITIES[found.level], small=", ".join(wrong) or same)


_WORD_COLUMNS = (
    Show("coalesced_ratio"),
    Show("stall_count"),
    Show("buffering", make=_buffering),
    Show("fidelity", make=_fidelity),
    Show("end_marker_ratio"),
)
