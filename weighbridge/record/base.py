"""What every kept document has in common: frozen, strict, unknown keys refused, every field described."""

from __future__ import annotations

import json
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from weighbridge.errors import SchemaTooNew, StoreError
from weighbridge.record.migrations import newest

Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
Milliseconds = Annotated[float, Field(allow_inf_nan=False)]
Count = Annotated[int, Field(ge=0)]
MethodVersion = Annotated[int, Field(ge=1)] | Annotated[str, Field(pattern=r"^[1-9][0-9]*-unfinished$")]


class Document(BaseModel):
    """A frozen, strict pydantic model; JSON in and out, keys in the order of the class."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", ser_json_inf_nan="null")

    def to_json(self) -> str:
        """Return indented JSON text that ends with a newline; the same document gives the same bytes."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False) + "\n"

    def changed(self, **changes: object) -> Self:
        """Return the document with these fields changed, validated as a whole."""
        return type(self).model_validate({**dict(self), **changes})


class Versioned(Document):
    """A document that says which schema it follows: `weighbridge.<kind>/<n>`."""

    schema_: str = Field(alias="schema", description="Kind and version of this document.")

    model_config = ConfigDict(
        frozen=True, strict=True, extra="forbid", ser_json_inf_nan="null", populate_by_name=True
    )

    def to_json(self) -> str:
        """Return indented JSON text with the public name `schema`."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str | bytes, *, origin: str) -> Self:
        """Return the document in JSON text, an older one in today's form; `origin` names the file in messages.

        Raises SchemaTooNew for a later version of the same kind and StoreError for anything else that does
        not fit.
        """
        try:
            raw: Any = json.loads(text)
        except ValueError as error:
            raise StoreError(f"{origin}: not a complete JSON document ({error})") from error
        expected = cls.schema_name()
        found = raw.get("schema") if isinstance(raw, dict) else None
        if not isinstance(found, str):
            raise StoreError(f"{origin}: no Weighbridge document; expected {expected}")
        text = _in_newest_form(text, raw, expected, origin)
        try:
            return cls.model_validate_json(text)
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(str(part) for part in first["loc"])
            raise StoreError(f"{origin}: {key}: {first['msg']}; expected a document {expected}") from error

    @classmethod
    def schema_name(cls) -> str:
        """Return the schema that this class writes, such as `weighbridge.run/2`."""
        return str(cls.model_fields["schema_"].default)


def _in_newest_form(text: str | bytes, raw: Any, expected: str, origin: str) -> str | bytes:
    found = raw["schema"]
    kind, _, number = found.partition("/")
    wanted_kind, _, wanted_number = expected.partition("/")
    if kind != wanted_kind or not number.isdigit():
        raise StoreError(f"{origin}: is a {found!r} document; expected {expected}")
    if int(number) > int(wanted_number):
        raise SchemaTooNew(
            f"{origin}: was written as {found}, this Weighbridge reads up to {expected}; "
            "update Weighbridge (pip install -U weighbridge) and try again"
        )
    if int(number) == int(wanted_number):
        return text
    try:
        return json.dumps(newest(raw, kind, int(number), int(wanted_number)))
    except (KeyError, TypeError, AttributeError) as error:
        raise StoreError(f"{origin}: is no {found} document that can be read ({error!r})") from error
