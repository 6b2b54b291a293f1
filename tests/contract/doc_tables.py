"""The parts of the documentation that are made from the code: fields of documents, flags of tasks, rules by name.

Used by `test_docs_fresh`, which compares each part with what stands between its markers.
"""

from __future__ import annotations

import functools
import json
import re
import subprocess
import sys
import types
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, fields, is_dataclass
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from weighbridge.judge.flags import FLAGS
from weighbridge.load.drivers import DRIVERS
from weighbridge.matrix.drivers import DriverName
from weighbridge.matrix.model import Matrix
from weighbridge.matrix.recipe import Recipe
from weighbridge.publish import words
from weighbridge.record.campaign import CampaignRecord, Finished
from weighbridge.record.certificate import Certificate
from weighbridge.record.load_report import LoadReport
from weighbridge.record.run import REASONS, RunRecord
from weighbridge.record.summary import Summary

ROOTS: Mapping[str, type[BaseModel]] = {
    "campaign.json": CampaignRecord,
    "run.json": RunRecord,
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
# Models and dataclasses of a page with the heading of their section.
Titles = Mapping[type, str]
_DRIVER_CHECK = get_args(DriverName)[1:]
_PLAIN = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "anything"}


def documents() -> str:
    """Every kept document with its fields, each part of a document once."""
    shown: dict[type, str] = {}
    for title, model in ROOTS.items():
        shown.setdefault(model, title)
        for part in _parts(model):
            shown.setdefault(part, part.__name__)
    ordered = [*ROOTS.values(), *(model for model in shown if model not in ROOTS.values())]
    return "\n\n".join(_section(model, shown) for model in ordered)


def input_keys(root: type[BaseModel]) -> str:
    """Every key of an input file with its form, part by part."""
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
    """Every task by name, asked in a process of its own: Invoke takes the help away when it is read first."""
    ran = subprocess.run([sys.executable, "-c", _ASK], capture_output=True, check=True, text=True)
    return {
        name: Task(first, tuple(positional), tuple(Flag(tuple(names), kind, said) for names, kind, said in flags))
        for name, (first, positional, flags) in json.loads(ran.stdout).items()
    }


def tasks() -> str:
    """Every task with its flags, as Invoke sees them."""
    sections = []
    for name, task in command_line().items():
        rows = [(f"`{flag.names[0]}`", _VALUES[flag.kind], _cell(flag.help)) for flag in task.flags]
        positional = "".join(f" {word.upper()}" for word in task.positional)
        head = f"### `invoke {name}{positional}`\n\n{task.first_line}"
        sections.append(f"{head}\n\n{_table(('flag', 'value', 'meaning'), rows)}" if rows else head)
    return "\n\n".join(sections)


def flags() -> str:
    """Every flag of a run or a cell."""
    return _table(("flag", "meaning"), [(f"`{name}`", _cell(text)) for name, text in FLAGS.items()])


def reasons() -> str:
    """Every reason for which an attempt is rejected."""
    rows = [(f"`{code}`", whose, _cell(words.spoken(code, words.REASONS))) for code, whose in REASONS.items()]
    return _table(("reason", "whose doing", "meaning"), rows)


PARTS: Mapping[tuple[str, str], Callable[[], str]] = {
    ("docs/results-format.md", "documents"): documents,
    ("docs/matrix.md", "matrix"): lambda: input_keys(Matrix),
    ("docs/adding-a-gateway.md", "recipe"): lambda: input_keys(Recipe),
    ("docs/commands.md", "tasks"): tasks,
    ("docs/method.md", "flags"): flags,
    ("docs/method.md", "reasons"): reasons,
}


def markers(part: str) -> tuple[str, str]:
    """The comments that a generated part stands between."""
    return f"<!-- begin generated: {part} -->", f"<!-- end generated: {part} -->"


def with_part(text: str, part: str, made: str) -> str:
    """The page with its part replaced; ValueError when it does not have both markers once."""
    begin, end = markers(part)
    if text.count(begin) != 1 or text.count(end) != 1:
        raise ValueError(f"the markers of {part} do not stand there once")
    before, _, rest = text.partition(begin)
    _, _, after = rest.partition(end)
    return f"{before}{begin}\n\n{made}\n\n{end}{after}"


def _fields(model: type) -> Mapping[str, FieldInfo]:
    """Fields of a model, or of a dataclass that is a part of one."""
    if issubclass(model, BaseModel):
        return model.model_fields
    hints = get_type_hints(model, include_extras=True)
    return {
        one.name: FieldInfo.from_annotation(hints[one.name])
        if one.default is MISSING
        else FieldInfo.from_annotated_attribute(hints[one.name], one.default)
        for one in fields(model)
    }


def _section(model: type, known: Titles, *, is_input: bool = False) -> str:
    rows = []
    for name, field in _fields(model).items():
        key = field.alias or name
        form = _input_form(name, field, known) if is_input else _type_text(field.annotation, known)
        form += "" if field.is_required() or not is_input else _default_text(name, field)
        rows.append((f"`{key}`", _cell(form), _cell(field.description or "")))
    first = (model.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ")
    sentences = re.sub(r"(?<=[.!?]) (?=[A-Z`])", "\n", " ".join(first.split()))
    return f"### {known[model]}\n\n{sentences}\n\n{_table(('key', 'form', 'meaning'), rows)}"


def _parts(model: type[BaseModel]) -> Iterator[type]:
    """Models inside a model, depth first, in the order of its fields."""
    seen: dict[type, None] = {}

    def visit(annotation: Any) -> None:
        if isinstance(annotation, type) and (issubclass(annotation, BaseModel) or is_dataclass(annotation)):
            if annotation not in seen:
                seen[annotation] = None
                for field in _fields(annotation).values():
                    visit(field.annotation)
            return
        for inner in get_args(annotation):
            visit(inner)

    for field in model.model_fields.values():
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
    """The names of all drivers, which a matrix is checked against."""
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


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _table(heads: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [f"| {' | '.join(heads)} |", f"|{'|'.join(' --- ' for _ in heads)}|"]
    return "\n".join([*lines, *(f"| {' | '.join(row)} |" for row in rows)])
