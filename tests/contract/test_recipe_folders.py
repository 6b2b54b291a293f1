"""Every recipe folder that ships: explained, whole, and its templates give configuration for every chain."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from weighbridge import resources
from weighbridge.matrix.binding import Binding, fill, placeholders, render_configs
from weighbridge.matrix.catalogue import read_recipe
from weighbridge.matrix.recipe import Recipe

FOLDERS = sorted(path.parent for path in resources.gateways().glob("*/gateway.yaml"))
PARSERS: dict[str, Any] = {".yaml": yaml.safe_load, ".yml": yaml.safe_load, ".json": json.loads}


def bindings(recipe: Recipe, folder: Path) -> list[Binding]:
    """A lane for every chain with every combination of settings."""
    keys = ("client: key", "provider # key", 'machine " token')
    values = [[(name, value) for value in setting.values] for name, setting in recipe.settings.items()]
    return [
        Binding(
            port=1, admin_port=2, upstream_url="http://127.0.0.1:3", control_plane_url="http://127.0.0.1:4",
            state_dir=folder / "state", config_dir=folder / "config", log_dir=folder / "log",
            client_key=keys[0], provider_key=keys[1], machine_token=keys[2],
            model="model", chain=chain, program=folder / "program", python=folder / "python",
            mocks_root=folder, settings=dict(chosen),
        )
        for chain in recipe.chains
        for chosen in itertools.product(*values)
    ]  # fmt: skip


def test_there_are_recipes() -> None:
    """The floor, the reference and a product at least."""
    assert {"direct", "reference", "litellm"} <= {folder.name for folder in FOLDERS}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_recipe_is_explained(folder: Path) -> None:
    """NOTES.md says more than a line, and every folder beside it is a recipe."""
    notes = (folder / "NOTES.md").read_text(encoding="utf-8")

    assert notes.startswith("# ")
    assert len(notes.split()) > 30


def test_every_folder_is_a_recipe() -> None:
    """No folder of gateways lies there without a gateway.yaml."""
    assert {path for path in resources.gateways().iterdir() if path.is_dir()} == set(FOLDERS)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_a_recipe_renders_whatever_is_set(folder: Path, tmp_path: Path) -> None:
    """Every chain with every setting gives configuration (sound JSON or YAML) and filled arguments."""
    recipe = read_recipe(folder)
    for binding in bindings(recipe, tmp_path):
        for target, data in render_configs(recipe, binding).items():
            assert PARSERS.get(Path(target).suffix, str.strip)(data.decode())
        if recipe.start is not None:
            texts = [*recipe.start.argv, *recipe.start.env.values()]
            assert not any(placeholders(fill(text, binding)) for text in texts)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_file_of_a_recipe_is_used(folder: Path) -> None:
    """A template is rendered by the recipe: none lies there forgotten."""
    recipe = read_recipe(folder)
    used = {config.template for config in recipe.config}

    assert {name for name in recipe.files if name.endswith(".j2")} == used
