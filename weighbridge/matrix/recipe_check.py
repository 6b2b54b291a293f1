"""Checks of a recipe that need more than one value: the other files, the closed set of names, the kind.

Pure: the files came with the recipe.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NoReturn

import jinja2
from jinja2 import meta

from weighbridge.errors import InputError, Place
from weighbridge.matrix import binding as binding_names
from weighbridge.matrix.artifacts import ARTIFACTS
from weighbridge.matrix.cells import BASELINE
from weighbridge.matrix.recipe import ConfigFile, Recipe
from weighbridge.matrix.suggest import listed, nearest
from weighbridge.matrix.yamltext import KeyPath, YamlText


def check_recipe(recipe: Recipe, source: YamlText) -> None:
    """Nothing when the recipe holds together; InputError with the place of the first fault otherwise."""
    _check_kind(recipe, source)
    _check_names(recipe, source)
    _check_artifact(recipe, source)
    for number, config in enumerate(recipe.config):
        _check_config(recipe, config, source, ("config", number))
    _check_settings(recipe, source)
    for chain in recipe.chains:
        binding_names.render_configs(recipe, _dummy(recipe, chain))


def _check_kind(recipe: Recipe, source: YamlText) -> None:
    refuse = _refuser(source)
    if (recipe.kind == "baseline") != (recipe.id == BASELINE):
        refuse(("kind",), f"is {recipe.kind} in the folder {recipe.id}", f"expected baseline for {BASELINE} alone")
    if recipe.kind == "baseline":
        for key, present in (("start", recipe.start), ("ready", recipe.ready), ("drain", recipe.drain)):
            if present is not None:
                refuse((key,), "is given for the lane without a gateway", "expected no such key")
        if set(recipe.chains) != {"none"}:
            refuse(("chains",), "is more than none for the lane without a gateway", "expected {none: {}}")
        if recipe.artifact.kind != "none":
            refuse(("artifact", "kind"), "is something to obtain for the lane without a gateway", "expected none")
        return
    if recipe.artifact.kind == "none":
        refuse(
            ("artifact", "kind"),
            "is none for a gateway",
            f"expected {listed(kind for kind in ARTIFACTS if kind != 'none')}",
        )
    if recipe.start is None or recipe.ready is None:
        refuse(("ready" if recipe.start else "start",), "is missing", "expected how it starts and when it is ready")
    if recipe.kind == "mock" and not recipe.label:
        refuse(("label",), "is missing for a mock", "expected words such as: mock, not a product")


def _check_names(recipe: Recipe, source: YamlText) -> None:
    known = binding_names.names(recipe.settings, with_program=recipe.artifact.has_program)
    for path, text in _texts(recipe):
        place = source.place(path)
        try:
            used = binding_names.placeholders(text)
        except ValueError as error:
            expected = "expected bare names such as {port}; a brace itself is written {{ or }}"
            raise InputError(str(error), place=place, expected=expected) from None
        for name in used:
            if name not in known:
                near = nearest(name, known)
                raise InputError(
                    f"{{{name}}} is no known name",
                    place=place,
                    expected=f"expected one of {', '.join(known)}",
                    suggestion=f"{{{near}}}" if near else "",
                )


def _texts(recipe: Recipe) -> Iterator[tuple[KeyPath, str]]:
    """Every text that may hold names, with its key path."""
    if recipe.start is not None:
        yield from ((("start", "argv", n), text) for n, text in enumerate(recipe.start.argv))
        yield from ((("start", "env", key), text) for key, text in recipe.start.env.items())
    yield from ((("artifact", *path), text) for path, text in recipe.artifact.texts())
    yield from ((("serves", "headers", key), text) for key, text in recipe.serves.headers.items())


def _check_artifact(recipe: Recipe, source: YamlText) -> None:
    if recipe.writes and not recipe.artifact.has_program:
        _refuser(source)(
            ("writes",), f"is given for an artifact of kind {recipe.artifact.kind}", "expected no such key"
        )

    def refuse(path: KeyPath, problem: str, expected: str) -> NoReturn:
        _refuser(source)(("artifact", *path), problem, expected)

    recipe.artifact.check(recipe.files, refuse)


def _check_config(recipe: Recipe, config: ConfigFile, source: YamlText, path: KeyPath) -> None:
    refuse = _refuser(source)
    if config.template not in recipe.files:
        near = nearest(config.template, recipe.files)
        expected = "expected a template in the folder of the recipe"
        refuse((*path, "template"), f"{config.template} does not exist", expected, near)
    if [other.target for other in recipe.config].count(config.target) > 1:
        refuse((*path, "target"), f"{config.target} is written twice", "expected another file name")
    text = recipe.files[config.template].decode("utf-8", "replace")
    known = (*binding_names.names(recipe.settings, with_program=recipe.artifact.has_program), "policies")
    file = recipe.folder / config.template
    try:
        unknown = meta.find_undeclared_variables(binding_names.environment(recipe).parse(text)) - set(known)
    except jinja2.TemplateSyntaxError as error:
        raise InputError(f"is no template: {error.message}", place=Place(file, error.lineno)) from None
    for name in sorted(unknown):
        place = Place(file, _line_of(name, text))
        expected = f"expected one of {', '.join(known)}"
        raise InputError(f"{name} is no known name", place=place, expected=expected, suggestion=nearest(name, known))


def _check_settings(recipe: Recipe, source: YamlText) -> None:
    for name, setting in recipe.settings.items():
        if setting.default not in setting.values:
            problem = f"{setting.default!r} is not among its values"
            _refuser(source)(("settings", name, "default"), problem, f"expected one of {', '.join(setting.values)}")


def _dummy(recipe: Recipe, chain: str) -> binding_names.Binding:
    """Return a binding that looks like a real one, to try templates with."""
    folder = Path("/nowhere")
    return binding_names.Binding(
        port=1,
        admin_port=2,
        upstream_url="http://127.0.0.1:3",
        control_plane_url="http://127.0.0.1:4",
        state_dir=folder / "state",
        config_dir=folder / "config",
        log_dir=folder / "log",
        client_key="client",
        provider_key="provider",
        machine_token="machine",  # noqa: S106
        model="model",
        chain=chain,
        program=folder / "program" if recipe.artifact.has_program else None,
        python=folder / "python",
        mocks_root=folder,
        settings=recipe.settings_with({}),
    )


def _refuser(source: YamlText) -> Callable[..., NoReturn]:
    def refuse(path: KeyPath, problem: str, expected: str, suggestion: str = "") -> NoReturn:
        raise InputError(problem, place=source.place(path), expected=expected, suggestion=suggestion)

    return refuse


def _line_of(name: str, text: str) -> int | None:
    for number, line in enumerate(text.splitlines(), start=1):
        if re.search(rf"\b{re.escape(name)}\b", line):
            return number
    return None
