"""The closed set of names that a recipe may use, and how its texts are filled with them.

Arguments, environment and headers hold bare `{names}`; configuration files are Jinja templates over the same names.
Pure: templates come with the recipe.
"""

from __future__ import annotations

import json
import string
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import jinja2

from weighbridge.errors import InputError, Place
from weighbridge.matrix.recipe import Recipe

SETTING_PREFIX = "setting_"
# A template is a small program: besides Jinja's own errors it can divide by zero or include itself.
_TEMPLATE_FAULTS = (
    jinja2.TemplateError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class Binding:
    """Values of the closed set of names for one lane.

    `upstream_url` and `control_plane_url` have no path. `program` is the installed gateway, `python` the
    interpreter that runs it, `mocks_root` the folder that holds `mocks/`. `settings` holds the value of every
    declared setting and appears as `setting_NAME`.
    """

    port: int
    admin_port: int
    upstream_url: str
    control_plane_url: str
    state_dir: Path
    config_dir: Path
    log_dir: Path
    client_key: str
    provider_key: str
    machine_token: str
    model: str
    chain: str
    program: Path | None
    python: Path
    mocks_root: Path
    settings: Mapping[str, str] = field(default_factory=dict)

    def values(self) -> dict[str, str | int]:
        """Every name with its value; a program that does not exist has no name."""
        known: dict[str, str | int] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if item.name != "settings" and value is not None:
                known[item.name] = value if isinstance(value, int) else str(value)
        return known | {SETTING_PREFIX + name: value for name, value in self.settings.items()}


def names(settings: Iterable[str] = (), *, with_program: bool = True) -> tuple[str, ...]:
    """Return the closed set of names for a recipe that declares `settings`."""
    own = [item.name for item in fields(Binding) if item.name != "settings"]
    if not with_program:
        own.remove("program")
    return (*own, *(SETTING_PREFIX + name for name in settings))


def placeholders(text: str) -> tuple[str, ...]:
    """Names in braces in a text; ValueError for anything but bare names (`{{` and `}}` are plain braces)."""
    found = []
    try:
        for _, name, spec, conversion in string.Formatter().parse(text):
            if name is None:
                continue
            if spec or conversion or not name.isidentifier():
                raise ValueError(f"{{{name}}} is more than a bare name")
            found.append(name)
    except ValueError as error:
        if "bare name" in str(error):
            raise
        raise ValueError("holds a single { or }") from None
    return tuple(found)


def fill(text: str, binding: Binding) -> str:
    """Return the text with every `{name}` replaced; ValueError for anything but a known bare name."""
    values = binding.values()
    for name in placeholders(text):
        if name not in values:
            raise ValueError(f"{{{name}}} has no value here")
    return text.format_map(values)


def environment(recipe: Recipe) -> jinja2.Environment:
    """Jinja environment over the files of the recipe: undefined names raise, nothing is escaped."""
    sources = {name: data.decode("utf-8", "replace") for name, data in recipe.files.items()}
    # Escaping belongs to HTML; these are configuration files, read by the gateway alone.
    made = jinja2.Environment(
        loader=jinja2.DictLoader(sources),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701
        keep_trailing_newline=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # Jinja's own filter writes < > & ' as escapes and sorts keys; policies keep their order and their signs.
    made.filters["tojson"] = _json
    return made


def render_configs(recipe: Recipe, binding: Binding) -> dict[str, bytes]:
    """Bytes of every configuration file by its target name; InputError names template and line.

    Templates see the closed set of names and `policies`, the mapping of the binding's chain in the recipe.
    """
    made = environment(recipe)
    values: dict[str, Any] = {**binding.values(), "policies": recipe.chains[binding.chain]}
    rendered = {}
    for config in recipe.config:
        try:
            rendered[config.target] = made.get_template(config.template).render(values).encode()
        except _TEMPLATE_FAULTS as error:
            problem = f"{error} is not in the folder" if isinstance(error, jinja2.TemplateNotFound) else str(error)
            place = Place(recipe.folder / config.template, template_line(error, config.template))
            raise InputError(f"cannot be rendered for chain {binding.chain}: {problem}", place=place) from None
    return rendered


def template_line(error: BaseException, template: str) -> int | None:
    """Line of the template in which rendering stopped, None when it cannot be told."""
    if isinstance(error, jinja2.TemplateSyntaxError):
        return error.lineno
    line = None
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename in {template, "<template>"}:
            line = trace.tb_lineno
        trace = trace.tb_next
    return line


def _json(value: Any, indent: int | None = None) -> str:
    # Text of an undefined value raises with its name, which the encoder's own error would hide.
    return json.dumps(value, indent=indent, ensure_ascii=False, default=str)
