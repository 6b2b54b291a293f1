"""From kept figures to cells of a table: a number, a grey number with its rank, or a dash with its reason."""

from __future__ import annotations

from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import absence_text
from weighbridge.publish.views.views import Cell, Footnote
from weighbridge.record.codes import ABSENCES
from weighbridge.record.figures import PERCENTILES, Absent, Figure, Percentile, Timing, TimingOrAbsent

# A spread of the runs below this share of the value is not worth a line of its own.
_SPREAD = 0.01
# Behind a number in a terminal that is not reliable.
GREY = "?"


class Notes:
    """Remarks of one table; the same text gets the same mark. Lives as long as its table is built."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def mark(self, text: str) -> str:
        """Return the mark of a remark."""
        return self._marks.setdefault(text, numbers.letters(len(self._marks)))

    def footnotes(self) -> tuple[Footnote, ...]:
        """Return all remarks in the order of their marks."""
        return tuple(Footnote(mark, text) for text, mark in self._marks.items())


def absent_cell(absent: Absent, notes: Notes, *, label: str = "", span: int = 1) -> Cell:
    """Return a dash with its reason as footnote and on hover."""
    sentence = absence_text(absent)
    return Cell(
        numbers.ABSENT,
        label=label,
        title=sentence,
        mark=notes.mark(sentence),
        css="n absent",
        span=span,
        fill=(numbers.ABSENT,) * (span - 1),
    )


def timing_cells(
    timing: TimingOrAbsent, notes: Notes, label: str, percentiles: tuple[Percentile, ...] = PERCENTILES
) -> tuple[Cell, ...]:
    """Return the cells of the percentiles of a time in milliseconds, or one dash over all of them."""
    if isinstance(timing, Absent):
        return (absent_cell(timing, notes, label=label, span=len(percentiles)),)
    return tuple(_percentile(timing, name, notes, f"{label} {name}") for name in percentiles)


def _percentile(timing: Timing, name: Percentile, notes: Notes, label: str) -> Cell:
    value = timing.percentile(name)
    if value is None:
        return absent_cell(timing.absent.get(name) or _no_sample(timing), notes, label=label)
    text = numbers.ms(value)
    if name in timing.few_samples:
        rank = plain(timing.few_samples[name], limit=40)
        title = f"{rank}: fewer than 10 samples lie beyond {name}"
        return Cell(text, label=label, small=with_runs(rank, timing), title=title, css="n grey")
    return Cell(text, label=label, small=with_runs(interval_text(timing, name), timing), css="n")


def _no_sample(timing: Timing) -> Absent:
    text = f"{ABSENCES['no_sample_beyond']} (n = {numbers.count(timing.n)})"
    return Absent(absent="no_sample_beyond", detail=text)


def grey_text(timing: Timing, name: Percentile) -> str:
    """Return the mark of a percentile with few samples beyond it in a terminal; empty for a reliable one."""
    return GREY if name in timing.few_samples else ""


def reliable(timing: TimingOrAbsent, name: Percentile) -> float | None:
    """Return a percentile's value that may stand in sentences and charts: present, with enough samples beyond it."""
    if isinstance(timing, Absent) or name in timing.few_samples:
        return None
    return timing.percentile(name)


def interval_text(timing: Timing, name: Percentile) -> str:
    """Return the interval as `11.9 to 12.8`, empty where there is none."""
    if timing.interval is None:
        return ""
    bounds = {"p50": timing.interval.p50, "p95": timing.interval.p95, "p99": timing.interval.p99}[name]
    return f"{numbers.ms(bounds[0])} to {numbers.ms(bounds[1])}" if bounds else ""


def with_runs(text: str, figure: Timing | Figure) -> str:
    """Return a second line with `2 of 3 runs` behind it where not all accepted runs have the figure."""
    total = figure.run_count + figure.missing_run_count
    runs = f"{figure.run_count} of {numbers.plural(total, 'run')}" if figure.missing_run_count else ""
    return " · ".join(part for part in (text, runs) if part)


def has_spread(figure: Figure) -> bool:
    """Tell whether the runs differ by so much that their range is worth a line."""
    return figure.low is not None and figure.high is not None and figure.high - figure.low > _SPREAD * figure.value
