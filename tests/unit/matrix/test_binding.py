"""Filling arguments and rendering configurations over the closed set of names."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.examples.matrix_samples import catalogue
from weighbridge.errors import InputError
from weighbridge.matrix.binding import Binding, fill, names, placeholders, render_configs

BINDING = Binding(
    port=8840,
    admin_port=8841,
    upstream_url="http://127.0.0.1:9000",
    control_plane_url="http://127.0.0.1:9001",
    state_dir=Path("/state"),
    config_dir=Path("/config"),
    log_dir=Path("/log"),
    client_key="client-key",
    provider_key="provider-key",
    machine_token="machine-token",  # noqa: S106
    model="mock-model",
    chain="starter",
    program=Path("/bin/gateway"),
    python=Path("/bin/python"),
    mocks_root=Path("/mocks"),
    settings={"workers": "2"},
)


def test_bare_names_are_filled() -> None:
    """Every known name is replaced, settings by their prefix, doubled braces become braces."""
    assert fill("{program} --port={port} {setting_workers} {{x}}", BINDING) == "/bin/gateway --port=8840 2 {x}"
    assert fill("nothing to fill", BINDING) == "nothing to fill"


@pytest.mark.parametrize(
    "text", ["{port!r}", "{port:>9}", "{port.real}", "{settings[workers]}", "{}", "{0}", "{port", "}"]
)
def test_only_bare_names_are_filled(text: str) -> None:
    """Attributes, indexes, formats, conversions, numbers and single braces are refused."""
    with pytest.raises(ValueError, match=r"bare name|single"):
        fill(text, BINDING)


@pytest.mark.parametrize("text", ["{settings}", "{home}", "{setting_log}"])
def test_names_outside_the_closed_set_are_refused(text: str) -> None:
    """A name that no binding has is an error, never left as it is."""
    with pytest.raises(ValueError, match="has no value here"):
        fill(text, BINDING)


def test_a_program_that_does_not_exist_has_no_value() -> None:
    """Where nothing is installed `{program}` is refused instead of becoming None."""
    with pytest.raises(ValueError, match=r"\{program\} has no value here"):
        fill("{program}", replace(BINDING, program=None))


def test_every_name_of_the_closed_set_can_be_filled() -> None:
    """What the recipe check allows has a value in a binding."""
    for name in names(["workers"]):
        assert fill(f"{{{name}}}", BINDING)
        assert placeholders(f"{{{name}}}") == (name,)


def test_configurations_are_rendered_without_html() -> None:
    """Signs are kept, lists and mappings keep their order, blocks leave no blank lines."""
    recipe = catalogue().get("alpha")
    assert recipe is not None

    rendered = render_configs(recipe, BINDING)

    assert list(rendered) == ["alpha.json"]
    text = rendered["alpha.json"].decode()
    assert json.loads(text) == {
        "upstream": "http://127.0.0.1:9000/v1",
        "policies": ["prompt-injection", "p < q & r"],
        "order": {"b": 1, "a": 2},
        "state": "/state",
    }
    assert '"p < q & r"' in text
    assert text.index('"b"') < text.index('"a"')
    assert "\n\n" not in text


def test_policies_are_those_of_the_chain() -> None:
    """Another chain gives another configuration from the same template."""
    recipe = catalogue().get("alpha")
    assert recipe is not None

    assert b"policies" not in render_configs(recipe, replace(BINDING, chain="none"))["alpha.json"]


def test_a_recipe_without_configuration_renders_nothing() -> None:
    """No template, no file."""
    recipe = catalogue().get("beta")
    assert recipe is not None

    assert render_configs(recipe, replace(BINDING, chain="none")) == {}


def test_a_name_without_value_stops_the_rendering() -> None:
    """An undefined name raises with template and line instead of becoming empty text."""
    recipe = catalogue().get("alpha")
    assert recipe is not None
    broken = recipe.model_copy(update={"chains": {"none": {"policies": [1]}}})

    with pytest.raises(InputError, match=r"alpha\.json\.j2:5: cannot be rendered for chain none: .*'order'"):
        render_configs(broken, replace(BINDING, chain="none"))
