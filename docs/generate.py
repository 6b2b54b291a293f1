#!/usr/bin/env python3
"""Rewrite the parts of the documentation that are made from the code: fields of documents, flags of tasks, rules.

`python docs/generate.py` writes them between their markers; with `--check` it names stale ones and exits with 1.
"""

from __future__ import annotations

import argparse
import functools
import json
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.drivers import DriverName
from weighbridge.matrix.model import Matrix
from weighbridge.matrix.recipe import Recipe
from weighbridge.record.campaign import CampaignRecord, Finished
from weighbridge.record.certificate import Certificate
from weighbridge.record.codes import ABSENCES, FLAGS, REASONS, VERDICTS, WARNINGS
from weighbridge.record.load_report import LoadReport
from weighbridge.record.measured import Figures, FigureValue
from weighbridge.record.metrics import METRICS, Metric
from weighbridge.record.run import RunRecord
from weighbridge.record.summary import Summary
from weighbridge.record.visit import VisitRecord

CHECKOUT = Path(__file__).resolve().parents[1]
ROOTS: Mapping[str, type[Any]] = {
    "campaign.json": CampaignRecord,
    "run.json": RunRecord,
    "visits/….json": VisitRecord,
    "summary.json": Summary,
    "finished.json": Finished,
    "certificate.json": Certificate,
    "load report": LoadReport,
}
_VALUES = {"bool": "none", "list": "text, repeatable", "str": "text"}
_ASK = """
import json
from weighbridge.tasks import namespace
print(json.dumps({
    name: [
        task.__doc__.strip().splitlines()[0],
        list(task.positional),
        [
            [["--" + word.replace("_", "-") for word in one.names], one.kind.__name__, one.help or ""]
            for one in task.get_arguments()
        ],
    ]
    for name, task in sorted(namespace.tasks.items())
}))
"""
_KINDS = {
    "time": "[Timing](#timing) or [Absent](#absent)",
    "value": "[Figure](#figure) or [Absent](#absent)",
    "count": "whole number or null",
    "number": "number or null",
    "word": "text or null",
    "words": "list of text",
    "stamps": "[StampCounts](#stampcounts) or [Absent](#absent)",
    "usage": "[UsageCounts](#usagecounts) or [Absent](#absent)",
    "bunching": "[Bunching](#bunching) or [Absent](#absent)",
    "fidelity": "[Fidelity](#fidelity) or [Absent](#absent)",
}
_MERGES = {
    "median": "median",
    "sum": "sum",
    "max": "largest",
    "worst": "farthest from zero",
    "union": "all of them",
    "added": "counts added",
    "own": "by a rule of its own",
}
_LOADS = {"timed": "loads that are timed", "every": "every load", "open_streams": "open streams"}
# Models of a page with the heading of their section.
Titles = Mapping[type[Any], str]
_DRIVER_CHECK = get_args(DriverName)[1:]
_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "anything"}


def documents() -> str:
    """Return every kept document with its fields, each part of a document once."""
    shown: dict[type[Any], str] = {}
    for title, model in ROOTS.items():
        shown.setdefault(model, title)
        for part in _parts(model):
            shown.setdefault(part, part.__name__)
    ordered = [*ROOTS.values(), *(model for model in shown if model not in ROOTS.values())]
    return "\n\n".join(_section(model, shown) for model in ordered)


def input_keys(root: type[Any]) -> str:
    """Return every key of an input file with its form, part by part."""
    shown = {root: "The file", **{part: part.__name__.removesuffix("Schema") for part in _parts(root)}}
    return "\n\n".join(_section(model, shown, is_input=True) for model in shown)


@dataclass(frozen=True)
class Flag:
    """A flag of a task: every name that it has, whether it takes text, a list or nothing, and its help."""

    names: tuple[str, ...]
    kind: str
    help: str


@dataclass(frozen=True)
class Task:
    """A task as `invoke --help` shows it."""

    first_line: str
    positional: tuple[str, ...]
    flags: tuple[Flag, ...]


@functools.cache
def command_line() -> Mapping[str, Task]:
    """Return every task by name, asked in a process of its own: Invoke takes the help away when it is read first."""
    ran = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, check=True, text=True)
    return {
        name: Task(
            first, tuple(positional), tuple(Flag(tuple(names), kind, message) for names, kind, message in flags)
        )
        for name, (first, positional, flags) in json.loads(ran.stdout).items()
    }


