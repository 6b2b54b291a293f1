"""The catalogue: every gateway recipe found in the recipe folders, by id.

It reads files and starts nothing. A folder holds one folder a gateway, or is one itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from weighbridge.errors import InputError, Place
from weighbridge.matrix.explain import validated
from weighbridge.matrix.recipe import RECIPE_FILE, Recipe, RecipeOrigin
from weighbridge.matrix.recipe_check import check_recipe
from weighbridge.matrix.strict import NAME_PATTERN
from weighbridge.matrix.yamltext import read_yaml

FOLDER_LIMIT_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True)
class Catalogue:
    """Recipes by id."""

    recipes: Mapping[str, Recipe]

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of all recipes, sorted."""
        return tuple(sorted(self.recipes))

    def get(self, gateway: str) -> Recipe | None:
        """Recipe of `gateway`, None when there is none."""
        return self.recipes.get(gateway)


def read_catalogue(folders: Sequence[Path]) -> Catalogue:
    """Catalogue of all recipes in `folders`; InputError for a bad recipe or for an id that two folders have."""
    recipes: dict[str, Recipe] = {}
    for folder in folders:
        if not folder.is_dir():
            raise InputError(
                "is not a directory", place=Place(folder), expected="expected a folder of gateway recipes"
            )
        for found in _recipe_folders(folder):
            recipe = read_recipe(found)
            other = recipes.get(recipe.id)
            if other is not None and other.folder.resolve() != found.resolve():
                raise InputError(
                    f"the gateway {recipe.id} has a recipe in {other.folder} already",
                    place=Place(found / RECIPE_FILE),
                    expected="expected a folder with another name",
                )
            recipes[recipe.id] = recipe
    return Catalogue(recipes)


def read_recipe(folder: Path) -> Recipe:
    """Read the recipe in `folder` and check it; InputError with file, line and key otherwise."""
    file = folder / RECIPE_FILE
    name = folder.resolve().name
    if not re.fullmatch(NAME_PATTERN, name, re.ASCII):
        expected = "expected a folder name of 1 to 40 of a-z, 0-9, - and _"
        raise InputError(f"{name!r} cannot be the id of a gateway", place=Place(folder), expected=expected)
    files = _files(folder)
    if RECIPE_FILE not in files:
        raise InputError(f"has no {RECIPE_FILE}", place=Place(folder), expected="expected the folder of a gateway")
    source = read_yaml(file, files[RECIPE_FILE])
    if not isinstance(source.data, dict):
        raise InputError(
            "is no mapping", place=source.place(()), expected="expected keys such as schema, name and start"
        )
    recipe = validated(Recipe, source.data, source, context=RecipeOrigin(id=name, folder=folder, files=files))
    check_recipe(recipe, source)
    return recipe


def _recipe_folders(folder: Path) -> list[Path]:
    if (folder / RECIPE_FILE).is_file():
        return [folder]
    return sorted(child for child in folder.iterdir() if (child / RECIPE_FILE).is_file())


def _files(folder: Path) -> dict[str, bytes]:
    """Every file below `folder` by relative path, without hidden ones and byte code."""
    files: dict[str, bytes] = {}
    total = 0
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder)
        if any(part.startswith(".") or part == "__pycache__" for part in relative.parts) or not path.is_file():
            continue
        total += path.stat().st_size
        if total > FOLDER_LIMIT_BYTES:
            raise InputError(
                "holds more than 16 MiB", place=Place(folder), expected="expected a few small text files"
            )
        try:
            files[relative.as_posix()] = path.read_bytes()
        except OSError as error:
            raise InputError(f"cannot be read ({error.strerror})", place=Place(path)) from None
    return files
