"""From kept figures to cells of a table: a number, a grey number with its rank, or a dash with its reason."""

from __future__ import annotations

from collections.abc import Callable

from weighbridge.judge.stats.binomial import median_ranks
from weighbridge.publish.text import numbers
from weighbridge.publish.text.sanitise import plain
from weighbridge.publish.text.wording import absence_text
from weighbridge.publish.views.views import Footnote, TableCell
from weighbridge.record.codes import ABSENCES
from weighbridge.record.figures import PERCENTILES, Absent, Figure, Interval, Percentile, Timing, TimingOrAbsent

# A spread of the runs below this share of the value is not worth a line of its own.
_SPREAD = 0.01
# What every interval covers, and all that it covers.
ONE_BOOT = "it covers blocks on one machine without a reboot"
_BETWEEN = "late turns of the probe's own loop leave it open by so much"
_NO_MEAN = Absent(absent="no_mean", detail="a mean takes the times of single requests, which were not kept")
# Behind a number in a terminal that is not reliable.
GREY = "?"


class Notes:
    """Remarks of one table, and how its figures are written; the same text gets the same mark.

    Lives as long as its table is built.
    """

    def __init__(self, digits: numbers.Digits) -> None:
        self.digits = digits
        self._marks: dict[str, str] = {}

    def mark(self, text: str) -> str:
        """Return the mark of a remark."""
        return self._marks.setdefault(text, numbers.letters(len(self._marks)))

    def footnotes(self) -> tuple[Footnote, ...]:
        """Return all remarks in the order of their marks."""
        return tuple(Footnote(mark, text) for text, mark in self._marks.items())


def absent_cell(absent: Absent, notes: Notes, *, label: str = "", span: int = 1) -> TableCell:
    """Return a dash with its reason as footnote and on hover."""
    sentence = absence_text(absent)
    return TableCell(
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
) -> tuple[TableCell, ...]:
    """Return the cells of the percentiles of a time in milliseconds, or one dash over all of them."""
    if isinstance(timing, Absent):
        return (absent_cell(timing, notes, label=label, span=len(percentiles)),)
    return tuple(_percentile(timing, name, notes, f"{label} {name}") for name in percentiles)


def _percentile(timing: Timing, name: Percentile, notes: Notes, label: str) -> TableCell:
    value = timing.percentile(name)
    if value is None:
        return absent_cell(timing.absent.get(name) or _no_sample(timing), notes, label=label)
    text = (
        f"between {_between_text(timing, name, ' and ', notes)}" if name in timing.between else notes.digits.ms(value)
    )
    if timing.is_reliable(name):
        small = " · ".join(
            filter(None, (interval_text(timing, name, notes.digits), _less_late_turns(timing, name, notes)))
        )
        found = None if timing.interval is None else timing.interval.of(name)
        title = "" if found is None else kind_text(found, timing.run_count)
        return TableCell(text, label=label, small=with_runs(small, timing), title=title, css="n")
    rank = plain(timing.few_samples.get(name, ""), limit=40)
    title = f"{rank}: fewer than 10 samples lie beyond {name}" if rank else _BETWEEN
    return TableCell(text, label=label, small=with_runs(rank, timing), title=title, css="n grey")


def _between_text(timing: Timing, name: Percentile, word: str, notes: Notes) -> str:
    """Return the bounds of a percentile with a word between them."""
    return word.join(notes.digits.ms(bound) for bound in timing.bounds_ms[name])


def _less_late_turns(timing: Timing, name: Percentile, notes: Notes) -> str:
    """Return the lower bound of a figure that late turns moved by less than the limit, where it reads differently."""
    value, bounds = timing.percentile(name), timing.bounds_ms.get(name)
    if value is None or bounds is None or name in timing.between:
        return ""
    least = notes.digits.ms(bounds[0])
    return "" if least == notes.digits.ms(value) else f"{least} less late turns"


def _no_sample(timing: Timing) -> Absent:
    text = f"{ABSENCES['no_sample_beyond']} (n = {numbers.count(timing.n)})"
    return Absent(absent="no_sample_beyond", detail=text)


def terminal_absent(absent: Absent, notes: Notes) -> str:
    """Return a dash as a terminal shows it, with the mark of its reason: `– a`."""
    return f"{numbers.ABSENT} {notes.mark(absence_text(absent))}"


def terminal_number(timing: TimingOrAbsent, name: Percentile, notes: Notes) -> str:
    """Return a percentile as a terminal shows it: a number or its two bounds, marked where few samples lie beyond."""
    if isinstance(timing, Absent):
        return terminal_absent(timing, notes)
    value = timing.percentile(name)
    if value is None:
        return terminal_absent(timing.absent.get(name) or _no_sample(timing), notes)
    is_open = name in timing.between
    text = _between_text(timing, name, "\N{EN DASH}", notes) if is_open else notes.digits.ms(value)
    return text + (GREY if name in timing.few_samples else "")


def terminal_mean(timing: TimingOrAbsent, notes: Notes) -> str:
    """Return a mean as a terminal shows it."""
    if isinstance(timing, Absent):
        return terminal_absent(timing, notes)
    return terminal_absent(_NO_MEAN, notes) if timing.mean is None else notes.digits.ms(timing.mean)


def reliable(timing: TimingOrAbsent, name: Percentile) -> float | None:
    """Return a percentile's value that may stand in sentences and charts: a figure to compare."""
    return timing.percentile(name) if isinstance(timing, Timing) and timing.is_reliable(name) else None


def interval_text(timing: Timing, name: Percentile, digits: numbers.Digits) -> str:
    """Return the interval as `11.9 to 12.8`, empty where there is none."""
    return "" if timing.interval is None else span_text(timing.interval.of(name), digits.ms)


def span_text(found: Interval | None, write: Callable[[float], str]) -> str:
    """Return an interval as `11.9 to 12.8`, or `from 11.9, no upper end`; empty where there is none."""
    if found is None:
        return ""
    if found.low is not None and found.high is not None:
        return f"{write(found.low)} to {write(found.high)}"
    if found.low is not None:
        return f"from {write(found.low)}, no upper end"
    return "no lower and no upper end" if found.high is None else f"up to {write(found.high)}, no lower end"


def kind_text(found: Interval, run_count: int) -> str:
    """Tell what an interval is: `lowest to highest of 3 runs`; all cover blocks on one machine without a reboot."""
    runs = numbers.plural(run_count, "run")
    ranks = median_ranks(run_count) or (1, run_count)
    told = {
        "ranks": f"95 % interval, ranks {ranks[0]} to {ranks[1]} of {runs}",
        "range": f"lowest to highest of {runs}",
        "batches": "95 % interval of this run, by ranks, widened by the scatter of 20 consecutive batches",
        "t": f"95 % interval by Student's t over {runs}",
    }
    return f"{told[found.kind]}; {ONE_BOOT}"


def with_runs(text: str, figure: Timing | Figure) -> str:
    """Return a second line with `2 of 3 runs` behind it where not all accepted runs have the figure."""
    total = figure.run_count + figure.missing_run_count
    runs = f"{figure.run_count} of {numbers.plural(total, 'run')}" if figure.missing_run_count else ""
    return " · ".join(part for part in (text, runs) if part)


def has_spread(figure: Figure) -> bool:
    """Tell whether the runs differ by so much that their interval is worth a line."""
    return figure.low is not None and figure.high is not None and figure.high - figure.low > _SPREAD * figure.value