def tasks() -> str:
    """Return every task with its flags, as Invoke sees them."""
    sections = []
    for name, task in command_line().items():
        rows = [(f"`{flag.names[0]}`", _VALUES[flag.kind], _cell(flag.help)) for flag in task.flags]
        positional = "".join(f" {word.upper()}" for word in task.positional)
        head = f"### `invoke {name}{positional}`\n\n{task.first_line}"
        sections.append(f"{head}\n\n{_table(('flag', 'value', 'meaning'), rows)}" if rows else head)
    return "\n\n".join(sections)


def flags() -> str:
    """Return every flag of a run or a cell."""
    return _table(("flag", "meaning"), [(f"`{name}`", _cell(text)) for name, text in FLAGS.items()])


def reasons() -> str:
    """Every reason for which an attempt is rejected or a cell has no run."""
    rows = [
        (f"`{code}`", entry.class_, f"`{entry.verdict}`", _cell(entry.meaning)) for code, entry in REASONS.items()
    ]
    return _table(("reason", "whose doing", "verdict", "meaning"), rows)


def figures() -> str:
    """Every figure of a run or a cell, as records hold it."""
    rows = [
        (
            f"`{one.key}`",
            " and ".join(one.of),
            _KINDS[one.kind],
            one.unit,
            _MERGES[one.merge] if "cell" in one.of else "",
            _exists(one),
            ", ".join(one.needs).replace("_", " "),
            _cell(one.meaning),
        )
        for one in METRICS.values()
    ]
    return _table(("key", "of", "form", "unit", "over the runs", "exists for", "needs", "meaning"), rows)


def figure_words() -> str:
    """Every figure by the words that pages have for it."""
    found: dict[str, list[str]] = {}
    for one in METRICS.values():
        full = f"{one.group} {one.label}" if one.group not in ("", "per request") else one.label
        words = [full, one.label, one.short.lstrip("+")]
        found.setdefault(one.meaning, []).extend(word for word in words if word)
    rows = []
    for meaning, words in found.items():
        different = {word.lower(): word for word in reversed(words)}
        rows.append((", ".join(reversed(different.values())), _cell(meaning)))
    return _table(("word", "meaning"), rows)


def verdicts() -> str:
    """Every verdict of a cell."""
    rows = [
        (code, "yes" if entry.publishable else "no", _cell(_sentence(entry.meaning)))
        for code, entry in VERDICTS.items()
    ]
    return _table(("verdict", "to publish", "meaning"), rows)


def absences() -> str:
    """Every code of a figure that does not exist."""
    return _table(("code", "meaning"), [(f"`{code}`", _cell(_sentence(text))) for code, text in ABSENCES.items()])


def warnings() -> str:
    """Every warning of a campaign."""
    return _table(("code", "meaning"), [(f"`{code}`", _cell(entry.text)) for code, entry in WARNINGS.items()])


PARTS: Mapping[tuple[str, str], Callable[[], str]] = {
    ("docs/results-format.md", "documents"): documents,
    ("docs/results-format.md", "figures"): figures,
    ("docs/results-format.md", "absences"): absences,
    ("docs/results-format.md", "warnings"): warnings,
    ("docs/glossary.md", "figures"): figure_words,
    ("docs/glossary.md", "verdicts"): verdicts,
    ("docs/matrix.md", "matrix"): lambda: input_keys(Matrix),
    ("docs/adding-a-gateway.md", "recipe"): lambda: input_keys(Recipe),
    ("docs/commands.md", "tasks"): tasks,
    ("docs/method.md", "flags"): flags,
    ("docs/method.md", "reasons"): reasons,
}


def markers(part: str) -> tuple[str, str]:
    """Return the comments that a generated part stands between."""
    return f"<!-- begin generated: {part} -->", f"<!-- end generated: {part} -->"


def with_part(text: str, part: str, made: str) -> str:
    """Return the page with its part replaced; raise ValueError when it does not have both markers once."""
    begin, end = markers(part)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the markers of {part} do not stand there once")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{made}\n\n{end}{after}"


def fresh(text: str, page: str) -> tuple[str, list[str]]:
    """Return a page with all of its parts as the code makes them, and the names of those that were stale."""
    stale = []
    for (of, part), make in PARTS.items():
        if of == page:
            made = with_part(text, part, make())
            if made != text:
                stale.append(f"{page}: {part}")
            text = made
    return text, stale


