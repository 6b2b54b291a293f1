"""One sentence with a place for the first thing that pydantic refused in a YAML document.

Pure: it turns a validation error and the positions into an InputError and decides nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from weighbridge.errors import InputError, Place
from weighbridge.matrix.strict import shown
from weighbridge.matrix.suggest import listed, nearest
from weighbridge.matrix.yamltext import KeyPath, YamlText

Model = TypeVar("Model", bound=BaseModel)

# Prefix of the labels by which models mark the forms of a union; a label is no key of the file.
FORM = "form:"

_EXPECTED = {
    "string_type": "expected text",
    "bool_type": "expected true or false",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "tuple_type": "expected a list",
    "list_type": "expected a list",
    "dict_type": "expected a mapping of keys and values",
    "model_type": "expected a mapping of keys and values",
    "model_attributes_type": "expected a mapping of keys and values",
    "too_short": "expected at least one entry",
    "string_too_short": "expected some text",
}


def validated(
    model: type[Model],
    data: Mapping[str, Any],
    source: YamlText,
    *,
    origin: Mapping[KeyPath, KeyPath] | None = None,
    context: object = None,
) -> Model:
    """Return the document as `model`; InputError for the first fault in the order of the file.

    `origin` says which key paths of `data` were written elsewhere in the file (what `quick:` replaces).
    """
    _refuse_later_schema(model, data, source)
    try:
        return model.model_validate_json(json.dumps(data), context=context)
    except ValidationError as error:
        faults = [_sentence(model, fault, data, source, origin or {}) for fault in error.errors()]
        raise min(faults, key=_rank) from None


def written_path(path: KeyPath, origin: Mapping[KeyPath, KeyPath]) -> KeyPath:
    """Where `path` was written: below the longest of its parents that came from elsewhere."""
    for length in range(len(path), 0, -1):
        if path[:length] in origin:
            return origin[path[:length]] + path[length:]
    return path


def _refuse_later_schema(model: type[BaseModel], data: Mapping[str, Any], source: YamlText) -> None:
    """Refuse a file of a later Weighbridge: its other keys may be right, only not here."""
    (known,) = model.model_fields["schema_"].annotation.__args__  # type: ignore[union-attr]
    kind, _, number = str(known).partition("/")
    found_kind, _, found_number = str(data.get("schema")).partition("/")
    if found_kind == kind and found_number.isascii() and found_number.isdigit() and int(found_number) > int(number):
        problem = f"{data['schema']} is of a later Weighbridge"
        expected = f"expected {known}, or an update (pip install -U weighbridge)"
        raise InputError(problem, place=source.place(("schema",)), expected=expected)


def _rank(fault: InputError) -> tuple[bool, int, int]:
    """Rank what is missing or empty last: a misspelt key or a bad entry explains it better."""
    place = fault.place
    line, column = (place.line or 0, place.column or 0) if place else (0, 0)
    return fault.problem in {"is missing", "is empty"}, line, column


def _sentence(
    model: type[BaseModel],
    fault: ErrorDetails,
    data: Mapping[str, Any],
    source: YamlText,
    origin: Mapping[KeyPath, KeyPath],
) -> InputError:
    path = written_path(_real_path(fault["loc"], data), origin)
    kind = fault["type"]
    if kind == "union_tag_invalid":
        return _unknown_form(fault, (*path, "kind"), source)
    if kind == "union_tag_not_found":
        return InputError("has no kind", place=source.place(path), expected="expected a mapping with its kind")
    if kind == "extra_forbidden":
        known = _keys_at(model, fault["loc"][:-1])
        return InputError(
            "is no known key",
            place=source.place(path, at_key=True),
            expected=f"expected {listed(known)}" if known else "",
            suggestion=nearest(str(path[-1]), known),
        )
    if kind == "missing":
        return InputError("is missing", place=source.place(path), expected=_described(model, fault["loc"]))
    if fault["loc"][-1] == "[key]":
        return _wrong_value(fault, source.place(path, at_key=True), path, source)
    return _wrong_value(fault, source.place(path), path, source)


def _wrong_value(fault: ErrorDetails, place: Place, path: KeyPath, source: YamlText) -> InputError:
    context: Mapping[str, Any] = fault.get("ctx", {})
    kind = fault["type"]
    value = fault["input"]
    if kind == "refused":
        expected, suggestion = context["expected"], context["suggestion"]
        return InputError(context["problem"], place=place, expected=expected, suggestion=suggestion)
    if kind == "literal_error":
        allowed = [word.strip("'") for word in str(context["expected"]).replace(" or ", ", ").split(", ")]
        return _unknown_word(str(value), allowed, place)
    if kind == "string_type" and isinstance(value, (int, float)):
        spot = source.spots.get(path)
        written = spot.written if spot and spot.written else shown(value)
        expected = f'expected text: write it in quotes ("{written}")'
        return InputError(f"{written} is no text", place=place, expected=expected)
    if kind in {"too_short", "string_too_short"}:
        return InputError("is empty", place=place, expected=_EXPECTED[kind])
    expected = _EXPECTED.get(kind, f"expected otherwise: {fault['msg']}")
    return InputError(f"is {shown(value)}", place=place, expected=expected)


def _unknown_form(fault: ErrorDetails, path: KeyPath, source: YamlText) -> InputError:
    context = fault.get("ctx", {})
    found = str(context.get("tag", "")).removeprefix(FORM)
    allowed = [tag.strip("' ").removeprefix(FORM) for tag in str(context.get("expected_tags", "")).split(",")]
    return _unknown_word(found, allowed, source.place(path))


def _unknown_word(found: str, allowed: list[str], place: Place) -> InputError:
    near = nearest(found, allowed)
    problem = f"{shown(found)} is not known"
    return InputError(problem, place=place, expected=f"expected {listed(allowed)}", suggestion=near)


def _real_path(loc: tuple[int | str, ...], data: Any) -> KeyPath:
    """Key path of the file: labels of unions, and what a check put in place of a short form, are left out."""
    path: list[int | str] = []
    node = data
    for position, part in enumerate(loc):
        if isinstance(part, str) and (part.startswith(FORM) or part == "[key]"):
            continue
        inside = isinstance(node, dict) and part in node
        if inside or (isinstance(node, list) and isinstance(part, int) and part < len(node)):
            node = node[part]
            path.append(part)
        elif position == len(loc) - 1 and isinstance(node, dict):
            path.append(part)
    return tuple(path)


def _keys_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> list[str]:
    """Keys that the model at `loc` knows, as the file writes them; empty when it cannot be told."""
    found = _model_at(model, loc)
    return [field.alias or name for name, field in found.model_fields.items()] if found else []


def _described(model: type[BaseModel], loc: tuple[int | str, ...]) -> str:
    found = _model_at(model, loc[:-1])
    for name, field in found.model_fields.items() if found else ():
        if (field.alias or name) == loc[-1] and field.description:
            return f"expected: {field.description[0].lower()}{field.description[1:].rstrip('.')}"
    return ""


def _model_at(model: type[BaseModel], loc: tuple[int | str, ...]) -> type[BaseModel] | None:
    """Return the model that validates what stands at `loc`."""
    current: list[type[BaseModel]] = [model]
    for part in loc:
        if isinstance(part, int):
            continue
        if part.startswith(FORM):
            current = [m for m in current if part in _forms(m)]
            continue
        fields = [f for m in current for n, f in m.model_fields.items() if (f.alias or n) == part]
        if fields:
            current = [m for field in fields for m in _models_in(field.annotation)]
    return current[0] if len(current) == 1 else None


def _forms(model: type[BaseModel]) -> set[str]:
    kind = model.model_fields.get("kind")
    return {FORM + str(word) for word in getattr(kind.annotation, "__args__", ())} if kind else set()


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    """Models anywhere inside an annotation such as `dict[str, Disk]` or `RateLoad | None`."""
    if isinstance(annotation, type) and not hasattr(annotation, "__args__"):
        return [annotation] if issubclass(annotation, BaseModel) else []
    return [found for part in getattr(annotation, "__args__", ()) for found in _models_in(part)]
