"""Every recipe folder that ships: explained, whole, and its templates give configuration for every chain."""

from __future__ import annotations

import itertools
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from tests.contract.texts import assert_none
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
    """The baseline, the reference and a product at least."""
    assert {"direct", "reference", "litellm"} <= {folder.name for folder in FOLDERS}


def unexplained(folder: Path) -> Iterator[str]:
    """Yield a recipe whose notes are missing, or say no more than a line."""
    notes = folder / "NOTES.md"
    text = notes.read_text(encoding="utf-8") if notes.is_file() else ""
    if not text.startswith("# ") or len(text.split()) <= 30:
        yield f"{folder.name}: NOTES.md does not explain it"


def unused(folder: Path) -> Iterator[str]:
    """Yield templates that the recipe does not render, and those that it names in vain."""
    recipe = read_recipe(folder)
    used = {config.template for config in recipe.config}
    for name in sorted(used ^ {name for name in recipe.files if name.endswith(".j2")}):
        yield f"{folder.name}: {name} is {'missing' if name in used else 'used by nothing'}"


def test_every_folder_is_a_recipe() -> None:
    """No folder of gateways lies there without a gateway.yaml."""
    assert {path for path in resources.gateways().iterdir() if path.is_dir()} == set(FOLDERS)


def test_recipes_are_explained() -> None:
    """NOTES.md says more than a line of every recipe."""
    assert_none(found for folder in FOLDERS for found in unexplained(folder))


def test_every_file_of_a_recipe_is_used() -> None:
    """A template is rendered by its recipe: none lies there forgotten."""
    assert_none(found for folder in FOLDERS for found in unused(folder))


def test_a_forgotten_template_and_missing_notes_are_found(tmp_path: Path) -> None:
    """A template that no recipe names, and a folder without notes, are noticed."""
    folder = tmp_path / "reference"
    shutil.copytree(resources.gateways() / "reference", folder)
    (folder / "old.json.j2").write_text("{}")
    (folder / "NOTES.md").write_text("# Reference\n")

    assert list(unused(folder)) == ["reference: old.json.j2 is used by nothing"]
    assert list(unexplained(folder)) == ["reference: NOTES.md does not explain it"]


def test_recipes_render_whatever_is_set(tmp_path: Path) -> None:
    """Every chain with every setting gives configuration (sound JSON or YAML) and filled arguments."""
    for folder in FOLDERS:
        recipe = read_recipe(folder)
        for binding in bindings(recipe, tmp_path):
            for target, data in render_configs(recipe, binding).items():
                assert PARSERS.get(Path(target).suffix, str.strip)(data.decode()), (folder.name, target)
            if recipe.start is not None:
                texts = [*recipe.start.argv, *recipe.start.env.values()]
                assert not any(placeholders(fill(text, binding)) for text in texts), folder.name