def main(arguments: Sequence[str] | None = None, *, root: Path = CHECKOUT) -> int:
    """Rewrite stale parts of the pages below `root`, or only name them; return the exit code."""
    parser = argparse.ArgumentParser(
        description="Rewrite the parts of the documentation that are made from the code."
    )
    parser.add_argument("--check", action="store_true", help="write nothing; name stale parts and exit with 1")
    only_check = parser.parse_args(arguments).check
    found = []
    for page in dict.fromkeys(page for page, _ in PARTS):
        text, stale = fresh((root / page).read_text(encoding="utf-8"), page)
        found += stale
        if stale and not only_check:
            (root / page).write_text(text, encoding="utf-8")
    for one in found:
        sys.stdout.write(f"{one} {'is stale; run: python docs/generate.py' if only_check else 'was rewritten'}\n")
    return 1 if found and only_check else 0


def _section(model: type[Any], known: Titles, *, is_input: bool = False) -> str:
    rows = []
    for name, field in _fields(model).items():
        key = field.serialization_alias or field.alias or name
        form = _input_form(name, field, known) if is_input else _type_text(field.annotation, known)
        form += "" if field.is_required() or not is_input else _default_text(name, field)
        rows.append((f"`{key}`", _cell(form), _cell(field.description or "")))
    if issubclass(model, Figures):
        level = f"figures of a {model.level}"
        rows.append((f"*{level}*", "as under [Figures](#figures)", "Each a key of its own beside the others."))
    first = (model.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    sentences = re.sub(r"(?<=[.!?]) (?=[A-Z`])", "\n", " ".join(first.split()))
    return f"### {known[model]}\n\n{sentences}\n\n{_table(('key', 'form', 'meaning'), rows)}"


def _fields(model: type[Any]) -> Mapping[str, FieldInfo]:
    """Return the fields of a document; those of the matrix's plain classes are read as a document reads them."""
    if issubclass(model, BaseModel):
        return model.model_fields
    return {
        name: FieldInfo.from_annotation(annotation)
        for name, annotation in get_type_hints(model, include_extras=True).items()
        if get_origin(annotation) is not ClassVar
    }


def _parts(model: type[Any]) -> Iterator[type[Any]]:
    """Yield models inside a model, depth first, in the order of its fields."""
    seen: dict[type[Any], None] = {}

    def visit(annotation: Any) -> None:
        if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or is_dataclass(annotation)):
            if annotation not in seen:
                seen[annotation] = None
                for field in _fields(annotation).values():
                    visit(field.annotation)
                if issubclass(annotation, Figures):
                    visit(FigureValue)
            return
        for inner in get_args(annotation):
            visit(inner)

    for field in _fields(model).values():
        visit(field.annotation)
    yield from seen


def _type_text(annotation: Any, known: Titles) -> str:
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is None:
        return _simple_text(annotation, known)
    if origin is Annotated:
        return _drivers_text() if inner[1:] == _DRIVER_CHECK else _type_text(inner[0], known)
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in inner)
    parts = [_type_text(one, known) for one in inner if one is not Ellipsis]
    if origin in (Union, types.UnionType):
        return " or ".join(dict.fromkeys(parts))
    if origin is dict:
        return f"mapping of text to {parts[1]}"
    return f"list of {parts[0]}" if Ellipsis in inner else f"[{', '.join(parts)}]"


def _simple_text(annotation: Any, known: Titles) -> str:
    if annotation is type(None):
        return "null"
    if annotation in known:
        return f"[{known[annotation]}](#{re.sub('[^a-z -]', '', known[annotation].lower()).replace(' ', '-')})"
    return _PLAIN[annotation]


def _drivers_text() -> str:
    """Return the names of all drivers, which a matrix is checked against."""
    return " or ".join(f"`{name}`" for name in DRIVERS)


def _input_form(name: str, field: FieldInfo, known: Titles) -> str:
    text = _drivers_text() if tuple(field.metadata) == _DRIVER_CHECK else _type_text(field.annotation, known)
    for ending, word in (("_s", "duration"), ("_bytes", "size")):
        if name.endswith(ending) and field.alias is not None:
            text = text.replace("whole number", word).replace("number", word)
    return text


def _default_text(name: str, field: FieldInfo) -> str:
    default = field.get_default(call_default_factory=True)
    if default is None or default in ((), {}) or isinstance(default, BaseModel):
        return ", may be left out"
    if name.endswith("_s") and isinstance(default, float):
        default = f"{default:g}s" if default >= 1 else f"{default * 1000:g}ms"
    return f", else `{default}`"


def _exists(one: Metric) -> str:
    mode = f"{one.modes[0]}, " if len(one.modes) == 1 else ""
    return f"{mode}{_LOADS[one.loads]}"


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}."


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(' --- ' for _ in heads)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])


if __name__ == "__main__":
    sys.exit(main())
