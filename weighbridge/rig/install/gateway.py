"""Obtain a gateway: nothing to get, a mock of ours, a Python environment, a program on PATH.

A gateway that cannot be had raises ToolMissing with
a sentence that holds no path and no address: the walk records it and marks the cells `unavailable`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from weighbridge.errors import ToolMissing
from weighbridge.matrix.recipe import Recipe
from weighbridge.record.host import ToolFacts
from weighbridge.rig.install.atomic_install import Installed, Workshop
from weighbridge.rig.install.bundled import bundled_facts, mocks_identity
from weighbridge.rig.install.path_gateway import find_path_gateway
from weighbridge.rig.install.python_env import find_python, install_python


@dataclass(frozen=True)
class Installer:
    """How the gateways of one kind of artifact are found as they are there, and installed where they can be.

    `find` is given the recipe, our home and the caller's environment; None: not installed. Both may raise
    ToolMissing.
    """

    find: Callable[[Recipe, Path, Mapping[str, str]], Installed | None]
    install: Callable[[Recipe, Path, Workshop], Installed] | None = None


def obtain_gateway(recipe: Recipe, home: Path, workshop: Workshop) -> Installed:
    """Return the gateway of a recipe, installed when it can be and is not there yet.

    Raises ToolMissing when it cannot be had.
    """
    install = INSTALLERS[recipe.artifact.kind].install
    return install(recipe, home, workshop) if install else find_gateway(recipe, home, workshop.environ)


def find_gateway(recipe: Recipe, home: Path, environ: Mapping[str, str]) -> Installed:
    """Return the gateway of a recipe as it is there, digested in full; ToolMissing when it is absent or changed."""
    installed = INSTALLERS[recipe.artifact.kind].find(recipe, home, environ)
    if installed is None:
        raise ToolMissing(f"{recipe.name} is not installed: run `invoke install --only {recipe.id}`")
    return installed


def _nothing(recipe: Recipe, _home: Path, _environ: Mapping[str, str]) -> Installed:
    facts = ToolFacts(name=recipe.id, version=None, sha256=None, source="bundled")
    return Installed(program=None, python=Path(sys.executable), facts=facts)


def _mocks(recipe: Recipe, _home: Path, _environ: Mapping[str, str]) -> Installed:
    identity = mocks_identity()
    facts = bundled_facts(recipe.id, identity)
    return Installed(program=None, python=Path(sys.executable), facts=facts, identity=identity)


# By the kind of artifact, as in `matrix.artifacts`.
INSTALLERS: Mapping[str, Installer] = MappingProxyType(
    {
        "none": Installer(_nothing),
        "mocks": Installer(_mocks),
        "python": Installer(lambda recipe, home, _environ: find_python(recipe, home), install_python),
        "path": Installer(lambda recipe, _home, environ: find_path_gateway(recipe, environ)),
    }
)
